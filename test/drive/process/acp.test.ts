import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EventOf, JournalEvent } from '../../../src/journal/events.ts';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { runArgs, show, type Turns, tag, work } from '../../support/agent.ts';
import { processesOfRun, waitUntil } from '../../support/processes.ts';
import { runRalph, startRalph } from '../../support/ralph.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';

/** A repository with a scripted agent of this name on the PATH. */
async function acpRepo(turns: Turns, name = 'goose', settings: object = {}) {
  const repo = makeRepo({ files: { 'README.md': 'x\n' }, settings });
  const agent = await installFakeAgent(repo.bin, { agent: 'custom', name, script: { turns } });
  return { ...repo, agent };
}

/** A repository whose agent is a program of its own, which gets each message of the client. */
function programRepo(onMessage: string, settings: object = {}): Repo {
  const repo = makeRepo({ files: { 'README.md': 'x\n' }, settings });
  const program = `#!${process.execPath}
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    const update = (fields) => send({ method: 'session/update', params: { sessionId: 's', update: fields } });
    const says = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    const open = ({ id, method }) => {
      if (method === 'initialize') send({ id, result: { protocolVersion: 1, authMethods: [{ id: 'x', name: 'Log in with X' }] } });
      if (method === 'session/new') send({ id, result: { sessionId: 's' } });
    };
    const end = (id, stopReason = 'end_turn') => send({ id, result: { stopReason } });
    const tool = (status, toolCallId = 't1') => update({ sessionUpdate: 'tool_call', toolCallId, title: 'look', kind: 'read', status });
    let rest = '';
    let onEnd = () => {};
    process.stdin.on('end', () => { onEnd(); process.exit(0); });
    process.stdin.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\\n');
      rest = lines.pop();
      for (const line of lines) onMessage(JSON.parse(line));
    });
    function onMessage(message) { ${onMessage} }
  `;
  mkdirSync(repo.bin, { recursive: true });
  writeFileSync(join(repo.bin, 'talker'), program, { mode: 0o755 });
  return repo;
}

function journalOf(repo: Repo, run: string): JournalEvent[] {
  const lines = repo.read(`.ralph/runs/${run}/journal.ndjson`).trim().split('\n');
  return lines.map((line): JournalEvent => JSON.parse(line));
}

async function endsOf(repo: Repo): Promise<EventOf<'agent.ended'>[]> {
  const { run } = await show(repo);
  return journalOf(repo, run).filter((event) => event.type === 'agent.ended');
}

const args = (max: number, ...more: string[]) => runArgs(max, '--permissions', 'full', ...more);
const done = { steps: [work, { text: `Finished.\n\n${tag}` }] };

