import * as words from './mention-words.ts';

/**
 * Tells a claim from a mention: "I will not output <tag> yet" speaks of the tag, it does not claim anything.
 * Structure decides first (a tag alone on its line, after a finished sentence, in the middle of one), English words
 * second. A wrong "mention" costs one iteration, in which the agent is told to put the tag alone on a line; a wrong
 * "claim" is a false "done".
 */
export type Joined = { readonly text: string; readonly breaks: readonly number[] };

const BEFORE = 800;
const AFTER = 400;
/** How far back a code fence may begin. */
const FENCED = 64 * 1024;
/** More than the end of a text that a block border is judged by. */
const END = 200;

/** Where one thought ends and another begins, of blocks that are joined. */
export function breaksBetween(blocks: readonly string[]): number[] {
  const breaks: number[] = [];
  let length = 0;
  // What follows is judged by the end of what was before: looking at all of it for each block would be quadratic.
  let end = '';
  for (const block of blocks) {
    if (length > 0 && block !== '' && !continues(end, block)) breaks.push(length);
    length += block.length;
    end = (block.length < END ? end + block : block).slice(-END);
  }
  return breaks;
}

/** Whether the tag at [start, end) is only spoken of. */
export function isMention({ text, breaks }: Joined, start: number, end: number): boolean {
  const from = lastBreak(breaks, start);
  const to = nextBreak(breaks, end, text.length);
  const fence = fenceAround(text.slice(Math.max(from, start - FENCED), start));
  if (!fence) return isMentionBetween(text.slice(from, start), text.slice(end, to));

  const rest = text.slice(end, to);
  const [inside, after] = splitAt(rest, fence.close.exec(rest)?.index ?? rest.length);
  if (!isAlone(fence.inside, inside, text.slice(start, end))) return true;
  return isMentionBetween(text.slice(from, start - fence.length), after.replace(/^\s*[`~]+/, ''));
}

function isMentionBetween(allBefore: string, allAfter: string): boolean {
  const before = allBefore.slice(-BEFORE).replace(/^[ \t]*(?:>[ \t]?)+/gm, '');
  const after = allAfter.slice(0, AFTER).replace(/(?<=\n)[ \t]*(?:>[ \t]?)+/g, '');
  const lineBefore = before.slice(before.lastIndexOf('\n') + 1);
  const lineAfter = untilNewline(after);

  if (isCrossedOut(before, lineBefore, lineAfter)) return true;
  if (words.RETRACTS.test(followingSentences(after))) return true;
  const item = lineBefore.replace(LIST_MARK, '');
  if (!words.WORD.test(item) && !words.WORD.test(lineAfter))
    return isMentionOnItsLine(before, after, lineBefore);

  const prefix = lastSentence(before.slice(0, before.length - lineBefore.length) + item);
  const suffix = firstSentence(after);
  if (isQuoted(lineBefore, lineAfter) && (words.WORD.test(prefix) || words.WORD.test(suffix)))
    return !isQuotedAnswer(prefix, lineAfter);
  if (LIST_MARK.test(lineBefore) && words.IMPERATIVE.test(prefix)) return true;
  const emitsHere = words.EMITS_HERE.test(prefix) && !words.TELLS.test(prefix);
  if (!(emitsHere && words.EXPLAINS.test(suffix))) {
    const adds = words.ADDS.test(suffix) && tellsResult(prefix);
    if (words.RUNS_ON.test(suffix) && !adds && !words.IS_ANSWER.test(suffix)) return true;
  }
  if (!emitsHere && !words.HANDS_OVER.test(prefix) && isPartOf(prefix)) return true;
  return speaksOfTag(prefix, suffix);
}

/** A tag alone on its line. */
function isMentionOnItsLine(before: string, after: string, lineBefore: string): boolean {
  const previous = previousLine(before);
  if (NUMBERED.test(lineBefore) && NUMBERED.test(previous)) {
    if (!words.DONE_ITEM.test(previous.replace(LIST_MARK, ''))) return true;
  }
  if (LIST_MARK.test(lineBefore) && words.LEADS_TO_MENTION.test(listHeading(before))) return true;
  const lead = leadIn(before);
  const next = continuation(after);
  return speaksOfTag(lead, next) || (lead !== '' && next !== '');
}

const LIST_MARK = /^\s*(?:[-*•+]|\d+[.)])\s+/;
const NUMBERED = /^\s*\d+[.)]\s/;
const UNCHECKED_BOX = /^\s*(?:[-*•+]\s+|\d+[.)]\s+)?\[ ?\]/;
const NO_SIGN =
  /(?:[❌✖✗✘🚫⛔🛑⏳⌛🔜⬜☐🔲🔴]\uFE0F?|~~|(?<!:)\/\/|\/\*|<(?:s|del|example|instructions?|rules?|template)>)[\s*_`"'“‘(]*$/iu;

/** Marked as not so by its place: an open box, a question, struck through, a comment, a cell of a table, an example. */
function isCrossedOut(before: string, lineBefore: string, lineAfter: string): boolean {
  if (UNCHECKED_BOX.test(lineBefore) || NO_SIGN.test(lineBefore)) return true;
  if (/^[\s*_`"'”’)]*(?:\?|\.\.|…|[❌✖✗✘🚫⛔])/u.test(lineAfter)) return true;
  if (before.lastIndexOf('<!--') > before.lastIndexOf('-->')) return true;
  return /^\s*\|/.test(lineBefore) && /\|\s*$/.test(lineAfter);
}

/** "ready for <tag>", "the marker is <tag>", "I take back <tag>": the tag is a word of the sentence. */
function isPartOf(prefix: string): boolean {
  if (/[:—–]$/.test(prefix.trimEnd())) return false;
  if (words.TAKES_OBJECT.test(prefix) || words.EMITS.test(prefix) || words.TELLS_NO_RESULT.test(prefix))
    return true;
  if (!words.WORD_LAST.test(prefix) || tellsResult(prefix)) return false;
  return words.GOVERNS.test(prefix) || words.DENIES.test(prefix);
}

function tellsResult(prefix: string): boolean {
  return words.TELLS_RESULT.test(prefix) && !words.TELLS_NO_RESULT.test(prefix);
}

function speaksOfTag(prefix: string, suffix: string): boolean {
  if (/^\s*[([:—–-]/.test(suffix) ? words.REMARK_DEFERS.test(suffix) : words.AFTERWARDS.test(suffix))
    return true;
  if (words.NEGATED.test(prefix) || words.NEGATED_DIRECTLY.test(prefix) || words.NOT_YET.test(prefix))
    return true;
  if (words.STARTS_CONDITIONAL.test(prefix) || words.ENDS_CONDITIONAL.test(prefix)) return true;
  if (words.CONDITIONAL.test(prefix) && words.EMITS.test(prefix)) return true;
  if (words.PLANS.test(prefix)) return true;
  if (!/[:—–]\s*$/.test(prefix)) return words.IN_FUTURE.test(prefix) && !words.NOW.test(prefix);
  if (words.WILL.test(prefix) || words.IN_FUTURE.test(prefix)) {
    const isAct = words.ANNOUNCES.test(prefix) && !words.LATER.test(prefix);
    if (!isAct && !words.NOW.test(prefix)) return true;
  }
  return words.LEADS_TO_MENTION.test(prefix) && !words.LEADS_TO_RESULT.test(prefix);
}

/**
 * A tag alone on its line belongs to the line before if that one is a heading or ends in a colon, or in the verb that
 * governs it.
 */
function leadIn(before: string): string {
  const line = previousLine(before).trimEnd();
  if (/^\s*[$%]\s/.test(line)) return 'printed:';
  const open = line.replace(/[*_`"'”’)\s]+$/, '');
  if (/[:—–]$/.test(open)) return lastSentence(open);
  const [, heading] = /^\s*(?:#+\s+|(?=\*\*[^*]+\*\*$))(.*)$/.exec(line) ?? [];
  if (heading !== undefined) return `${heading}:`;
  return words.EMITS.test(open) ? lastSentence(open) : '';
}

/** The line that a list stands under, if it is a heading. */
function listHeading(before: string): string {
  const lines = before.split('\n').slice(0, -1);
  const above = lines.findLast((line) => words.WORD.test(line) && !LIST_MARK.test(line)) ?? '';
  return /:[*_\s]*$|^\s*#/.test(above) ? above : '';
}

/** The line right after a tag that stands alone, if the sentence runs on there. */
function continuation(after: string): string {
  const next = after.split('\n')[1] ?? '';
  return /^\s*\p{Ll}/u.test(next) ? firstSentence(next) : '';
}

/** The first two sentences behind the tag, as far as they hold words. */
function followingSentences(after: string): string {
  const sentences = after.split(/(?<=[.!?…。！？])\s+|\n/).filter((sentence) => words.WORD.test(sentence));
  return sentences.slice(0, 2).join(' ');
}

type Fence = {
  /** How much of the text before the tag it takes, its opening included. */
  readonly length: number;
  readonly inside: string;
  readonly close: RegExp;
};

/** The code fence that is open at the end of the text. */
function fenceAround(before: string): Fence | null {
  let open: { mark: string; at: number; from: number } | null = null;
  if (!before.includes('```') && !before.includes('~~~')) return null;
  for (const match of before.matchAll(/(?:^|[\s>])(`{3,}|~{3,})([^`\n]*)$/gm)) {
    const [whole, mark = '', info = ''] = match;
    const end = match.index + whole.length;
    if (open === null) open = { mark, at: match.index, from: end };
    else if (mark.startsWith(open.mark) && info.trim() === '') open = null;
  }
  if (open === null || open.from >= before.length) return null;
  return {
    length: before.length - open.at,
    inside: before.slice(open.from),
    close: new RegExp(`^[ \\t>]*${open.mark}`, 'm'),
  };
}

/** Nothing else stands in the fence, except for a line that says the same. */
function isAlone(before: string, after: string, tag: string): boolean {
  const lines = `${before}${tag}${after}`.split('\n').map((line) => line.trim());
  return lines.every((line) => line === '' || line === tag || ALL_DONE.test(line));
}

const ALL_DONE = /^(?:(?:all|everything|task|work)\s+(?:is\s+)?)?(?:done|complete|completed|finished)\W*$/i;

const SENTENCE_END = /[.!?…。！？]["'”’)\]*_]*(?=\s|$)|\n\s*\n|\n\s*(?=[-*•+]\s|\d+[.)]\s|\p{Lu}|```)/gu;

function lastSentence(text: string): string {
  let from = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    const at = match.index + match[0].length;
    if (at < text.length || match[0].startsWith('\n')) from = at;
    else from = text.length;
  }
  return text.slice(from);
}

function firstSentence(text: string): string {
  SENTENCE_END.lastIndex = 0;
  const match = SENTENCE_END.exec(text);
  SENTENCE_END.lastIndex = 0;
  const sentence = match ? text.slice(0, match.index) : text;
  // "<tag> All green" starts a new sentence without a full stop.
  return /^\s+\p{Lu}/u.test(sentence) ? '' : sentence;
}

function isQuoted(lineBefore: string, lineAfter: string): boolean {
  const inCode = /`$/.test(lineBefore) && /^`/.test(lineAfter);
  const inLongerCode = count(lineBefore, '`') % 2 === 1 && lineAfter.includes('`');
  const inQuotes = /["“'‘«]$/.test(lineBefore) && /^[.,]?["”'’»]/.test(lineAfter);
  return inCode || inLongerCode || inQuotes;
}

/** `Final answer: "<tag>"`, with nothing behind it. */
function isQuotedAnswer(prefix: string, lineAfter: string): boolean {
  const lead = prefix.replace(/["“'‘«`\s]+$/, '');
  const isLead =
    /[\p{L}\p{N})*_][:—–]$/u.test(lead) && !words.WORD.test(lineAfter) && !/[}\])|]/.test(lineAfter);
  return isLead && !/\b(?:is|are|was)\s*:$/i.test(lead) && !speaksOfTag(lead, '');
}

/** A new thought starts where a finished word meets, without white space, something that can only be a beginning. */
function continues(text: string, block: string): boolean {
  const end = text.slice(-60);
  if (block.startsWith('<') && words.EMITS.test(end)) return true;
  const begins =
    /[\p{Ll}\p{Lu}\p{N}.!?…)]$/u.test(end) &&
    /^(?:[\p{Lu}\p{Extended_Pictographic}<#>-]|[*_]+[^\s*_])/u.test(block);
  // An abbreviation that was cut in two.
  const sameWord = /\p{Lu}$/u.test(end) && /^\p{Lu}(?!\p{Ll})/u.test(block);
  return !begins || sameWord || insideTag(text);
}

function insideTag(text: string): boolean {
  const end = text.slice(-200);
  const open = end.lastIndexOf('<');
  return open !== -1 && (!end.includes('>', open) || /^<promise>|^<response>/i.test(end.slice(open)));
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function previousLine(before: string): string {
  return (
    before
      .split('\n')
      .slice(0, -1)
      .findLast((line) => words.WORD.test(line)) ?? ''
  );
}

function splitAt(text: string, at: number): [string, string] {
  return [text.slice(0, at), text.slice(at)];
}

function untilNewline(text: string): string {
  const at = text.indexOf('\n');
  return at === -1 ? text : text.slice(0, at);
}

function lastBreak(breaks: readonly number[], at: number): number {
  return breaks.findLast((offset) => offset <= at) ?? 0;
}

function nextBreak(breaks: readonly number[], at: number, otherwise: number): number {
  return breaks.find((offset) => offset >= at) ?? otherwise;
}
