import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONTINUATION_PROMPT_TEMPLATE } from './constants.ts';
import {
  buildContinuationPrompt,
  detectCompletionPromise,
  detectInMessages,
  detectInTranscript,
} from './detect.ts';
import type { RalphLoopState } from './embedded-loop.ts';

describe('detectCompletionPromise', () => {
  it('should detect <promise>DONE</promise>', () => {
    expect(detectCompletionPromise('All good. <promise>DONE</promise>', 'DONE')).toBe(true);
    expect(detectCompletionPromise('All good. DONE', 'DONE')).toBe(false);
    expect(detectCompletionPromise('<promise>NOT DONE</promise>', 'DONE')).toBe(false);
  });

  it('should handle whitespace variations', () => {
    expect(detectCompletionPromise('<promise> DONE </promise>', 'DONE')).toBe(true);
    expect(detectCompletionPromise('<promise>\n  DONE\n</promise>', 'DONE')).toBe(true);
  });

  it('should be case insensitive', () => {
    expect(detectCompletionPromise('<PROMISE>done</Promise>', 'DONE')).toBe(true);
  });

  it('should handle custom promises', () => {
    expect(detectCompletionPromise('<promise>ALL_FIXED</promise>', 'ALL_FIXED')).toBe(true);
    expect(detectCompletionPromise('<promise>DONE</promise>', 'ALL_FIXED')).toBe(false);
    expect(detectCompletionPromise('<promise>a.b (c)*</promise>', 'a.b (c)*')).toBe(true);
    expect(detectCompletionPromise('<promise>axb</promise>', 'a.b')).toBe(false);
  });

  it('can be told to match strictly', () => {
    const mention = 'I will not output <promise>DONE</promise> yet.';
    expect(detectCompletionPromise(mention, 'DONE')).toBe(true);
    expect(detectCompletionPromise(mention, 'DONE', 'claim')).toBe(false);
    expect(detectCompletionPromise('<promise>done</promise>', 'DONE', 'claim')).toBe(false);
  });
});

describe('detectInTranscript', () => {
  const done = '<promise>DONE</promise>';
  const says = (role: string, content: unknown) => JSON.stringify({ role, content });

  it.each([
    ['plain text', `All good.\n${done}`, true],
    ['a message of the assistant', `${says('user', 'go')}\n${says('assistant', done)}\n`, true],
    [
      'an entry of Claude Code',
      JSON.stringify({ type: 'assistant', message: { role: 'assistant', content: done } }),
      true,
    ],
    ['a message of the user', says('user', done), false],
    ['the output of a tool', says('user', [{ type: 'tool_result', content: done }]), false],
    ['nothing', '', false],
  ])('finds a claim in %s', (_name, content, expected) => {
    const folder = mkdtempSync(join(tmpdir(), 'detect-'));
    const path = join(folder, 'transcript.jsonl');
    writeFileSync(path, content);
    expect(detectInTranscript(path, 'DONE')).toBe(expected);
    rmSync(folder, { recursive: true });
  });

  it('finds none without a file', () => {
    expect(detectInTranscript(undefined, 'DONE')).toBe(false);
    expect(detectInTranscript('/nothing/here', 'DONE')).toBe(false);
  });
});

describe('detectInMessages', () => {
  const done = '<promise>DONE</promise>';

  it.each([
    ['text', [{ role: 'assistant', content: done }], true],
    ['parts', [{ role: 'assistant', content: [{ type: 'text', text: done }] }], true],
    ['{ data }', { data: [{ role: 'assistant', content: done }] }, true],
    ['info and parts', [{ info: { role: 'assistant' }, parts: [{ type: 'text', text: done }] }], true],
    ['a message of the user', [{ role: 'user', content: done }], false],
    ['thinking', [{ role: 'assistant', content: [{ type: 'reasoning', text: done }] }], false],
    ['a tool', [{ role: 'assistant', parts: [{ type: 'tool', text: done }] }], false],
    [
      'a summary',
      [{ info: { role: 'assistant', summary: true }, parts: [{ type: 'text', text: done }] }],
      false,
    ],
    ['nothing', [], false],
    ['no content', [{ role: 'assistant', content: null }], false],
  ])('reads the promise of %s', async (_, messages, found) => {
    expect(await detectInMessages(messages, 'DONE')).toBe(found);
  });
});

describe('buildContinuationPrompt', () => {
  const state: RalphLoopState = {
    active: true,
    iteration: 2,
    maxIterations: 7,
    completionPromise: 'DONE',
    startedAt: '',
    prompt: 'mend it',
    sessionId: 's',
  };

  it('fills the template with its exact text', () => {
    expect(buildContinuationPrompt(CONTINUATION_PROMPT_TEMPLATE, state)).toBe(
      [
        '[RALPH LOOP - ITERATION 2/7]',
        '',
        'Your previous attempt did not output the completion promise. Continue working on the task.',
        '',
        'IMPORTANT:',
        '- Review your progress so far',
        '- Continue from where you left off  ',
        '- When FULLY complete, output: <promise>DONE</promise>',
        '- Do not stop until the task is truly done',
        '',
        'Original task:',
        'mend it',
      ].join('\n'),
    );
  });

  it('leaves any task as it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom('$&', "$'", '{{PROMISE}}', '{{MAX}}$1')),
        (prompt) => {
          expect(buildContinuationPrompt('a {{PROMPT}} b {{ITERATION}}', { ...state, prompt })).toBe(
            `a ${prompt} b 2`,
          );
        },
      ),
    );
  });
});
