import { type MentionForm, readForm } from './claim-form.ts';
import type { Completion } from './loop.ts';
import { joinBlocks, type Tag, tagsIn } from './tags.ts';

/** What the agent's own text says about being done. */
export type Claim =
  | { readonly kind: 'none' }
  /** The tag was only mentioned, or was almost right; `written` is the tag as the agent wrote it. */
  | {
      readonly kind: 'mention';
      readonly tag: string;
      readonly form: MentionForm;
      readonly written: string;
    }
  | { readonly kind: 'done'; readonly tag: string }
  | { readonly kind: 'blocked'; readonly why: string }
  | { readonly kind: 'decide'; readonly question: string };

/** Reads the claim out of the assistant's text blocks of one turn. */
export function readClaim(
  blocks: readonly string[],
  completion: Completion,
  { patternMatched, tasksDone }: { readonly patternMatched?: boolean; readonly tasksDone?: boolean } = {},
): Claim {
  const text = joinBlocks(blocks);
  // Most turns hold no tag.
  const hasTag = anyTag.test(text);
  const claims = hasTag
    ? [readPromise(text, completion.promise), readResponse(text, completion.response)]
    : [];
  const done = claims.find(({ claim }) => claim.kind === 'done');
  const forHuman = hasTag ? readHumanRequest(text) : nothing;
  const isAsked = forHuman.claim.kind === 'blocked' || forHuman.claim.kind === 'decide';
  // What the agent said last counts: it may have been blocked for a while, or have found a question after its claim.
  if (isAsked && (!done || forHuman.at > done.at)) return forHuman.claim;
  if (done) return done.claim;
  if (completion.pattern !== undefined && patternMatched) return { kind: 'done', tag: completion.pattern };
  if (completion.tasks !== undefined && tasksDone) return { kind: 'done', tag: completion.tasks };
  return claims.find(({ claim }) => claim.kind === 'mention')?.claim ?? forHuman.claim;
}

/** The exact text that an agent has to write; null where only a pattern says what is done. */
export function completionTag(completion: Completion): string | null {
  if (completion.promise) return promiseTag(completion.promise.token);
  if (completion.response !== undefined) return `<response>${completion.response}</response>`;
  return null;
}

/** How an agent asks for a human. */
const humanTags = { BLOCKED: promiseTag('BLOCKED: why'), DECIDE: promiseTag('DECIDE: question') };

export function isHumanTag(tag: string): boolean {
  return Object.values(humanTags).includes(tag);
}

export function promiseTag(token: string): string {
  return `<promise>${token}</promise>`;
}

/** A claim and where in the text it stands. */
type Reading = { readonly claim: Claim; readonly at: number };

const none: Claim = { kind: 'none' };
const anyTag = /<(?:promise|response)>/i;
const nothing: Reading = { claim: none, at: -1 };

function readPromise(text: string, promise: Completion['promise']): Reading {
  if (!promise) return nothing;
  const tag = promiseTag(promise.token);
  const done = (at: number): Reading => (at === -1 ? nothing : { claim: { kind: 'done', tag }, at });
  if (promise.match === 'lenient') return done(text.search(lenientPromise(promise.token)));
  if (promise.match === 'substring') return done(text.lastIndexOf(tag));

  let claim = nothing;
  let mention = nothing;
  for (const candidate of tagsIn(text, 'promise')) {
    if (!sameWords(candidate.content, promise.token)) continue;
    const form = candidate.written === tag ? readForm(text, candidate) : 'near-miss';
    if (form === 'claim') claim = done(candidate.start);
    else mention = mentionOf(candidate, tag, form);
  }
  return claim === nothing ? mention : claim;
}

/** The first `<response>` that is not a mention decides, whatever comes later. */
function readResponse(text: string, response: string | undefined): Reading {
  if (response === undefined) return nothing;
  const tag = `<response>${response}</response>`;
  let mention = nothing;
  for (const candidate of tagsIn(text, 'response')) {
    const form = readForm(text, candidate);
    const isExact = sameText(candidate.content, response);
    if (form === 'claim' && isExact) return { claim: { kind: 'done', tag }, at: candidate.start };
    if (form === 'claim')
      return sameWords(candidate.content, response) ? mentionOf(candidate, tag, 'near-miss') : mention;
    if (isExact) mention = mentionOf(candidate, tag, form);
  }
  return mention;
}

function mentionOf({ start, written }: Tag, tag: string, form: MentionForm): Reading {
  return { claim: { kind: 'mention', tag, form, written: written.slice(0, 200) }, at: start };
}

/** The last `<promise>BLOCKED: why</promise>` or `<promise>DECIDE: question</promise>`; without one, the last mention. */
function readHumanRequest(text: string): Reading {
  let last = nothing;
  let mention = nothing;
  for (const candidate of tagsIn(text, 'promise')) {
    const [, word = '', rest = ''] = /^\s*(BLOCKED|DECIDE)\s*(?::([\s\S]*))?$/i.exec(candidate.content) ?? [];
    if (word === '') continue;
    const request = rest.trim();
    const isExact = request !== '' && /^\s*(?:BLOCKED|DECIDE):/.test(candidate.content);
    const form = isExact ? readForm(text, candidate) : 'near-miss';
    const isBlocked = word.toUpperCase() === 'BLOCKED';
    if (form !== 'claim') {
      mention = mentionOf(candidate, humanTags[isBlocked ? 'BLOCKED' : 'DECIDE'], form);
      continue;
    }
    const claim: Claim = isBlocked
      ? { kind: 'blocked', why: request }
      : { kind: 'decide', question: request };
    last = { claim, at: candidate.start };
  }
  return last === nothing ? mention : last;
}

function sameText(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}

/** The same but for case and white space. */
function sameWords(a: string, b: string): boolean {
  return sameText(a.replace(/\s+/g, ' '), b.replace(/\s+/g, ' '));
}

function lenientPromise(token: string): RegExp {
  return new RegExp(
    `<promise>\\s*${token.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*</promise>`,
    'is',
  );
}
