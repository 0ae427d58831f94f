import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClaim } from './completion.ts';
import type { Completion } from './loop.ts';

const tag = '<promise>DONE</promise>';
const claim: Completion = { promise: { token: 'DONE', match: 'claim' } };
const substring: Completion = { promise: { token: 'DONE', match: 'substring' } };
const lenient: Completion = { promise: { token: 'DONE', match: 'lenient' } };
const response: Completion = { response: 'DONE' };

const claims = [
  tag,
  `All finished. ${tag}`,
  `${tag}\n`,
  `All tests pass.\n\n${tag}`,
  `All tests pass\n${tag}`,
  `**${tag}**`,
  `\`${tag}\``,
  `\`\`\`\n${tag}\n\`\`\``,
  `Done! \`${tag}\``,
  `I have fixed the bug and run the tests ${tag}`,
  `There are no failures left ${tag}`,
  `No errors remain, everything is verified: ${tag}`,
  `I did not find any further problems. ${tag}`,
  `I will now output the promise: ${tag}`,
  `Everything is finished, so I can output ${tag}`,
  `Nothing else will need changing.\n${tag}`,
  `The crash that happened when saving is fixed. ${tag}`,
  `The crash that happened when saving is fixed, ${tag}`,
  `I will not output ${tag} yet.\n\nNow the tests pass.\n\n${tag}`,
  `If you see failures, tell me.\n\n${tag}`,
  `> ${tag}`,
  `- ${tag}`,
  `<b>${tag}</b>`,
  `✅ ${tag} 🎉`,
  `Task complete.${tag}`,
  `${tag} All green.`,
  `"${tag}"`,
  `Summary:\n- fixed add()\n- ran the tests\n\n${tag}\n\nHave a good night.`,
  `Status: complete\n${tag}\nFiles changed: 3`,
  `All requirements met. Therefore I must output:\n${tag}`,
  `The function returns null if the file is missing\n${tag}`,
  `Before finishing I ran the tests\n${tag}`,
  `Once again: ${tag}`,
  `Since everything that was required to be added has been added: ${tag}`,
  `I've implemented the feature and must say it works well ${tag}`,
  `Work is complete ${tag}`,
  `I declare ${tag}`,
  `We can now say ${tag}`,
  `Final answer: ${tag}`,
  `Everything passes — ${tag}`,
  `1. Fixed the bug\n2. Ran the tests\n\n${tag}`,
  `\`\`\`text\nAll done\n${tag}\n\`\`\``,
];

const mentions = [
  `I will not output ${tag} yet.`,
  `I won't output ${tag} until the tests pass.`,
  `When finished I emit ${tag}.`,
  `When finished I emit ${tag}`,
  `Once all tests pass I'll print ${tag}.`,
  `I'm not going to say ${tag} because two tests still fail.`,
  `I cannot output ${tag} honestly.`,
  `It would be wrong to output ${tag} now.`,
  `As soon as the build is green I will write ${tag}`,
  `The instructions say to output \`${tag}\` at the end.`,
  `The marker "${tag}" ends the loop, so I keep it for later.`,
  `I should only output ${tag} when everything works.`,
  `${tag} would be premature.`,
  `${tag} will follow once the tests are green.`,
  `No ${tag} yet.`,
  `Not yet ready for the promise ${tag}`,
  `Next I will fix the tests, then output ${tag}.`,
  `I have to output ${tag} at the end.`,
  `Before I output ${tag}, two things remain.`,
  `I don't want to emit ${tag} too early.`,
  `I am holding back ${tag} because the linter fails.`,
  `Plan:\n1. fix the test\n2. output ${tag}`,
  `- [ ] ${tag}`,
  `When everything is done I will print:\n\n${tag}`,
  `I will not output\n${tag}\nyet, because tests fail.`,
  `After the fix I would emit:\n\`\`\`\n${tag}\n\`\`\``,
  `If it passes, ${tag}`,
  `You asked me to output ${tag} when the task is complete.`,
  `I’ll output ${tag} later.`,
  `I am not ready for ${tag}.`,
  `I haven't earned ${tag}.`,
  `Unable to produce ${tag} at this time.`,
  `The final message will be ${tag}.`,
  `Remaining: fix tests, then ${tag}`,
  `Next turn: ${tag}`,
  `My goal is ${tag}, but three tests fail.`,
  `I need two more iterations before ${tag}.`,
  `We are far from ${tag}.`,
  `Outputting ${tag} is premature.`,
  `Is it time for ${tag}? Not yet.`,
  `Blocked by CI, otherwise: ${tag}`,
  `Plan:\n1. Fix bug\n2. Run tests\n3. ${tag}`,
  `The completion marker is ${tag}.`,
  `The instructions mention ${tag} as the completion marker.`,
  `${tag} is what I output at the end.`,
  `The string ${tag} is searched for in my output by the loop.`,
  `You wrote "put this tag alone on the last line: ${tag}" and I understand.`,
  `I almost wrote ${tag} by mistake.`,
  `The previous iteration wrongly claimed ${tag}.`,
  `The file README.md contains ${tag}.`,
  `In the log I saw ${tag} printed by the test.`,
  `grep found: ${tag}`,
  `The code compares text to ${tag}, see parser.ts.`,
  `The previous agent's claim was rejected:\n\n${tag}\n\nI am fixing that now.`,
  `\`\`\`\n$ echo '${tag}'\n${tag}\n\`\`\`\nThe task goes on.`,
  `Ich werde ${tag} erst ausgeben, wenn alles fertig ist.`,
  `No voy a escribir ${tag} todavía.`,
  `まだ${tag}を出力しません。`,
];

