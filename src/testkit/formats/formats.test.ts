import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleFakeAgent, type FakeEnd, runFake } from '../../../test/testkit/run-fake.ts';
import { shapeOf } from '../../../test/testkit/shape.ts';
import { agents } from '../../agents/registry.ts';
import { createTurnReader, type StreamedTurn } from '../../agents/turn.ts';
import { type FakeAgentName, fakeAgentNames, type Step } from '../script.ts';
import { formats } from './registry.ts';

let program = '';
beforeAll(() => {
  program = bundleFakeAgent();
});

const streaming = fakeAgentNames.filter((name) => name !== 'custom');
const play = (agent: FakeAgentName, ...steps: Step[]) =>
  runFake(program, { script: { agent, turns: [{ steps }] }, input: 'Do the task.' });

const everything: Step[] = [
  { thinking: 'hm' },
  { text: 'one' },
  { deltas: ['two', 'three'] },
  { echoPrompt: true },
  { subagent: { text: 'helping' } },
  { shell: 'echo out' },
  { shell: 'echo out; exit 3' },
  { write: { path: 'written.txt', content: 'a\n' } },
  { write: { path: 'script.json/a', content: 'cannot be' } },
  {
    todo: [
      { text: 'a', status: 'done' },
      { text: 'b', status: 'active' },
      { text: 'c', status: 'pending' },
    ],
  },
  { text: 'done' },
];

/** A write that fails was recorded of no CLI; it looks like other failed tools. */
const notRecorded: Partial<Record<FakeAgentName, RegExp>> = {
  codex: /<failed,file_change>/,
  opencode: /state<error>\.input\.content$/,
  gemini: /error<execution_failed>/,
  cline: /<content_end,editor,tool>\.(output\.)?error$/,
};

const exitCodes: Record<FakeAgentName, number> = {
  claude: 1,
  codex: 1,
  amp: 0,
  opencode: 1,
  gemini: 144,
  copilot: 1,
  qwen: 0,
  pi: 0,
  cline: 1,
  custom: 1,
};

describe.each(streaming)('%s', (agent) => {
  const recorded = new Set(
    linesOf(readFileSync(new URL(`../../../test/testkit/recorded/${agent}.txt`, import.meta.url), 'utf8')),
  );
  const strange = ({ stdout }: FakeEnd) =>
    linesOf(stdout)
      .flatMap((line) => [...shapeOf(line)])
      .filter((path) => !recorded.has(path) && !notRecorded[agent]?.test(path));

  it('prints nothing that the real CLI does not, and the same every time', async () => {
    const [first, second] = [await play(agent, ...everything), await play(agent, ...everything)];
    expect(strange(first)).toEqual([]);
    expect(second.stdout.replaceAll(second.dir, first.dir)).toBe(first.stdout);
  });

  it('reports errors as the real CLI does, and exits with its code', async () => {
    const bad = await play(agent, { error: { status: 400, message: 'bad' } });
    const limit = await play(agent, { error: { status: 429, message: 'limit', resetsAt: 1_794_772_484 } });
    expect([...strange(bad), ...strange(limit)]).toEqual([]);
    expect(bad.code).toBe(exitCodes[agent]);
  });
});

describe.each(streaming.filter((name) => agents[name] !== undefined))('the adapter of %s', (agent) => {
  it('reads the turn that the script describes', async () => {
    const other = '<promise>NOT MINE</promise>';
    const usage = { inputTokens: 10, outputTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 0 };
    const turn = read(
      agent,
      await play(
        agent,
        { thinking: other },
        { text: 'Working. ' },
        { echoPrompt: true },
        { subagent: { text: other } },
        { shell: `echo '${other}'` },
        { write: { path: 'a.txt', content: other } },
        { shell: 'exit 3' },
        { deltas: ['<promise>D', 'ONE</promise>'] },
        { result: { usage, costUsd: 0.5 } },
      ),
    );
    // Gemini and Qwen call a command that failed a success, and tell its exit code only in the text.
    const toolCalls = agent === 'gemini' || agent === 'qwen' ? 3 : 2;
    expect(turn).toMatchObject({ end: 'finished', toolCalls, unknown: {} });
    expect(turn.text.join('')).toBe('Working. <promise>DONE</promise>');
    if (turn.usage !== undefined) expect(turn.usage).toMatchObject(usage);
  });

  it.each([
    [{ status: 401, message: 'invalid x-api-key' }, 'auth'],
    [{ status: 400, message: 'prompt is too long: 216221 tokens > 200000 maximum' }, 'context'],
  ] as const)('tells the kind of %j', async (error, kind) => {
    const turn = read(agent, await play(agent, { error }));
    expect(turn).toMatchObject({ end: 'limited', limit: { kind }, text: [] });
  });
});

it('has a format for every name', () => {
  expect(Object.keys(formats).sort()).toEqual([...fakeAgentNames].sort());
});

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function read(agent: FakeAgentName, { stdout, code }: FakeEnd): StreamedTurn {
  const adapter = agents[agent];
  if (adapter === undefined) throw new Error(`no adapter for ${agent}`);
  const reader = createTurnReader(adapter);
  for (const line of linesOf(stdout)) reader.push(line);
  return reader.finish({ exitCode: code, cause: 'exited' });
}
