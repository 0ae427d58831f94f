import { joinBlocks } from './joined.ts';
import type { Completion } from './loop.ts';
import { isMention, type Joined } from './mention.ts';

/** What the agent's own text says about being done. */
export type Claim =
  | { readonly kind: 'none' }
  /** The tag was only spoken of, or was almost right. */
  | { readonly kind: 'mention'; readonly marker: string; readonly nearMiss?: string }
  | { readonly kind: 'done'; readonly marker: string }
  | { readonly kind: 'blocked'; readonly why: string }
  | { readonly kind: 'decide'; readonly question: string };

/** Reads the claim out of the assistant's text blocks of one turn. */
export function readClaim(
  blocks: readonly string[],
  completion: Completion,
  { patternMatched, tasksDone }: { readonly patternMatched?: boolean; readonly tasksDone?: boolean } = {},
): Claim {
  const joined = joinBlocks(blocks);
  // Most turns hold no tag, and need no closer look.
  const tagged = anyTag.test(joined.text);
  const claims = tagged
    ? [readPromise(joined, completion.promise), readResponse(joined, completion.response)]
    : [];
  const done = claims.find((found) => found.claim.kind === 'done');
  const forHuman = tagged ? readHumanRequest(joined) : null;
  // What the agent said last counts: it may have been blocked for a while, or have found a question after its claim.
  if (forHuman && (!done || forHuman.at > done.at)) return forHuman.claim;
  if (done) return done.claim;
  if (completion.pattern !== undefined && patternMatched) return { kind: 'done', marker: completion.pattern };
  if (completion.tasks !== undefined && tasksDone) return { kind: 'done', marker: completion.tasks };
  return claims.find((found) => found.claim.kind === 'mention')?.claim ?? none;
}

/** The exact text that an agent has to write; null where only a pattern says what is done. */
export function markerOf(completion: Completion): string | null {
  if (completion.promise) return promiseMarker(completion.promise.token);
  if (completion.response !== undefined) return `<response>${completion.response}</response>`;
  return null;
}

export function promiseMarker(token: string): string {
  return `<promise>${token}</promise>`;
}

/** A claim and where in the text it stands. */
type Found = { readonly claim: Claim; readonly at: number };

const none: Claim = { kind: 'none' };
const anyTag = /<(?:promise|response)>/i;
const nothing: Found = { claim: none, at: -1 };

function readPromise(joined: Joined, promise: Completion['promise']): Found {
  if (!promise) return nothing;
  const { text } = joined;
  const marker = promiseMarker(promise.token);
  const done = (at: number): Found => ({ claim: { kind: 'done', marker }, at });
  if (promise.match === 'lenient') {
    const found = lenientPromise(promise.token).exec(text);
    return found ? done(found.index) : nothing;
  }
  if (promise.match === 'substring') {
    const at = text.lastIndexOf(marker);
    return at === -1 ? nothing : done(at);
  }
  let mentioned = -1;
  for (let at = text.lastIndexOf(marker); at !== -1; at = at === 0 ? -1 : text.lastIndexOf(marker, at - 1)) {
    if (!isMention(joined, at, at + marker.length)) return done(at);
    mentioned = at;
  }
  if (mentioned !== -1) return { claim: { kind: 'mention', marker }, at: mentioned };
  const near = lenientPromise(promise.token).exec(text);
  return near
    ? { claim: { kind: 'mention', marker, nearMiss: near[0].slice(0, 200) }, at: near.index }
    : nothing;
}

/** The first `<response>` that is not a mention decides, whatever comes later. */
function readResponse(joined: Joined, response: string | undefined): Found {
  if (response === undefined) return nothing;
  const marker = `<response>${response}</response>`;
  let mentioned = -1;
  for (const { start, end, content } of tagsIn(joined.text, 'response')) {
    const same = sameText(content, response);
    if (!isMention(joined, start, end))
      return same ? { claim: { kind: 'done', marker }, at: start } : nothing;
    if (same) mentioned = start;
  }
  return mentioned === -1 ? nothing : { claim: { kind: 'mention', marker }, at: mentioned };
}

/** The last `<promise>BLOCKED: why</promise>` or `<promise>DECIDE: question</promise>` with something to say. */
function readHumanRequest(joined: Joined): Found | null {
  let last: Found | null = null;
  for (const { start, end, content } of tagsIn(joined.text, 'promise')) {
    const [, word, rest] = /^\s*(BLOCKED|DECIDE):([\s\S]*)$/.exec(content) ?? [];
    const text = rest?.trim();
    if (!text || isMention(joined, start, end)) continue;
    const claim: Claim =
      word === 'BLOCKED' ? { kind: 'blocked', why: text } : { kind: 'decide', question: text };
    last = { claim, at: start };
  }
  return last;
}

type Tag = { start: number; end: number; content: string };

/** Finds `<name>…</name>` in any case in linear time; a tag with another opening inside starts at the inner one. */
function* tagsIn(text: string, name: string): Generator<Tag> {
  const opening = new RegExp(`<${name}>`, 'gi');
  const closing = new RegExp(`</${name}>`, 'gi');
  let open = opening.exec(text);
  while (open) {
    const contentStart = open.index + open[0].length;
    closing.lastIndex = contentStart;
    const close = closing.exec(text);
    if (!close) return;
    opening.lastIndex = contentStart;
    let next = opening.exec(text);
    while (next && next.index < close.index) {
      open = next;
      next = opening.exec(text);
    }
    const start = open.index;
    yield {
      start,
      end: close.index + close[0].length,
      content: text.slice(start + open[0].length, close.index),
    };
    open = next;
  }
}

function sameText(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}

function lenientPromise(token: string): RegExp {
  return new RegExp(
    `<promise>\\s*${token.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*</promise>`,
    'is',
  );
}
