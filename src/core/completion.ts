import type { Completion } from './loop.ts';
import { isMention, type Joined, joinBlocks } from './mention.ts';

/** What the agent's own text says about being done. */
export type Claim =
  | { readonly kind: 'none' }
  /** The tag was only spoken of, or was almost right. */
  | { readonly kind: 'mention'; readonly marker: string; readonly nearMiss?: string }
  | { readonly kind: 'done'; readonly marker: string }
  | { readonly kind: 'blocked'; readonly why: string }
  | { readonly kind: 'decide'; readonly question: string };

/** Reads the claim out of the assistant's text blocks of one turn. */
export function readClaim(blocks: readonly string[], completion: Completion, patternMatched = false): Claim {
  const joined = joinBlocks(blocks);
  const forHuman = readHumanRequest(joined);
  if (forHuman) return forHuman;
  const claims = [readPromise(joined, completion.promise), readResponse(joined, completion.response)];
  const done = claims.find((claim) => claim.kind === 'done');
  if (done) return done;
  if (completion.pattern !== undefined && patternMatched) return { kind: 'done', marker: completion.pattern };
  return claims.find((claim) => claim.kind === 'mention') ?? { kind: 'none' };
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

function readPromise(joined: Joined, promise: Completion['promise']): Claim {
  if (!promise) return { kind: 'none' };
  const marker = promiseMarker(promise.token);
  if (promise.match === 'lenient') {
    return lenientPromise(promise.token).test(joined.text) ? { kind: 'done', marker } : { kind: 'none' };
  }
  let seen = false;
  for (
    let at = joined.text.indexOf(marker);
    at !== -1;
    at = joined.text.indexOf(marker, at + marker.length)
  ) {
    if (promise.match === 'substring' || !isMention(joined, at, at + marker.length))
      return { kind: 'done', marker };
    seen = true;
  }
  if (seen) return { kind: 'mention', marker };
  const near = lenientPromise(promise.token).exec(joined.text);
  return near ? { kind: 'mention', marker, nearMiss: near[0].slice(0, 200) } : { kind: 'none' };
}

/** The first `<response>` that is not a mention decides, whatever comes later. */
function readResponse(joined: Joined, response: string | undefined): Claim {
  if (response === undefined) return { kind: 'none' };
  const marker = `<response>${response}</response>`;
  let mentioned = false;
  for (const { start, end, content } of tagsIn(joined.text, 'response')) {
    if (isMention(joined, start, end)) {
      mentioned ||= sameText(content, response);
      continue;
    }
    return sameText(content, response) ? { kind: 'done', marker } : { kind: 'none' };
  }
  return mentioned ? { kind: 'mention', marker } : { kind: 'none' };
}

/** `<promise>BLOCKED: why</promise>` and `<promise>DECIDE: question</promise>`, with something to say. */
function readHumanRequest(joined: Joined): Claim | undefined {
  for (const { start, end, content } of tagsIn(joined.text, 'promise')) {
    const [, word, rest] = /^\s*(BLOCKED|DECIDE):([\s\S]*)$/.exec(content) ?? [];
    const text = rest?.trim();
    if (!text || isMention(joined, start, end)) continue;
    return word === 'BLOCKED' ? { kind: 'blocked', why: text } : { kind: 'decide', question: text };
  }
  return undefined;
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
