import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, withJitter } from './backoff.ts';
import { readClaim } from './completion.ts';
import { newLoop } from './decide.ts';
import { RalphError } from './error.ts';
import { defuseTags, guardrailMessage, mentionFeedback, slugOf } from './feedback.ts';
import type { Feedback, LoopPlan } from './loop.ts';
import { compilePattern } from './pattern.ts';
import { completionContract, composePrompt, namesTag } from './prompt.ts';
import { fillTemplate } from './template.ts';
import { oneLine } from './text.ts';

describe('guardrail messages', () => {
  it('have their fixed format, with the hint only when there is one', () => {
    const failure = {
      command: 'make lint',
      exitCode: 2,
      logFile: '.ralph/guardrail_1_make_lint.log',
      output: 'bad',
      truncated: false,
    };
    expect(guardrailMessage(failure)).toBe(
      'Guardrail "make lint" failed with exit code 2.\nOutput file: .ralph/guardrail_1_make_lint.log\nOutput:\nbad',
    );
    expect(guardrailMessage({ ...failure, truncated: true, hint: 'Fix $& only.' }).split('\n')).toEqual([
      'Guardrail "make lint" failed with exit code 2.',
      'Hint: Fix $& only.',
      'Output file: .ralph/guardrail_1_make_lint.log',
      'Output (truncated):',
      'bad',
    ]);
  });

  it('name their log by the command', () => {
    expect(slugOf('./mvnw clean install -T 2C')).toBe('mvnw_clean_install_T_2C');
    expect(slugOf('x'.repeat(80))).toHaveLength(50);
    expect(slugOf('***')).toBe('guardrail');
  });

  it('cannot carry a completion tag back', () => {
    expect(defuseTags('<promise>DONE</promise> <RESPONSE>x</RESPONSE>')).not.toMatch(
      /<\/?(promise|response)>/i,
    );
  });
});

describe('the answer to a mention', () => {
  const tag = '<promise>ALL DONE</promise>';

  it.each([
    [`I will not output ${tag} yet.`, 'You wrote the completion tag among other text on its line,'],
    [`// ${tag}`, 'You wrote the completion tag among other text on its line,'],
    [`a) ${tag}\n\nLet me begin.`, 'You made the completion tag a list item and wrote more behind it,'],
    [`The rule says to print "${tag}" at the end.`, 'You quoted the completion tag in a sentence,'],
    [`- [ ] ${tag}`, 'You put the completion tag behind an open checkbox,'],
    [`~~${tag}~~`, 'You struck the completion tag out,'],
    [`<!-- ${tag} -->`, 'You put the completion tag into a comment,'],
    [`| last line | ${tag} |`, 'You put the completion tag into a table,'],
    [`${tag}?`, 'You wrote a question mark behind the completion tag,'],
    [`I will print:\n${tag}\nLet me begin.`, 'You announced the completion tag and wrote more behind it,'],
    [`1. ${tag}\n\nLet me begin.`, 'You made the completion tag a list item and wrote more behind it,'],
    [`\`\`\`\necho\n${tag}\n\`\`\``, 'You put the completion tag into a code block with other lines,'],
    [
      '<promise>ALL\n DONE</promise>',
      'You wrote "<promise>ALL\\n DONE</promise>", which differs from the completion tag in case or white space.',
    ],
  ])('is true of its form: %j', (text, answer) => {
    const claim = readClaim([text], { promise: { token: 'ALL DONE', match: 'claim' } });
    const feedback = claim.kind === 'mention' ? mentionFeedback(claim) : null;
    expect(feedback?.text).toContain(answer);
    expect(feedback?.text).toMatch(
      /put the tag alone on a line, the last of your answer, exactly so: <promise>ALL DONE<\/promise>$/,
    );
  });
});