describe('an agent that speaks the Agent Client Protocol', () => {
  it('goes through a false claim to acceptance, by any program and its words', async () => {
    const repo = await acpRepo([
      { steps: [{ text: tag }] },
      { steps: [work, { deltas: ['It is done.\n\n<prom', 'ise>DONE</promise>'] }] },
    ]);
    const { code, stdout } = await runRalph(args(4, '--acp', 'goose acp --quiet'), repo);
    expect(code, stdout).toBe(0);
    expect(await show(repo)).toMatchObject({ outcome: 'PROMISE_ACCEPTED', iterations: 2 });
    const [first] = await repo.agent.calls();
    expect(first?.argv).toEqual(['acp', '--quiet']);
    expect(first?.prompt).toContain(tag);
    expect((await endsOf(repo)).map(({ toolCalls, usage }) => [toolCalls, usage?.inputTokens])).toEqual([
      [0, 1000],
      [1, 1000],
    ]);
    const verdict = await runRalph(['verdict', 'latest'], repo);
    expect(verdict.code, verdict.stdout).toBe(0);
  });

  it('is chosen by a name whose words are known, or by a setting', async () => {
    const byOption = await acpRepo([done], 'gemini');
    expect((await runRalph(args(2, '--agent', 'gemini', '--acp'), byOption)).code).toBe(0);
    expect((await byOption.agent.calls())[0]?.argv).toEqual(['--acp']);
    const agent = { command: 'droid', protocol: 'acp', permissions: 'full' };
    const bySetting = await acpRepo([done], 'droid', { agent });
    expect((await runRalph(runArgs(2), bySetting)).code).toBe(0);
    expect((await bySetting.agent.calls())[0]?.argv).toEqual(['exec', '--output-format', 'acp']);
  });

  it.each([
    ['read', [false, false]],
    ['edit', [true, false]],
    ['full', [true, true]],
  ] as const)(
    'may do with the permissions %s what they allow, and nothing else',
    async (mode, [writes, runs]) => {
      const repo = await acpRepo([
        {
          steps: [
            { write: { path: 'written.txt', content: 'a\n' } },
            { shell: 'echo ran > ran.txt' },
            { text: tag },
          ],
        },
      ]);
      await runRalph(runArgs(1, '--permissions', mode, '--acp', 'goose acp'), repo);
      expect([repo.exists('written.txt'), repo.exists('ran.txt')]).toEqual([writes, runs]);
      const [end] = await endsOf(repo);
      expect(end?.toolCalls).toBe([writes, runs].filter(Boolean).length);
      expect((await show(repo)).verdicts.map(({ accepted }) => accepted)).toEqual([writes || runs]);
    },
  );

  it('may not change files outside of the project with the permissions edit', async () => {
    const repo = await acpRepo([
      { steps: [{ write: { path: '../outside.txt', content: 'a\n' } }, { text: tag }] },
    ]);
    await runRalph(runArgs(1, '--permissions', 'edit', '--acp', 'goose acp'), repo);
    expect(repo.exists('../outside.txt')).toBe(false);
    expect((await endsOf(repo))[0]?.toolCalls).toBe(0);
  });

  it('is refused what the guard denies, and that is no work', async () => {
    const repo = await acpRepo([{ steps: [{ shell: 'git reset --hard HEAD~1; rm -rf ~' }, { text: tag }] }]);
    const { stdout } = await runRalph(args(1, '--acp', 'goose acp'), repo);
    const { run, verdicts } = await show(repo);
    expect(
      verdicts.map(({ accepted }) => accepted),
      stdout,
    ).toEqual([false]);
    const denials = journalOf(repo, run).filter((event) => event.type === 'guard.denied');
    expect(denials).toMatchObject([{ tool: 'bash', what: 'git reset --hard HEAD~1; rm -rf ~' }]);
    expect(repo.exists('README.md')).toBe(true);
  });

  it('is asked to stop by the second Ctrl-C, and the run can be resumed', async () => {
    const repo = await acpRepo([{ steps: [work, { text: 'Working.' }, { hang: true }] }, done]);
    const ralph = startRalph(args(3, '--acp', 'goose acp'), repo);
    await waitUntil(() => ralph.output.stdout.includes('Working.'));
    ralph.child.kill('SIGINT');
    await waitUntil(() => ralph.output.stderr.includes('Received signal'));
    ralph.child.kill('SIGINT');
    expect((await ralph.done).code).toBe(130);
    const { run } = await show(repo);
    expect(repo.read(`.ralph/runs/${run}/iterations/001.ndjson`)).toContain('"stopReason":"cancelled"');
    expect(processesOfRun(run)).toEqual([]);
    const resumed = await runRalph(['run', '--resume'], repo);
    expect(resumed.code, resumed.stdout).toBe(0);
  });
});

const turn = (atPrompt: string) => `open(message); if (message.method === 'session/prompt') { ${atPrompt} }`;
const finished = `tool('completed'); says('${tag}'); end(message.id);`;

