import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { firstWords } from '../../src/cli/kernel/spec.ts';
import { ralph } from '../../src/cli/ralph/commands.ts';
import { runOptions } from '../../src/cli/ralph/options.ts';
import { waitUntil } from '../support/processes.ts';
import { builtProgram, runRalph } from '../support/ralph.ts';
import { makeRepo, type Repo } from '../support/repo.ts';
import { openInTerminal } from '../support/terminal.ts';

const runs = ['20260101-101500-123abc', '20260202-101500-123abc', 'odd run'];

/** A folder with three runs, a file with a space in its name and `ralph` on its PATH. */
function makePlace(): Repo {
  const repo = makeRepo({ git: false, files: { 'my task.md': '', 'other.md': '' } });
  for (const run of runs) repo.write(`.ralph/runs/${run}/journal.ndjson`, '');
  repo.write('.ralph/runs/no-journal/x', '');
  symlinkSync(builtProgram('ralph'), join(repo.bin, 'ralph'));
  return repo;
}

describe.skipIf(process.platform === 'win32')('bash completion', () => {
  let repo: Repo;
  beforeEach(async () => {
    repo = makePlace();
    const { stdout } = await runRalph(['completion', 'bash'], repo);
    repo.write('ralph.bash', stdout);
  });

  /** What bash would offer for the last of these words, with what was printed besides. */
  function offered(
    words: readonly string[],
    { setup = '', cwd = repo.cwd } = {},
  ): { offers: string[]; printed: string } {
    const script = `${setup}
      source "$SCRIPT"
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      [[ $(complete -p ralph) =~ -F\\ ([^ ]+) ]] && "\${BASH_REMATCH[1]}"
      ((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}" >&3`;
    const { output } = spawnSync('bash', ['--norc', '--noprofile', '-c', script, 'bash', ...words], {
      cwd,
      env: { ...process.env, PATH: `${repo.bin}:${process.env.PATH}`, SCRIPT: repo.path('ralph.bash') },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const lines = output[3]?.split('\n').slice(0, -1) ?? [];
    return { offers: lines, printed: `${output[1]}${output[2]}` };
  }

  it.each<[string[], string[]]>([
    [['ralph', 'ver'], ['verdict']],
    [
      ['ralph', 'run', '--promise-match', ''],
      ['claim', 'substring', 'lenient'],
    ],
    [['ralph', 'run', '--promise-match', '=', 'l'], ['lenient']],
    [
      ['ralph', 'run', '--promise-match', '='],
      ['claim', 'substring', 'lenient'],
    ],
    [['ralph', 'run', '-p', 'a task; with $(odd) "words"', '--no-str'], ['--no-stream-agent-output']],
    [
      ['ralph', '-p', 'no command', '--permissions', ''],
      ['full', 'edit', 'read'],
    ],
    [['ralph', '--vers'], ['--version']],
    [['ralph', 'run', '--vers'], []],
    [['ralph', 'run', '-m', ''], []],
    [['ralph', 'run', '--prompt', ''], []],
    [['ralph', 'run', '--dry-run', ''], ['json']],
    [['ralph', 'run', '--dry-run', '--js'], ['--json']],
    [
      ['ralph', 'run', '--agent', 'prin'],
      ['printenv', 'printf'],
    ],
    [
      ['ralph', 'show', ''],
      ['latest', runs[0] ?? '', runs[1] ?? '', 'odd\\ run'],
    ],
    [['ralph', 'verdict', '202602'], [runs[1] ?? '']],
    [['ralph', 'run', '--resume', '202601'], [runs[0] ?? '']],
    [['ralph', 'run', '--resume', '=', '202601'], [runs[0] ?? '']],
    [
      ['ralph', 'show', '--'],
      ['--json', '--diff', '--help'],
    ],
    [
      ['ralph', 'completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['ralph', 'help', 'ex'], ['exit-codes']],
    [['ralph', 'no-such-command', ''], []],
    [['ralph', 'gu'], ['guard']],
    [
      ['ralph', 'guard', ''],
      ['check', 'explain', 'test'],
    ],
    [['ralph', 'guard', 'check', '--js'], ['--json']],
    [['ralph', 'guard', 'no-such', ''], []],
  ])('%j offers %j', (words, expected) => {
    const { offers, printed } = offered(words);
    expect([...new Set(offers)].sort()).toEqual(expected.toSorted());
    expect(printed).toBe('');
  });

  it('offers every command and every option there is', () => {
    expect(offered(['ralph', '']).offers).toEqual([...firstWords(ralph).map(([word]) => word), 'help']);
    const { offers } = offered(['ralph', 'run', '--']);
    expect(offers).toEqual(expect.arrayContaining(Object.keys(runOptions).map((name) => `--${name}`)));
    expect(offers).toContain('--max-iterations');
    expect(offered(['ralph', 'run', '-']).offers).toEqual(expect.arrayContaining(['-p', '-f', '-m', '-V']));
  });

  it.each(['shopt -s failglob', 'shopt -s nullglob', 'set -u', 'set -f', 'IFS=abc'])(
    'prints nothing into the prompt under %s, even where there is no run',
    (setup) => {
      expect(offered(['ralph', 'show', '202601'], { setup })).toEqual({ offers: [runs[0]], printed: '' });
      expect(offered(['ralph', 'show', ''], { setup, cwd: repo.home })).toEqual({
        offers: ['latest'],
        printed: '',
      });
    },
  );
});

/** How each shell is started with nothing of the user's, and told of the completion. */
const shells = {
  bash: { start: ['bash', '--norc', '--noprofile', '-i'], load: 'eval "$(ralph completion bash)"' },
  zsh: { start: ['zsh', '-f', '-i'], load: 'eval "$(ralph completion zsh)"' },
  fish: {
    start: ['fish', '--no-config', '--init-command', "function fish_prompt; echo -n '> '; end"],
    load: 'ralph completion fish | source',
  },
} as const;

describe.each(['bash', 'zsh', 'fish'] as const)('%s, in a terminal', (shell) => {
  const installed = spawnSync(shell, ['-c', 'exit 0']).status === 0;

  it.skipIf(!installed)('completes what is typed', async () => {
    const repo = makePlace();
    const { start, load } = shells[shell];
    const terminal = openInTerminal(repo, ['env', 'PS1=> ', ...start]);
    await terminal.answer('>', load);
    const completed = async (typed: string): Promise<string> => {
      await terminal.answer('>', 'clear');
      await waitUntil(() => terminal.screen() === '>', { what: 'an empty screen' });
      terminal.press('-l', '--', typed);
      terminal.press('Tab');
      // Typed after the key: when it is there, the completion has been.
      terminal.press('-l', '--', '@');
      const line = await waitUntil(() => /^> (.*@)/m.exec(terminal.screen()), { what: `"${typed}"` });
      // Terminals drop what is typed before the shell has taken the key.
      terminal.press('C-c');
      await waitUntil(() => terminal.screen().endsWith('\n>'), { what: 'a new prompt' });
      return line?.[1] ?? '';
    };

    expect(await completed('ralph verd')).toBe('ralph verdict @');
    expect(await completed('ralph run --no-str')).toBe('ralph run --no-stream-agent-output @');
    expect(await completed('ralph run --promise-match su')).toBe('ralph run --promise-match substring @');
    expect(await completed('ralph run --promise-match=su')).toBe('ralph run --promise-match=substring @');
    expect(await completed('ralph run -p "a (long) task" -f my')).toBe(
      'ralph run -p "a (long) task" -f my\\ task.md @',
    );
    expect(await completed('ralph -f my')).toBe('ralph -f my\\ task.md @');
    expect(await completed('ralph run -m ot')).toBe('ralph run -m ot@');
    expect(await completed('ralph --times')).toBe('ralph --timestamps @');
    expect(await completed('ralph show odd')).toBe('ralph show odd\\ run @');
    expect(await completed('ralph verdict 202601')).toBe(`ralph verdict ${runs[0]} @`);
    expect(await completed('ralph run --resume 202602')).toBe(`ralph run --resume ${runs[1]} @`);
    expect(await completed('ralph run --resume=202602')).toBe(`ralph run --resume=${runs[1]} @`);
    expect(await completed('ralph run --resume --times')).toBe('ralph run --resume --timestamps @');
    expect(await completed('ralph help exit')).toBe('ralph help exit-codes @');
    expect(await completed('ralph completion z')).toBe('ralph completion zsh @');
    expect(await completed('ralph note ot')).toBe('ralph note ot@');
    expect(await completed('ralph guar')).toBe('ralph guard @');
    expect(await completed('ralph guard exp')).toBe('ralph guard explain @');
    expect(await completed('ralph guard check --std')).toBe('ralph guard check --stdin @');
  });
});

describe('ralph completion', () => {
  it.each([
    ['bsh', 'there is no completion for the shell "bsh"; did you mean bash?'],
    ['powershell', 'there is no completion for the shell "powershell"; the shells are bash, zsh, fish'],
  ])('%s is told in one sentence, with 2', async (shell, sentence) => {
    const { code, stdout, stderr } = await runRalph(['completion', shell], makeRepo({ git: false }));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`error: ${sentence}\n  try: ralph completion bash\n`);
  });

  it.skipIf(spawnSync('zsh', ['-c', 'exit 0']).status !== 0)(
    'is also a file for the fpath of zsh',
    async () => {
      const repo = makePlace();
      repo.write('functions/_ralph', (await runRalph(['completion', 'zsh'], repo)).stdout);
      const script = 'fpath=(./functions $fpath); autoload -Uz compinit; compinit -u; print $_comps[ralph]';
      const env = { ...process.env, ...repo.env };
      expect(execFileSync('zsh', ['-f', '-c', script], { cwd: repo.cwd, env, encoding: 'utf8' })).toBe(
        '_ralph\n',
      );
    },
  );
});
