import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claims, tag } from '../../test/core/claim-examples.ts';
import { mentions as mentionsByForm } from '../../test/core/mention-examples.ts';
import { readClaim } from './completion.ts';
import type { Completion } from './loop.ts';

const claim: Completion = { promise: { token: 'DONE', match: 'claim' } };
const substring: Completion = { promise: { token: 'DONE', match: 'substring' } };
const lenient: Completion = { promise: { token: 'DONE', match: 'lenient' } };
const response: Completion = { response: 'DONE' };

const forms = Object.entries(mentionsByForm).flatMap(([form, texts]) =>
  texts.map((text) => ({ form, text })),
);
const mentions = Object.values(mentionsByForm).flat();

describe('readClaim in claim mode', () => {
  it.each(claims)('takes as a claim: %j', (text) => {
    expect(readClaim([text], claim)).toEqual({ kind: 'done', tag });
  });

  it.each(forms)('takes as a mention ($form): $text', ({ form, text }) => {
    expect(readClaim([text], claim)).toEqual({ kind: 'mention', tag, form, written: tag });
  });

  it.each(mentions)('judges the response tag by the same rule: %j', (text) => {
    const spoken = text.replaceAll(tag, '<response>done</response>');
    expect(readClaim([spoken], response).kind).toBe('mention');
  });

  it('finds nothing where there is no tag', () => {
    expect(readClaim(["I'm done.", 'DONE'], claim)).toEqual({ kind: 'none' });
  });

  it.each([
    ['DONE', '<promise> done </promise>'],
    ['DONE', '<PROMISE>DONE</PROMISE>'],
    ['ALL DONE', '<promise>ALL  DONE</promise>'],
    ['ALL DONE', '<promise>ALL\nDONE</promise>'],
    ['ALL\tDONE', '<promise>all done</promise>'],
  ])('takes for %j the almost right %j as a near miss', (token, written) => {
    const tag = `<promise>${token}</promise>`;
    expect(readClaim([`All is well.\n\n${written}`], { promise: { token, match: 'claim' } })).toEqual({
      kind: 'mention',
      tag,
      form: 'near-miss',
      written,
    });
  });

  it('takes other white space inside a response as a near miss', () => {
    expect(readClaim(['<response>all\ndone</response>'], { response: 'ALL DONE' })).toEqual({
      kind: 'mention',
      tag: '<response>ALL DONE</response>',
      form: 'near-miss',
      written: '<response>all\ndone</response>',
    });
  });

  it('answers the last of several mentions', () => {
    expect(readClaim([`I will not output ${tag} yet.\n\n- [ ] ${tag}`], claim)).toMatchObject({
      form: 'checkbox',
    });
    expect(readClaim([`I will not output ${tag} yet.\n\n<promise>done</promise>`], claim)).toMatchObject({
      form: 'near-miss',
    });
  });

  it.each([
    ['behind a sentence that was never ended', ['Let me check whether the tests will pass', tag]],
    ['behind a list', ['Changes:\n- parser\n- formatter', tag]],
    ['behind a table', ['| a | b |', tag]],
    ['behind a code fence', ['```\nnpm test\n```', tag]],
    ['in bold', ['I check the docs', `**${tag}**`]],
    ['before another block', [tag, 'Bye.']],
    [
      'in a block of a sentence that ends',
      ['I will run the tests and then print the result.', `Good. ${tag}`],
    ],
  ])('takes as a claim a tag in a block of its own, %s', (_, blocks) => {
    expect(readClaim(blocks, claim).kind).toBe('done');
  });

  it('finds a claim split inside its tag over any events', () => {
    fc.assert(
      fc.property(fc.constantFrom(...claims), fc.array(fc.nat(200), { maxLength: 6 }), (text, cuts) => {
        const from = text.lastIndexOf(tag);
        const places = [...new Set(cuts.map((cut) => from + 1 + (cut % (tag.length - 1))))].sort(
          (a, b) => a - b,
        );
        expect(readClaim(split(text, places), claim).kind).toBe('done');
      }),
    );
  });

  it('never takes a mention for a claim, wherever it is cut into two or three events', () => {
    const cuts = mentions.flatMap((text) =>
      Array.from(text, (_, i) =>
        Array.from(text.slice(i), (_, length) => [
          text.slice(0, i),
          text.slice(i, i + length),
          text.slice(i + length),
        ]),
      ).flat(),
    );
    expect(cuts.filter((blocks) => readClaim(blocks, claim).kind === 'done')).toEqual([]);
  });

  it.each([
    ['one line', `I will not output ${tag} and not say why. `],
    ['fences', `\`\`\`\nx = 1\n${tag}\n\`\`\`\n`],
    ['openings of fences', `\`\`\`js\n~~~~ ${tag} yet\n`],
    ['openings of tags', '<promise>'],
    ['openings of comments', `<!-- not ${tag} `],
    ['blanks and marks', `${'> - * '.repeat(20)}${tag} not yet `],
  ])('reads 10 MB of tags in linear time: %s', (_, piece) => {
    const text = piece.repeat(Math.ceil(10_000_000 / piece.length));
    expect(readClaim([text, `\n${tag}`], claim).kind).toBe('done');
  });

  it('never accepts text without the exact tag, in claim and substring', () => {
    const pieces = fc.constantFrom(
      '<promise>',
      '</promise>',
      'DONE',
      ' DONE ',
      'done',
      '<',
      '>',
      '\n',
      ' ',
      'I say ',
      '<Promise>',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 12 }), (blocks) => {
        fc.pre(!blocks.join('').includes(tag));
        expect(readClaim(blocks, claim).kind).not.toBe('done');
        expect(readClaim(blocks, substring).kind).not.toBe('done');
      }),
      { numRuns: 20000 },
    );
  });

  it('takes any token literally', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (token) => {
        fc.pre(!/^\s*(BLOCKED|DECIDE):/.test(token));
        const completion: Completion = { promise: { token, match: 'claim' } };
        expect(readClaim([`Finished.\n<promise>${token}</promise>`], completion).kind).toBe('done');
      }),
    );
  });
});