describe('readClaim in claim mode', () => {
  it.each(claims)('takes as a claim: %j', (text) => {
    expect(readClaim([text], claim)).toEqual({ kind: 'done', marker: tag });
  });

  it.each(mentions)('takes as a mention: %j', (text) => {
    expect(readClaim([text], claim).kind).toBe('mention');
  });

  it.each(mentions)('judges the response tag by the same rule: %j', (text) => {
    const spoken = text.replaceAll(tag, '<response>done</response>');
    expect(readClaim([spoken], response).kind).toBe('mention');
  });

  it('finds nothing where there is no tag', () => {
    expect(readClaim(["I'm done.", 'DONE'], claim)).toEqual({ kind: 'none' });
  });

  it('tells an almost right tag from none, so that the agent can be told', () => {
    expect(readClaim(['<promise> done </promise>'], claim)).toEqual({
      kind: 'mention',
      marker: tag,
      nearMiss: '<promise> done </promise>',
    });
  });

  it('keeps thoughts of separate blocks apart', () => {
    expect(readClaim(['Let me check whether the tests will pass', tag], claim).kind).toBe('done');
    expect(readClaim(['I will not output', tag], claim).kind).toBe('mention');
    expect(readClaim(['I will run the tests and then print the result.', `Good. ${tag}`], claim).kind).toBe(
      'done',
    );
  });

  it('finds a claim split at any place over any events', () => {
    fc.assert(
      fc.property(fc.constantFrom(...claims), fc.array(fc.nat(200), { maxLength: 6 }), (text, cuts) => {
        // Cuts inside the tag: elsewhere a block border may rightly change what a sentence is.
        const from = text.lastIndexOf(tag);
        const places = [...new Set(cuts.map((cut) => from + 1 + (cut % (tag.length - 1))))].sort(
          (a, b) => a - b,
        );
        expect(readClaim(split(text, places), claim).kind).toBe('done');
      }),
    );
  });

  it('never takes a mention for a claim, wherever the events split it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...mentions), fc.array(fc.nat(200), { maxLength: 4 }), (text, cuts) => {
        const places = [...new Set(cuts.map((cut) => cut % text.length))].sort((a, b) => a - b);
        expect(readClaim(split(text, places), claim).kind).not.toBe('done');
      }),
      { numRuns: 20000 },
    );
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
      marker: 'o.',
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

  it('ignores an empty one and one that is only spoken of', () => {
    expect(readClaim(['<promise>BLOCKED: </promise>'], claim).kind).toBe('none');
    expect(readClaim(['If I get stuck I will output <promise>BLOCKED: why</promise>.'], claim).kind).toBe(
      'none',
    );
  });

  it('counts against a claim by what was said last', () => {
    expect(readClaim([`${tag}\n<promise>BLOCKED: no key</promise>`], claim).kind).toBe('blocked');
    expect(readClaim([`<promise>BLOCKED: no key</promise>\nResolved now.\n\n${tag}`], claim).kind).toBe(
      'done',
    );
  });
});

function split(text: string, places: readonly number[]): string[] {
  const bounds = [0, ...places, text.length];
  return bounds.slice(1).map((end, i) => text.slice(bounds[i], end));
}
