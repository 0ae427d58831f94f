import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RalphError } from '../core/error.ts';
import { assertScript } from './script.ts';

const everyStep = [
  { text: 'a' },
  { deltas: ['a', 'b'] },
  { thinking: 'a' },
  { tool: { name: 'Bash', input: { command: 'ls' }, output: 'a', ok: false, exitCode: 1 } },
  { shell: 'true' },
  { write: { path: 'a', content: 'b' } },
  { todo: [{ text: 'a', status: 'active' }] },
  { subagent: { text: 'a' } },
  { echoPrompt: true },
  { raw: '{' },
  { flood: { bytes: 10, lineBytes: 5, as: 'raw' } },
  { delay: 0 },
  { hang: true },
  { ignoreSignals: true },
  { child: { seconds: 1, setsid: true, holdOutput: false } },
  { error: { status: 429, message: 'a', resetsAt: 1 } },
  { result: { ok: false, usage: { inputTokens: 1 }, costUsd: 0.5 } },
  { stderr: 'a' },
];

describe('assertScript', () => {
  it('accepts every step and every field', () => {
    const turn = {
      steps: everyStep,
      exitCode: 3,
      noResult: true,
      expectPrompt: ['a'],
      hangAfterResult: false,
    };
    expect(() =>
      assertScript({ agent: 'pi', turns: [turn], after: 'fail', record: true, version: '1' }),
    ).not.toThrow();
  });

  it.each([
    [null, 'it has to be an object.'],
    [{ agent: 'gpt', turns: [] }, 'agent has to be "claude" or'],
    [{ agent: 'claude' }, 'turns is missing'],
    [{ agent: 'claude', turns: [] }, 'turns has to be a list with at least one entry'],
    [{ agent: 'claude', turns: [{ steps: [] }], loop: 1 }, 'it has no "loop" (there are: agent, turns,'],
    [withStep({}), 'turns[0].steps[0] has to be an object with one key'],
    [withStep({ text: 'a', shell: 'b' }), 'steps[0] has to be an object with one key, such as "text"'],
    [withStep({ txt: 'a' }), 'steps[0] has no "txt" (there are: text, deltas,'],
    [withStep({ delay: 'soon' }), 'steps[0].delay has to be a number of 0 or more'],
    [withStep({ write: { path: 'a' } }), 'steps[0].write.content is missing'],
    [withStep({ todo: [{ text: 'a', status: 'open' }] }), 'todo[0].status has to be "pending" or'],
    [withStep({ hang: false }), 'steps[0].hang has to be true'],
    [
      { agent: 'claude', turns: [{ steps: [], exitCode: 256 }] },
      'exitCode has to be a whole number from 0 to 255',
    ],
  ])('says in one sentence what is wrong with %j', (script, sentence) => {
    expect(() => assertScript(script)).toThrow(sentence);
  });

  it('is documented with every step, and with an example that is right', () => {
    const page = readFileSync(new URL('../../docs/testkit.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `\{"(\w+)"/gm)].map(([, name]) => name);
    expect(rows.sort()).toEqual(everyStep.flatMap(Object.keys).sort());
    expect(() => assertScript(JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? ''))).not.toThrow();
  });

  it('answers anything at all with acceptance or a sentence', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const script of [value, { agent: 'claude', turns: value }, withStep(value)]) {
          try {
            assertScript(script);
          } catch (error) {
            expect(error).toBeInstanceOf(RalphError);
          }
        }
      }),
    );
  });
});

function withStep(step: unknown): unknown {
  return { agent: 'claude', turns: [{ steps: [step] }] };
}
