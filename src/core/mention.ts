/**
 * Tells a claim from a mention: "I will not output <tag> yet" speaks of the tag, it does not claim anything.
 * English cues only. A wrong "mention" costs one iteration (the agent is told to put the tag alone on a line);
 * a wrong "claim" is a false "done". So doubt counts as a mention only where the sentence has one of the cues.
 */
export type Joined = { readonly text: string; readonly breaks: readonly number[] };

const BEFORE = 600;
const AFTER = 300;
/** A tag is not longer than this. */
const END = 200;

/** Joins text blocks so that a tag cut by a block border is whole, and notes where one thought ends and another begins. */
export function joinBlocks(blocks: readonly string[]): Joined {
  const breaks: number[] = [];
  let length = 0;
  // Only the end matters to what follows; looking at the whole for every block would be quadratic.
  let end = '';
  for (const block of blocks) {
    if (length > 0 && block !== '' && !continues(end, block)) breaks.push(length);
    length += block.length;
    end = block.length < END ? (end + block).slice(-END) : block.slice(-END);
  }
  return { text: blocks.join(''), breaks };
}

/** Whether the tag at [start, end) is only spoken of. */
export function isMention({ text, breaks }: Joined, start: number, end: number): boolean {
  const from = Math.max(lastBreak(breaks, start), start - BEFORE, 0);
  const to = Math.min(nextBreak(breaks, end, text.length), end + AFTER);
  const before = text.slice(from, start);
  const after = text.slice(end, to);
  const lineBefore = before.slice(before.lastIndexOf('\n') + 1);
  const lineAfter = untilNewline(after);

  if (UNCHECKED_BOX.test(lineBefore)) return true;
  if (!WORD.test(lineBefore) && !WORD.test(lineAfter)) {
    return speaksOfTag(leadIn(before), continuation(after));
  }
  const prefix = lastSentence(before);
  const suffix = firstSentence(after);
  if (isQuoted(lineBefore, lineAfter) && (WORD.test(prefix) || WORD.test(suffix))) return true;
  if (LIST_ITEM.test(lineBefore) && IMPERATIVE.test(lineBefore)) return true;
  return speaksOfTag(prefix, suffix);
}

const WORD = /[\p{L}\p{N}]/u;
const LIST_ITEM = /^\s*(?:[-*•+]|\d+[.)])\s/;
const UNCHECKED_BOX = /^\s*[-*•+]\s+\[ \]/;

const VERB =
  '(?:output|outputt|emit|emitt|print|say|said|write|writ|wrote|send|return|produc|giv|gave|post|includ|add|declar|claim|us|put|putt|typ|respond|repl|answer|finish|end|signal|issu|provid|announc|show|display|report|stat|submit|submitt|conclud|mark)(?:e|es|s|ed|ing|y|ies|ied|ying)?';
const NOUN = '(?:promise|tag|marker|token|signal|completion|line|word|string)';
/** At most `n` words, none of which ends the clause. */
const gap = (n: number): string => `(?:[^\\s;:]+\\s+){0,${n}}?`;
const NEGATION =
  "(?:not|never|cannot|no|without|nor|neither|refus\\w*|avoid\\w*|refrain\\w*|withhold\\w*|hold(?:ing)?\\s+(?:off|back)|instead\\s+of|rather\\s+than|too\\s+(?:early|soon)|premature\\w*|\\w+n['’]t)";
const FUTURE =
  "(?:will|\\w+['’]ll|shall|going\\s+to|gonna|would|\\w+['’]d|plan(?:ning)?\\s+to|intend(?:ing)?\\s+to|about\\s+to|supposed\\s+to|expected\\s+to|(?:have|has|need|needs|want|wants|ought|asked|told|instructed|required|remember)\\s+to|must|should|might|could|then|later|eventually|todo|next)";
const CONDITION =
  '(?:if|when|once|until|till|unless|whenever|as\\s+soon\\s+as|only\\s+after|provided|in\\s+case|before)';

const NEGATED = new RegExp(`\\b${NEGATION}\\s+${gap(6)}(?:${VERB}|${NOUN})\\b${tail(6)}`, 'i');
const NEGATED_DIRECTLY =
  /\b(?:no|not|without|never|nor|withhold\w*|hold(?:ing)?\s+(?:off|back)(?:\s+on)?|instead\s+of|rather\s+than)(?:\s+(?:yet|a|the|any|final|my|that|this))?\s*[`"'“‘(*_]*$/i;
const IN_FUTURE = new RegExp(`(?:^|[^\\w])${FUTURE}\\s+${gap(5)}${VERB}\\b${tail(6)}`, 'i');
const NOW = /\b(?:now|hereby|herewith)\b/i;
const CONDITIONAL = new RegExp(`\\b${CONDITION}\\b`, 'i');
const STARTS_CONDITIONAL = new RegExp(`^[\\s\\W]*(?:only\\s+)?${CONDITION}\\b`, 'i');
const EMITS = new RegExp(`\\b${VERB}\\b${tail(6)}`, 'i');
const IMPERATIVE = new RegExp(
  `^\\s*(?:[-*•+]|\\d+[.)])\\s+(?:\\[.\\]\\s*)?(?:then\\s+|finally,?\\s+)?${VERB}\\b${tail(4)}`,
  'i',
);
const AFTERWARDS =
  /\b(?:yet|until|till|when|once|unless|if|only|before|later|as soon as|not|never|would|will|should|must|cannot|\w+n['’]t|means|signals|tells)\b/i;

function tail(words: number): string {
  return `\\W*(?:[^\\s;]+\\s+){0,${words}}[^\\s;]*\\s*$`;
}

function speaksOfTag(prefix: string, suffix: string): boolean {
  if (AFTERWARDS.test(suffix)) return true;
  if (NEGATED.test(prefix) || NEGATED_DIRECTLY.test(prefix)) return true;
  if (STARTS_CONDITIONAL.test(prefix)) return true;
  if (CONDITIONAL.test(prefix) && EMITS.test(prefix)) return true;
  return IN_FUTURE.test(prefix) && !NOW.test(prefix);
}

/** A tag alone on its line belongs to the sentence before it if that one ends in a colon or has not ended. */
function leadIn(before: string): string {
  const lines = before.split('\n').slice(0, -1);
  let blank = false;
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = (lines[i] ?? '').trimEnd();
    if (!WORD.test(line)) {
      blank ||= line.trim() === '';
      continue;
    }
    const open = line.replace(/[*_`"'”’)\s]+$/, '');
    if (open.endsWith(':')) return lastSentence(open.slice(0, -1));
    return blank || /[.!?…。！？]$/.test(open) ? '' : lastSentence(line);
  }
  return '';
}

/** The line right after a tag that stands alone, if the sentence runs on there. */
function continuation(after: string): string {
  const next = after.split('\n')[1] ?? '';
  return /^\s*\p{Ll}/u.test(next) ? firstSentence(next) : '';
}

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

/** A new thought starts where a finished word meets, without white space, something that can only be a beginning. */
function continues(end: string, block: string): boolean {
  const begins =
    /[\p{L}\p{N}.!?…)]$/u.test(end.slice(-2)) && /^[\p{Lu}\p{Extended_Pictographic}<*#>_-]/u.test(block);
  return !begins || insideTag(end);
}

function insideTag(end: string): boolean {
  const open = end.lastIndexOf('<');
  return open !== -1 && (!end.includes('>', open) || /^<promise>|^<response>/i.test(end.slice(open)));
}

function count(text: string, char: string): number {
  return text.split(char).length - 1;
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