describe('an agent that breaks the rules of the protocol', () => {
  it.each([
    ['prints invalid JSON', `process.stdout.write('{"jsonrpc": oops\\n[1]\\n"x"\\n'); ${finished}`],
    [
      'answers under a wrong id',
      `send({ id: 99, result: { stopReason: 'refusal' } }); send({ id: '4', error: {} }); ${finished}`,
    ],
    [
      'calls methods that nobody offers',
      `send({ id: 'q', method: 'no/such', params: 3 }); send({ method: 'also/none' }); ${finished}`,
    ],
    ['answers twice', `${finished} end(message.id, 'refusal');`],
    [
      'sends fields of wrong types',
      `update(null); update({ sessionUpdate: 7 }); update({ sessionUpdate: 'tool_call', toolCallId: {}, title: [], rawInput: 'x', locations: 5 }); ${finished}`,
    ],
  ])('%s: the turn counts nevertheless', async (_, atPrompt) => {
    const repo = programRepo(turn(atPrompt));
    const { code, stdout } = await runRalph(args(1, '--acp', 'talker'), repo);
    expect(code, stdout).toBe(0);
  });

  it('is told that a method is not offered, and goes on', async () => {
    const repo = programRepo(`
      ${turn(`globalThis.promptId = message.id; send({ id: 'q', method: 'no/such' });`)}
      if (message.id === 'q' && message.error.code === -32601) { tool('completed'); says('${tag}'); end(promptId); }
    `);
    const { code, stdout } = await runRalph(args(1, '--acp', 'talker'), repo);
    expect(code, stdout).toBe(0);
  });

  it('says its claim after the end of the turn: the text counts, and nothing waits', async () => {
    const repo = programRepo(turn(`tool('completed'); onEnd = () => says('${tag}'); end(message.id);`));
    const { code, stdout } = await runRalph(args(1, '--acp', 'talker'), repo);
    expect(code, stdout).toBe(0);
  });

  it('prints a line of 50 MB', async () => {
    const repo = programRepo(
      turn(
        `update({ sessionUpdate: 'tool_call', toolCallId: 'big', title: 'look', kind: 'read', status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'x'.repeat(50e6) } }] }); says('${tag}'); end(message.id);`,
      ),
    );
    const { code, stdout } = await runRalph(args(1, '--acp', 'talker'), repo);
    expect(code, stdout.slice(0, 2000)).toBe(0);
  });

  it('says hostile text, which is shown without its control sequences', async () => {
    const repo = programRepo(
      turn(
        `says('\\u001b]0;owned\\u0007\\u001b[2J${tag.slice(0, 4)}'); send({ method: 'x\\u001b[2J'.repeat(50) }); end(message.id, '\\u001b[2J');`,
      ),
    );
    const { code, stdout, stderr } = await runRalph(args(1, '--acp', 'talker'), repo);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).not.toContain('\u001b]0;');
    expect(`${stdout}${stderr}`).not.toContain('\u001b[2J');
  });

  it.each([
    ['never answers the prompt', turn(''), 'inactive'],
    ['never answers at all', '', 'inactive'],
    ['dies in the turn', turn(`says('Working.'); setTimeout(() => process.exit(7), 20);`), 'failed'],
    ['stops at a limit of its own', turn(`says('Half of'); end(message.id, 'max_tokens');`), 'failed'],
    ['speaks another version', `send({ id: message.id, result: { protocolVersion: 9 } });`, 'failed'],
  ])('%s: the turn is over, and is told apart', async (_, onMessage, end) => {
    const repo = programRepo(onMessage, { idleTimeout: '2s', maxFailures: 1 });
    await runRalph(args(1, '--acp', 'talker'), repo);
    expect((await endsOf(repo)).map((event) => event.end)).toEqual([end]);
  });

  it('wants a login: exit 3 with its own words', async () => {
    const repo = programRepo(
      `if (message.method === 'session/new') send({ id: message.id, error: { code: -32000, message: 'Please sign in first' } }); else open(message);`,
    );
    const { code, stdout, stderr } = await runRalph(args(3, '--acp', 'talker'), repo);
    expect(code).toBe(3);
    expect(`${stdout}${stderr}`).toContain('Please sign in first (ways to log in: Log in with X)');
  });
});
