import { describe, expect, it } from 'vitest';
import { readAction } from './actions.ts';

describe('an action in a request', () => {
  it.each([
    { action: 'pause' },
    { action: 'resume' },
    { action: 'stop' },
    { action: 'note', text: 'Be quick.' },
    { action: 'answer', text: ' net ' },
  ])('is read: %j', (action) => {
    expect(readAction(JSON.stringify({ ...action, more: 1 }))).toEqual(action);
  });

  it.each([
    ['{', 'this is no JSON'],
    ['[]', 'an action is pause, resume, stop, note or answer'],
    ['null', 'an action is pause, resume, stop, note or answer'],
    ['{"action":"kill"}', 'an action is pause, resume, stop, note or answer'],
    ['{"action":"note"}', 'a note or an answer needs a text'],
    ['{"action":"answer","text":"  "}', 'a note or an answer needs a text'],
    [
      JSON.stringify({ action: 'note', text: 'x'.repeat(10_001) }),
      'a note or an answer has 10000 characters at most',
    ],
  ])('is refused with the reason: %s', (body, because) => {
    expect(readAction(body)).toBe(because);
  });
});
