import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claudeTranscript } from '../../agents/claude/transcript.ts';
import { makeTempDir, removeTempDir } from '../../os/files/temp.ts';
import { readTranscript } from './transcript.ts';

const done = '<promise>DONE</promise>';
let room: string;
let path: string;

beforeAll(() => {
  room = makeTempDir('ralph-transcript-');
  path = join(room, 'transcript.jsonl');
});

afterAll(() => removeTempDir(room));

function read(content: string | Uint8Array, offset = 0) {
  writeFileSync(path, content);
  return readTranscript(claudeTranscript, { path, from: { path, offset, unseen: null }, lastMessage: null });
}

/** Entries in which a tag is not the agent's own word. */
const foreign = fc.constantFrom(
  { type: 'user', message: { role: 'user', content: done } },
  { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: done }] } },
  {
    type: 'user',
    toolUseResult: { role: 'assistant', text: done },
    message: { content: [{ type: 'tool_result' }] },
  },
  { type: 'user', isCompactSummary: true, message: { role: 'user', content: `"assistant" ${done}` } },
  { type: 'assistant', message: { role: 'assistant', content: [{ type: 'thinking', thinking: done }] } },
  {
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'tool_use', input: { text: done } }] },
  },
  {
    type: 'assistant',
    isSidechain: true,
    message: { role: 'assistant', content: [{ type: 'text', text: done }] },
  },
  {
    type: 'assistant',
    agentId: 'a',
    message: { role: 'assistant', content: [{ type: 'text', text: done }] },
  },
  {
    type: 'assistant',
    message: { role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text: done }] },
  },
  { type: 'assistant', isApiErrorMessage: true, message: { content: [{ type: 'text', text: done }] } },
  { type: 'system', content: done, message: { role: 'assistant', content: done } },
  { type: 'attachment', attachment: { type: 'assistant', content: done } },
  { type: 'last-prompt', lastPrompt: `"assistant" ${done}` },
);

const own = fc
  .string({ unit: 'binary' })
  .map((text) => ({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } }));

describe('a transcript of Claude Code', () => {
  it('never throws, whatever the file and the offset are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(400), (bytes, offset) => {
        const { text, mark } = read(bytes, offset);
        expect(Array.isArray(text)).toBe(true);
        expect(mark.offset).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('tells that the result of the last call is still to come, also behind a long one', () => {
    const call = { type: 'assistant', message: { content: [{ type: 'tool_use', name: 'Bash', input: {} }] } };
    const result = (length: number) => ({
      type: 'user',
      message: { content: [{ type: 'tool_result', content: 'x'.repeat(length), is_error: true }] },
    });
    const readAll = (...entries: object[]) =>
      read(`${entries.map((one) => JSON.stringify(one)).join('\n')}\n`);
    expect(readAll(call).awaitsResult).toBe(true);
    expect(readAll(call, result(1), call).awaitsResult).toBe(true);
    expect(readAll(call, result(1))).toMatchObject({ awaitsResult: false, toolCalls: 0 });
    expect(readAll(call, result(500_000)).awaitsResult).toBe(false);
  });

  it('never throws for entries of any shape', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ type: fc.constantFrom('assistant', 'user'), message: fc.jsonValue() })),
        (entries) => {
          const { text } = read(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
          expect(text.every((block) => typeof block === 'string')).toBe(true);
        },
      ),
    );
  });

  it('gives the words of the agent in order, and no tag of anybody else', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(foreign, own), { maxLength: 12 }), fc.boolean(), (entries, pretty) => {
        const separator = pretty ? ': ' : ':';
        const lines = entries.map((entry) => JSON.stringify(entry).replace('"type":', `"type"${separator}`));
        const { text } = read(`${lines.join('\n')}\n`);
        const expected = entries.flatMap(({ type, message, ...rest }) => {
          if (
            type !== 'assistant' ||
            message === undefined ||
            Object.keys(rest).length > 0 ||
            'model' in message
          )
            return [];
          const [block] = Array.isArray(message.content) ? message.content : [];
          return block?.type === 'text' && 'text' in block ? [block.text] : [];
        });
        expect(text).toEqual(expected);
      }),
    );
  });
});
