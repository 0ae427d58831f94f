/**
 * Tells a claim from a mention: "I will not output <tag> yet" speaks of the tag, it does not claim anything.
 * Structure decides first (a tag alone on its line, after a finished sentence, in the middle of one), English words
 * second. A wrong "mention" costs one iteration, in which the agent is told to put the tag alone on a line; a wrong
 * "claim" is a false "done".
 */
export type Joined = { readonly text: string; readonly breaks: readonly number[] };

const BEFORE = 800;
const AFTER = 400;
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
  const from = Math.max(lastBreak(breaks, start), start - BEFORE, 0);
  const to = Math.min(nextBreak(breaks, end, text.length), end + AFTER);
  const before = text.slice(from, start);
  const after = text.slice(end, to);
  const lineBefore = before.slice(before.lastIndexOf('\n') + 1);
  const lineAfter = untilNewline(after);

  if (UNCHECKED_BOX.test(lineBefore) || inListing(before, after)) return true;
  const item = lineBefore.replace(LIST_MARK, '');
  if (!WORD.test(item) && !WORD.test(lineAfter)) {
    if (NUMBERED.test(lineBefore) && NUMBERED.test(previousLine(before))) return true;
    return speaksOfTag(leadIn(before), continuation(after));
  }
  const prefix = lastSentence(before.slice(0, before.length - lineBefore.length) + item);
  const suffix = firstSentence(after);
  if (isQuoted(lineBefore, lineAfter) && (WORD.test(prefix) || WORD.test(suffix))) return true;
  if (LIST_MARK.test(lineBefore) && IMPERATIVE.test(prefix)) return true;
  if (RUNS_ON.test(suffix) || (WORD_LAST.test(prefix) && WORD_FIRST.test(suffix))) return true;
  return isObject(prefix) || speaksOfTag(prefix, suffix);
}