describe('the answer to a request to a human that is none', () => {
  it.each([
    [
      'I could print <promise>BLOCKED: no key</promise> here.',
      'BLOCKED: why',
      'among other text on its line',
    ],
    ['- [ ] <promise>DECIDE: a or b?</promise>', 'DECIDE: question', 'behind an open checkbox'],
    ['<promise>blocked: no key</promise>', 'BLOCKED: why', 'is no request to a human: it needs'],
    ['<promise>DECIDE:</promise>', 'DECIDE: question', 'is no request to a human: it needs'],
  ])('says what was seen and how to ask: %j', (text, content, seen) => {
    const claim = readClaim([text], { promise: { token: 'ALL DONE', match: 'claim' } });
    const feedback = claim.kind === 'mention' ? mentionFeedback(claim).text : '';
    expect(feedback).toContain(seen);
    expect(feedback).toContain(`If you cannot go on without a human, put the tag alone on a line`);
    expect(feedback.endsWith(`exactly so: <promise>${content}</promise>`)).toBe(true);
  });
});

describe('prompts', () => {
  const plan = { limits: { iterations: 10 }, countInPrompt: true } as LoopPlan;

  it.each<[Feedback['action'], string]>([
    ['APPEND', 'task\n\nfailed'],
    ['PREPEND', 'failed\n\ntask'],
    ['REPLACE', 'failed'],
  ])('%s puts the feedback in its place with two newlines between', (action, expected) => {
    const loop = {
      ...newLoop({ ...plan, countInPrompt: false }, 'task'),
      feedback: [{ action, text: 'failed' }],
    };
    expect(composePrompt(loop)).toBe(expected);
  });

  it('count the iterations when asked to', () => {
    expect(composePrompt({ ...newLoop(plan, 'task'), iteration: 3 })).toBe(
      'Iteration 3 of 10, 7 remaining.\n\ntask',
    );
  });

  it('carry a contract that names the tag', () => {
    const completion = { response: 'DONE' };
    expect(completionContract(completion)).toContain(
      'put this tag alone on the last line of your answer, exactly as it stands here:\n<response>DONE</response>\n',
    );
    expect(namesTag('say <RESPONSE>done</RESPONSE> at the end', completion)).toBe(true);
    expect(namesTag('say done at the end', completion)).toBe(false);
  });

  it('fill templates in one literal pass', () => {
    expect(fillTemplate('{{A}} {{B}} {{C}}', { A: '{{B}} $& $1', B: 2 })).toBe('{{B}} $& $1 2 {{C}}');
  });
});

describe('backoff', () => {
  it('doubles from one second to five minutes', () => {
    expect([1, 2, 3, 9, 10, 99].map(backoffMs)).toEqual([1000, 2000, 4000, 256_000, 300_000, 300_000]);
  });

  it('is spread between half and the whole, the same way each time', () => {
    const spread = Array.from({ length: 50 }, (_, n) => withJitter(1000, 'run', n));
    expect(spread.every((ms) => ms >= 500 && ms <= 1000)).toBe(true);
    expect(new Set(spread).size).toBeGreaterThan(25);
    expect(withJitter(1000, 'run', 3)).toBe(spread[3]);
  });
});

describe('patterns', () => {
  it('match on a linear-time engine', () => {
    expect(compilePattern('^all (done|finished)$').test('so\nall done\n')).toBe(true);
    expect(compilePattern('done\\Z').test('done')).toBe(true);
    expect(compilePattern('done\\Z').test('done\nmore')).toBe(false);
    expect(compilePattern('\\\\Z').test('a\\Z')).toBe(true);
    expect(compilePattern('^(a+)+$').test(`${'a'.repeat(5000)}!`)).toBe(false);
  });

  it.each([
    ['(?=x)', 'look-ahead'],
    ['(a)\\1', 'back-references'],
    ['(?P<x>a)(?P=x)', 'back-references'],
    ['(', 'missing'],
  ])('say what is wrong with %s', (source, words) => {
    expect(() => compilePattern(source)).toThrow(RalphError);
    expect(() => compilePattern(source)).toThrow(words);
  });
});

describe('oneLine', () => {
  it('puts any text on one short line', () => {
    expect(oneLine('  a\n\tb\u0000\u001b[31mc  ')).toBe('a b [31mc');
    expect(oneLine('x'.repeat(300))).toBe(`${'x'.repeat(199)}…`);
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 1000 }),
        fc.integer({ min: 1, max: 300 }),
        (text, max) => {
          expect(oneLine(text, max).length).toBeLessThanOrEqual(max);
          expect(oneLine(text, max)).not.toMatch(/[\r\n]/);
        },
      ),
    );
  });
});
