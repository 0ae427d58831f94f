import { fencesIn, formOf, joinBlocks, type MentionForm } from './claim-form.ts';
import type { Completion } from './loop.ts';

/** What the agent's own text says about being done. */
export type Claim =
  | { readonly kind: 'none' }
  /** The tag was only mentioned, or was almost right; `written` is the tag as the agent wrote it. */
  | {
      readonly kind: 'mention';
      readonly marker: string;
      readonly form: MentionForm;
      readonly written: string;
    }
  | { readonly kind: 'done'; readonly marker: string }
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
  const forHuman = hasTag ? readHumanRequest(text) : null;
  // What the agent said last counts: it may have been blocked for a while, or have found a question after its claim.
  if (forHuman && (!done || forHuman.at > done.at)) return forHuman.claim;
  if (done) return done.claim;
  if (completion.pattern !== undefined && patternMatched) return { kind: 'done', marker: completion.pattern };
  if (completion.tasks !== undefined && tasksDone) return { kind: 'done', marker: completion.tasks };
  return claims.find(({ claim }) => claim.kind === 'mention')?.claim ?? none;
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
type Reading = { readonly claim: Claim; readonly at: number };

const none: Claim = { kind: 'none' };
const anyTag = /<(?:promise|response)>/i;
const nothing: Reading = { claim: none, at: -1 };

function readPromise(text: string, promise: Completion['promise']): Reading {
  if (!promise) return nothing;
  const marker = promiseMarker(promise.token);
  const done = (at: number): Reading => (at === -1 ? nothing : { claim: { kind: 'done', marker }, at });
  if (promise.match === 'lenient') return done(text.search(lenientPromise(promise.token)));
  if (promise.match === 'substring') return done(text.lastIndexOf(marker));

  let claimed = nothing;
  let mention = nothing;
  let nearMiss = nothing;
  for (const { start: at, written, content, readForm } of tagsIn(text, 'promise')) {
    if (written === marker) {
      const form = readForm();
      if (form === 'claim') claimed = done(at);
      else mention = { claim: { kind: 'mention', marker, form, written }, at };
    } else if (sameWords(content, promise.token)) nearMiss = nearMissOf(marker, written, at);
  }
  return [claimed, mention, nearMiss].find((reading) => reading !== nothing) ?? nothing;
}

/** The first `<response>` that is not a mention decides, whatever comes later. */
function readResponse(text: string, response: string | undefined): Reading {
  if (response === undefined) return nothing;
  const marker = `<response>${response}</response>`;
  let mention = nothing;
  for (const { start: at, written, content, readForm } of tagsIn(text, 'response')) {
    const form = readForm();
    const isExact = sameText(content, response);
    if (form === 'claim' && isExact) return { claim: { kind: 'done', marker }, at };
    if (form === 'claim') return sameWords(content, response) ? nearMissOf(marker, written, at) : mention;
    if (isExact) mention = { claim: { kind: 'mention', marker, form, written }, at };
  }
  return mention;
}

function nearMissOf(marker: string, written: string, at: number): Reading {
  return { claim: { kind: 'mention', marker, form: 'near-miss', written: written.slice(0, 200) }, at };
}

/** The last `<promise>BLOCKED: why</promise>` or `<promise>DECIDE: question</promise>` with something to say. */
function readHumanRequest(text: string): Reading | null {
  let last: Reading | null = null;
  for (const { start: at, content, readForm } of tagsIn(text, 'promise')) {
    const [, word, rest] = /^\s*(BLOCKED|DECIDE):([\s\S]*)$/.exec(content) ?? [];
    const request = rest?.trim();
    if (!request || readForm() !== 'claim') continue;
    last = {
      claim: word === 'BLOCKED' ? { kind: 'blocked', why: request } : { kind: 'decide', question: request },
      at,
    };
  }
  return last;
}

type Tag = {
  readonly start: number;
  /** The whole tag as it stands in the text. */
  readonly written: string;
  readonly content: string;
  readonly readForm: () => 'claim' | MentionForm;
};

/** Finds `<name>…</name>` in any case in linear time; a tag with another opening inside starts at the inner one. */
function* tagsIn(text: string, name: string): Generator<Tag> {
  const opening = new RegExp(`<${name}>`, 'gi');
  const closing = new RegExp(`</${name}>`, 'gi');
  const fences = fencesIn(text);
  let fence = fences.next();
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
    const end = close.index + close[0].length;
    while (!fence.done && fence.value.end < end) fence = fences.next();
    const around = !fence.done && fence.value.start < start ? fence.value : null;
    const written = text.slice(start, end);
    const readForm = () => {
      if (!around) return formOf(text, start, end);
      return around.content.trim() === written ? formOf(text, around.start, around.end) : 'code';
    };
    yield { start, written, content: text.slice(start + open[0].length, close.index), readForm };
    open = next;
  }
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
