import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RepoWithAgent, repoWith, runArgs, show, tag, work } from '../support/agent.ts';
import { fireHook, plugin as source } from '../support/hooks.ts';
import { runRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';
import { actAs, everybody } from '../support/who.ts';

const manifest = { name: 'x', private: true, scripts: { test: 'node --test test/' } };
const failing = "import { test } from 'node:test';\ntest('adds', () => { throw new Error('not yet'); });\n";
const files = {
  'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
  'test/a.test.mjs': failing,
  '.gitignore': 'node_modules\n',
};
const guardrails = [{ command: 'npm test' }];

/** An agent that fails the test in its first iteration, then does this and claims to be done. */
function repoBentBy(shell: string, settings: object = {}): Promise<RepoWithAgent> {
  const turns = [{ steps: [work, { text: 'Not yet.' }] }, { steps: [work, { shell }, { text: tag }] }];
  return repoWith(turns, { guardrails, ...settings }, { files });
}

async function evidenceOf(repo: RepoWithAgent) {
  const verdict = (await show(repo)).verdicts.at(-1);
  return { accepted: verdict?.accepted, because: verdict?.because, ...found(verdict?.evidence ?? []) };
}

function found(evidence: readonly { readonly check: string; readonly detail: string }[]) {
  const { detail, warning = false } = {
    warning: false,
    detail: '',
    ...evidence.find(({ check }) => check === 'check-files'),
  };
  return { detail, warning };
}

const bends: [string, string, string][] = [
  [
    'makes its script pass',
    'npm pkg set scripts.test="exit 0"',
    'package.json scripts.test changed in iteration 2',
  ],
  ['empties the test', ': > test/a.test.mjs', 'test/a.test.mjs changed in iteration 2'],
  [
    'removes the test',
    'rm test/a.test.mjs; echo > test/b.test.mjs',
    'test/a.test.mjs removed in iteration 2',
  ],
  ['runs scripts with another shell', 'echo script-shell=/bin/true > .npmrc', '.npmrc added in iteration 2'],
  [
    'puts another node before the real one',
    'mkdir -p node_modules/.bin; printf "#!/bin/sh\\nexit 0\\n" > node_modules/.bin/node; chmod +x node_modules/.bin/node',
    'node_modules/.bin/node added in iteration 2',
  ],
];

describe.each(everybody())('an agent that bends its checks, for $name', (who) => {
  actAs(who);

  it.each(bends)('is seen when it %s', async (_, shell, change) => {
    const repo = await repoBentBy(shell);
    const { code, stdout } = await runRalph(runArgs(2), repo);
    expect(code).toBe(0);
    expect(stdout).toContain(`Look at the checks: ${change}`);
    const { accepted, because, detail, warning } = await evidenceOf(repo);
    expect({ accepted, warning }).toEqual({ accepted: true, warning: true });
    expect(detail).toContain(change);
    expect(because).toContain(`; check-files: ${change}`);
    for (const command of ['show', 'verdict']) {
      const { stdout: table } = await runRalph([command], repo);
      expect(table).toMatch(new RegExp(`check-files +.* ${change.replaceAll('.', '\\.')}`));
    }
    expect((await runRalph(['report', '--md'], repo)).stdout).toContain(`⚠️ \`${change}`);
  });

  it.each(bends)('is rejected with protectChecks when it %s', async (_, shell, change) => {
    const repo = await repoBentBy(shell, { protectChecks: true });
    expect((await runRalph(runArgs(2), repo)).code).toBe(1);
    expect(await evidenceOf(repo)).toMatchObject({
      accepted: false,
      because: expect.stringContaining(`check-files: ${change}`),
    });
    const { verdicts } = JSON.parse((await runRalph(['verdict', '--json'], repo)).stdout);
    expect(verdicts.at(-1).rejudged).toMatchObject({ accepted: false, same: true });
  });
});

describe.each(everybody())('an agent that bends the check of a loop in its session, for $name', (who) => {
  actAs(who);

  /** Ends the first turn of a loop with a claim, after this; returns what the stop hook printed. */
  async function claimAfter(shell: string, settings = {}) {
    const repo = makeRepo({ files: { 'check.sh': 'exit 1\n' }, settings });
    const plugin = join(repo.home, 'plugin');
    cpSync(source, plugin, { recursive: true });
    const transcript_path = join(repo.home, 'transcript.jsonl');
    const env = { ...repo.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    const fire = (event: string, input: object) =>
      fireHook(
        event,
        { session_id: 's', cwd: repo.cwd, transcript_path, ...input },
        { cwd: repo.cwd, env, plugin },
      );
    await fire('UserPromptSubmit', { prompt: '/ralph-loop mend it --verify "sh check.sh"' });
    execFileSync('sh', ['-c', shell], { cwd: repo.cwd });
    const content = [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }];
    const result = [{ type: 'tool_result', tool_use_id: 't', content: 'x' }];
    const lines = [
      { type: 'assistant', message: { role: 'assistant', content } },
      { type: 'user', message: { role: 'user', content: result } },
    ];
    writeFileSync(transcript_path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { stdout, stderr } = await fire('Stop', { last_assistant_message: tag });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }
  const bend = 'echo "exit 0" > check.sh';
  const change = 'check-files: check.sh changed in iteration 0';

  it('is seen', async () => {
    expect((await claimAfter(bend)).systemMessage).toMatch(new RegExp(`PROMISE_ACCEPTED.*${change}`, 's'));
  });

  it('is rejected with protectChecks, also if it damages the setting', async () => {
    for (const shell of [bend, `${bend}; echo { > .ralph/settings.json`]) {
      const { decision, reason } = await claimAfter(shell, { protectChecks: true });
      expect(decision).toBe('block');
      expect(reason).toContain('check.sh changed in iteration 0');
    }
  });
});

describe('an agent that adds tests', () => {
  const passing = failing.replace("throw new Error('not yet');", '');
  const addTo = (file: string) =>
    `echo "import('node:test').then(({ test }) => test('b', () => {}));" >> ${file}`;
  const run = async (shell: string, settings: object = {}) => {
    const turns = [{ steps: [work, { shell }, { text: tag }] }];
    const repo = await repoWith(
      turns,
      { guardrails, ...settings },
      { files: { ...files, 'test/a.test.mjs': passing } },
    );
    await runRalph(runArgs(1), repo);
    return evidenceOf(repo);
  };

  it.each([false, true])('raises no alarm with a new file, protectChecks %s', async (protectChecks) => {
    expect(await run(addTo('test/b.test.mjs'), { protectChecks })).toMatchObject({
      accepted: true,
      detail: 'test/b.test.mjs added in iteration 1',
      warning: false,
    });
  });

  it('raises no alarm with new lines in an old file, which only protectChecks forbids', async () => {
    const shell = `${addTo('test/a.test.mjs')}; git commit -qam more`;
    const detail = 'test/a.test.mjs got new lines in iteration 1';
    expect(await run(shell)).toMatchObject({ accepted: true, detail, warning: false });
    expect(await run(shell, { protectChecks: true })).toMatchObject({ accepted: false, detail });
  });

  it('is told nothing of checks that are as they were', async () => {
    expect(await run('true')).toMatchObject({ accepted: true, detail: 'as they were (2)', warning: false });
  });
});

describe('a run without checks', () => {
  it('looks at no file', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }], {}, { files });
    expect((await runRalph(runArgs(1), repo)).code).toBe(0);
    expect(await evidenceOf(repo)).toMatchObject({ accepted: true, detail: '' });
  });
});
