import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNeutralizer, tracesIn } from '../../scripts/neutral.ts';

const known = {
  '/tmp/rec-1/home': '/home/dev',
  '/tmp/rec-1/home/project': '/home/dev/project',
  '127.0.0.1:40123': '127.0.0.1:8080',
};

describe('a recording', () => {
  it('names no folder and no port of the machine', () => {
    const text =
      '{"cwd":"/tmp/rec-1/home/project","config":"/tmp/rec-1/home/.x","url":"http://127.0.0.1:40123/v1"}';
    expect(createNeutralizer(known)(text)).toBe(
      '{"cwd":"/home/dev/project","config":"/home/dev/.x","url":"http://127.0.0.1:8080/v1"}',
    );
  });

  it('keeps together what belongs together, over all its lines', () => {
    const neutral = createNeutralizer({});
    const [a, b] = ['8b962834-c126-44a5-912d-5aba4969bb5e', '01a1e150-be81-7742-a7cc-815385e50d6b'];
    expect(neutral(`${a} ${b} ${a}`)).toBe(
      '00000000-0000-4000-8000-000000000001 00000000-0000-7000-8000-000000000002 00000000-0000-4000-8000-000000000001',
    );
    expect(neutral(b)).toBe('00000000-0000-7000-8000-000000000002');
  });

  it('has ids of the same length without their random part', () => {
    const neutral = createNeutralizer({});
    expect(neutral('"ses_e1eb0b99affee4vPd8PlWneiey"')).toBe(`"ses_${'1'.padStart(26, '0')}"`);
  });

  it.each([
    'msg_000001',
    'toolu_000001000',
    'error_during_execution',
    'claude-sonnet-5-5',
    'rate_limit_error',
  ])('leaves %s alone', (word) => {
    expect(createNeutralizer({})(word)).toBe(word);
  });

  it('is not changed by a second pass', () => {
    const piece = fc.oneof(
      fc.uuid(),
      fc.constantFrom(...Object.keys(known), 'ses_e1eb0b99affee4vPd8PlWneiey', '"', ' ', '\n'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const once = createNeutralizer(known)(pieces.join(' '));
        expect(createNeutralizer(known)(once)).toBe(once);
      }),
    );
  });

  it('tells what of the machine is still in it', () => {
    expect(tracesIn('on builder-7 in /srv/x', ['builder-7', '/srv/y', 'x'])).toEqual(['builder-7']);
  });
});