describe('readClaim in the other modes', () => {
  it.each(mentions.filter((text) => text.includes(tag)))('substring takes every exact tag: %j', (text) => {
    expect(readClaim([text], substring).kind).toBe('done');
  });

  it('lenient allows blanks and any case', () => {
    expect(readClaim(['<PROMISE>\n done </promise>'], lenient).kind).toBe('done');
    expect(readClaim(['<promise>DONE!</promise>'], lenient).kind).toBe('none');
  });

  it('the first response tag wins', () => {
    expect(readClaim(['<response>working</response> <response>DONE</response>'], response).kind).toBe('none');
    expect(readClaim(['<Response>done</RESPONSE>\n<response>no</response>'], response).kind).toBe('done');
  });

  it('a matched pattern is a claim', () => {
    expect(readClaim(['ok'], { pattern: 'o.' }, { patternMatched: true })).toEqual({
      kind: 'done',
      tag: 'o.',
    });
    expect(readClaim(['ok'], { pattern: 'o.' }, { patternMatched: false })).toEqual({ kind: 'none' });
  });
});

describe('readClaim for a human', () => {
  it('keeps the reason and the question', () => {
    expect(readClaim(['<promise>BLOCKED: no access to the registry</promise>'], claim)).toEqual({
      kind: 'blocked',
      why: 'no access to the registry',
    });
    expect(readClaim(['<promise>DECIDE: tabs\nor spaces?</promise>'], response)).toEqual({
      kind: 'decide',
      question: 'tabs\nor spaces?',
    });
  });

  it.each([
    ['BLOCKED: why', '<promise>BLOCKED: </promise>', 'near-miss'],
    ['BLOCKED: why', '<promise>BLOCKED</promise>', 'near-miss'],
    ['BLOCKED: why', '<promise>blocked: no key</promise>', 'near-miss'],
    ['DECIDE: question', '<promise>Decide : tabs?</promise>', 'near-miss'],
    ['BLOCKED: why', 'If I get stuck I will output <promise>BLOCKED: why</promise>.', 'sentence'],
    ['DECIDE: question', 'I could ask <promise>DECIDE: tabs?</promise>, but go on.', 'sentence'],
  ])('tells of %s that %j does not end the loop (%s)', (content, text, form) => {
    const requestTag = `<promise>${content}</promise>`;
    expect(readClaim([text], claim)).toMatchObject({ kind: 'mention', tag: requestTag, form });
    expect(readClaim([text, `\n\n${tag}`], claim).kind).toBe('done');
  });

  it('gives way to a mention of the completion tag', () => {
    const both = `I will not print ${tag}, nor <promise>BLOCKED: x</promise>.`;
    expect(readClaim([both], claim)).toMatchObject({ kind: 'mention', tag });
  });

  it.each([
    ['blocked', 'I cannot go on:\n\n<promise>BLOCKED: no key</promise>'],
    ['decide', '**<promise>DECIDE: tabs\nor spaces?</promise>**'],
    ['blocked', 'The registry answers 403. <promise>BLOCKED: no access</promise>'],
    ['mention', 'The contract has `<promise>BLOCKED: why</promise>` for that, which I do not need.'],
    ['mention', '- [ ] <promise>BLOCKED: why</promise>'],
    ['mention', 'When stuck I will print:\n<promise>BLOCKED: why</promise>\nLet me begin.'],
  ])('follows the rule of claims: %s in %j', (kind, text) => {
    expect(readClaim([text], claim).kind).toBe(kind);
  });

  it('counts against a claim by what was said last', () => {
    expect(readClaim([`${tag}\n<promise>BLOCKED: no key</promise>`], claim).kind).toBe('blocked');
    const resolved = [`${tag}\n<promise>BLOCKED: no key</promise>\nResolved now.\n\n${tag}`];
    expect(readClaim(resolved, claim).kind).toBe('done');
    expect(readClaim(resolved, substring).kind).toBe('done');
  });
});

function split(text: string, places: readonly number[]): string[] {
  const bounds = [0, ...places, text.length];
  return bounds.slice(1).map((end, i) => text.slice(bounds[i], end));
}