const WORD = /[\p{L}\p{N}]/u;
/** A word that touches the tag, but for blanks, marks and quotes. */
const WORD_LAST = /[\p{L}\p{N}][\s`"'“‘(*_]*$/u;
const WORD_FIRST = /^[\s`"'”’)*_]*[\p{Ll}\p{Lo}]/u;
/** The sentence goes on behind the tag. */
const RUNS_ON =
  /^[\s`"'”’)*_]*(?:is|was|are|were|be|means|as|at|when|because|and|or|but|which|that|has|had|have|can|could|does|did|ends|in|on|to|for|from|of|by|with|printed|would|will|should|must|may|might|only|once|until|before|after|if|so|then)\b/;
const LIST_MARK = /^\s*(?:[-*•+]|\d+[.)])\s+/;
const NUMBERED = /^\s*\d+[.)]\s/;
const UNCHECKED_BOX = /^\s*[-*•+]\s+\[ \]/;

const VERB =
  '(?:outputt?|emitt?|print|say|said|writ|wrote|write|send|return|produc|giv|gave|post|includ|add|declar|claim|us|putt?|typ|respond|repl|answer|finish|end|signal|issu|provid|announc|show|display|report|stat|submitt?|conclud|mark|mention|contain|earn|deserv|reach)(?:e|es|s|ed|ing|y|ies|ied|ying|en|ten)?';
/** Words that may stand between a verb and the tag that it governs. */
const OBJECT =
  '(?:\\s+(?:the|a|an|this|that|my|our|your|its|exact|exactly|final|completion|following|literal|promise|tag|marker|token|string|line|word|signal|text|message|just|only|out|with|as|of|by|saying|simply|below|now|here|it|alone|on))*[\\s"\'`“‘(:*_—–-]*$';
/** At most `n` words of the same clause. */
const gap = (n: number): string => `(?:(?!(?:has|have|had|was|were|is|are)\\b)[^\\s;:]+\\s+){0,${n}}?`;
const NEGATION =
  "(?:not|never|cannot|no|without|nor|neither|unable\\s+to|refus\\w*|avoid\\w*|refrain\\w*|withhold\\w*|instead\\s+of|rather\\s+than|too\\s+(?:early|soon)|premature\\w*|almost|nearly|wrongly|\\w+n['’]t)";
const FUTURE =
  "(?:will|\\w+['’]ll|shall|going\\s+to|gonna|would|\\w+['’]d|plan(?:ning)?\\s+to|intend(?:ing)?\\s+to|about\\s+to|supposed\\s+to|expected\\s+to|(?:have|has|need|needs|want|wants|ought|asked|told|instructed|required|remember)\\s+to|must|should|might|could|then|later|eventually|todo|next)";
const CONDITION =
  '(?:if|when|once(?!\\s+(?:again|more)\\b)|until|till|unless|whenever|as\\s+soon\\s+as|only\\s+after|provided|in\\s+case|before|otherwise)';

const NEGATED = new RegExp(`\\b${NEGATION}\\s+${gap(6)}${VERB}${OBJECT}`, 'i');
const NEGATED_DIRECTLY =
  /\b(?:no|not|without|never|nor|withhold\w*|hold(?:ing)?\s+(?:off|back)(?:\s+on)?|instead\s+of|rather\s+than)(?:\s+(?:yet|a|the|any|final|my|that|this))?\s*[`"'“‘(*_]*$/i;
const IN_FUTURE = new RegExp(`(?:^|[^\\w])${FUTURE}\\s+${gap(5)}${VERB}${OBJECT}`, 'i');
/** What makes the present of a future: "I will now output", "therefore I must output". */
const NOW = /\b(?:now|hereby|herewith|therefore|thus|hence|accordingly)\b/i;
const CONDITIONAL = new RegExp(`\\b${CONDITION}\\b`, 'i');
const STARTS_CONDITIONAL = new RegExp(`^[\\s\\W]*(?:only\\s+)?${CONDITION}\\b`, 'i');
const EMITS = new RegExp(`\\b${VERB}${OBJECT}`, 'i');
const IMPERATIVE = new RegExp(`^\\s*(?:\\[.\\]\\s*)?(?:then\\s+|finally,?\\s+)?${VERB}${OBJECT}`, 'i');
const FIRST_PERSON = new RegExp(
  `\\b(?:I|we)(?:['’](?:m|ve|re))?\\s+(?:(?:am|have|are|can|now|hereby|herewith|therefore|thus|confidently|finally|also|will|must|should)\\s+)*${VERB}${OBJECT}`,
  'i',
);
/** Words of a heading or lead-in behind which a tag is a plan, an example or a quotation. */
const LEADS_TO_MENTION =
  /\b(?:next|remaining|plan|todo|to-do|pending|goal|later|blocked|otherwise|missing|rejected|wrong(?:ly)?|mistake|instructions?|examples?|format|syntax|usage|grep|found|log|says?|said|asked|contains?|means|called|defined)\b/i;
/** Words after which a tag is a part of the sentence. */
const TAKES_OBJECT =
  /\b(?:for|from|to|of|with|as|than|the|an?|this|that|is|was|were|are|be|been|then|before|until|after|like|called|named|contains?|mentions?|mentioned|found|saw|sees?|wrote|claimed|earned|reached|tag|marker|promise|token|string|word|text|line|about|without|by|into|in|at|via|equals?|matches)[\s`"'“‘(*_]*$/i;
const AFTERWARDS =
  /\b(?:yet|until|till|when|once|unless|if|only|before|later|as soon as|not|never|would|will|should|must|cannot|\w+n['’]t|means|signals|tells)\b/i;

/** "ready for <tag>", "the marker is <tag>", "it contains <tag>": the tag is a word of the sentence. */
function isObject(prefix: string): boolean {
  const open = prefix.trimEnd();
  if (/[:—–]$/.test(open)) return false;
  if (FIRST_PERSON.test(prefix) && !/\b(?:wrote|claimed|mentioned|reached|earned)\b/i.test(prefix))
    return false;
  return TAKES_OBJECT.test(prefix) || EMITS.test(prefix);
}

function speaksOfTag(prefix: string, suffix: string): boolean {
  if (AFTERWARDS.test(suffix)) return true;
  if (NEGATED.test(prefix) || NEGATED_DIRECTLY.test(prefix)) return true;
  if (STARTS_CONDITIONAL.test(prefix)) return true;
  if (CONDITIONAL.test(prefix) && EMITS.test(prefix)) return true;
  if (IN_FUTURE.test(prefix) && !NOW.test(prefix)) return true;
  return /[:—–]\s*$/.test(prefix) && LEADS_TO_MENTION.test(prefix);
}

/** A tag alone on its line belongs to the line before if that one ends in a colon, or in the verb that governs it. */
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
    if (/[:—–]$/.test(open)) return lastSentence(open);
    return !blank && EMITS.test(open) ? lastSentence(open) : '';
  }
  return '';
}

/** The line right after a tag that stands alone, if the sentence runs on there. */
function continuation(after: string): string {
  const next = after.split('\n')[1] ?? '';
  return /^\s*\p{Ll}/u.test(next) ? firstSentence(next) : '';
}

/** Inside a code fence that holds commands or code, not the tag alone. */
function inListing(before: string, after: string): boolean {
  const open = before.lastIndexOf('```');
  const isInside = open !== -1 && count(before, '```') % 2 === 1;
  if (!isInside) return false;
  const close = after.indexOf('```');
  const listing = `${before.slice(open)}\n${close === -1 ? after : after.slice(0, close)}`;
  return /^\s*[$>]\s|\b(?:echo|printf|print|console\.log|grep|cat|return)\b/m.test(
    listing.split('\n').slice(1).join('\n'),
  );
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
function continues(text: string, block: string): boolean {
  const end = text.slice(-60);
  if (block.startsWith('<') && EMITS.test(end)) return true;
  const begins =
    /[\p{Ll}\p{Lu}\p{N}.!?…)]$/u.test(end) && /^[\p{Lu}\p{Extended_Pictographic}<*#>_-]/u.test(block);
  return !begins || insideTag(text);
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
      .findLast((line) => line.trim() !== '') ?? ''
  );
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
