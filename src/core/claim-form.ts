import type { Tag } from './tags.ts';

/** The forms in which a completion tag is only mentioned. */
export type MentionForm =
  | 'sentence'
  | 'quoted'
  | 'checkbox'
  | 'struck'
  | 'comment'
  | 'table'
  | 'question'
  | 'announced'
  | 'list-item'
  | 'code'
  | 'near-miss';

/** Words that tell completion. Right before a tag that ends its sentence, one makes it a claim. */
const COMPLETES = new Set(
  `done finished complete completed fixed added written submitted pass passing passed ready implemented merged green
  verified resolved working works deployed updated created committed met successfully`.split(/\s+/),
);
/** Words that defer, and the short forms of some. One of them in that clause makes the tag a mention. */
const DEFERS = new Set(
  `not 't never cannot until when once if unless will 'll would 'd should must shall before then yet later soon almost
  nearly half pending`.split(/\s+/),
);

/** Characters that are read on either side of a tag; the bound keeps thousands of tags on one line linear. */
const REACH = 1000;
const EMOJI = '\\p{So}\\p{Emoji_Modifier}\\uFE0F\\u20E3';
const MARKUP = '\\s\\p{Cf}*_`"\'“”„‘’«»‹›「」『』()\\[\\]';
const LIST_MARK = /^[\s>]*(?:[-*+•‣]|\d{1,3}[.)]|[a-zA-Z]\))\s+/;
const TICKED_BOX = /^\s*\[[xX✓✔]\]/;
const OPEN_BOX = /^\s*(?:\[ ?\]|[☐⬜🔲])/u;
const REMARK = /^[\s*_`"'”’»)\]]*(?:[([:;—–：；]|-\s)([^.!?…。！？]*)/u;

/** Reads in which form a tag stands in the text: as a claim, or as a mention. docs/done.md has the rule. */
export function readForm(text: string, { start, end, written, fence }: Tag): 'claim' | MentionForm {
  if (!fence) return formOf(text, start, end);
  const isLone = fence.content.replace(/^[ \t>]+/gm, '').trim() === written;
  return isLone ? formOf(text, fence.start, fence.end) : 'code';
}

/** Reads the form of what stands at [start, end): a tag, or a fence that holds only a tag. */
function formOf(text: string, start: number, end: number): 'claim' | MentionForm {
  const before = text.slice(Math.max(0, start - REACH), start);
  const behind = text.slice(end, end + REACH);
  const lead = before.slice(before.lastIndexOf('\n') + 1);
  const rest = behind.split('\n', 1)[0] ?? '';

  if (before.lastIndexOf('<!--') > before.lastIndexOf('-->') && behind.includes('-->')) return 'comment';
  const item = lead.replace(LIST_MARK, '');
  if (OPEN_BOX.test(item)) return 'checkbox';
  if (isStruck(lead, rest)) return 'struck';
  if (/^[\s>]*\|/.test(lead)) return 'table';
  if (/^[?？]/.test(trimMarkupStart(rest))) return 'question';

  const words = item.replace(TICKED_BOX, '');
  if (isOnlyMarks(words)) {
    const moreFollows = /[\p{L}\p{N}]/u.test(behind);
    if (moreFollows && LIST_MARK.test(lead)) return 'list-item';
    if (isOnlyMarks(rest)) {
      return moreFollows && isAnnounced(before.slice(0, before.length - lead.length)) ? 'announced' : 'claim';
    }
  }
  if (endsSentence(rest) && (endsClause(words) || tellsCompletion(words))) return 'claim';
  return isQuoted(lead, rest) ? 'quoted' : 'sentence';
}

/** True if the line above is a heading or ends in a colon or a dash. */
function isAnnounced(above: string): boolean {
  const line = above.split('\n').findLast((text) => /[^\s>]/.test(text)) ?? '';
  return /^[\s>]*#{1,6}\s/.test(line) || /(?:[:：—–]|\s-)$/.test(trimMarkupEnd(line));
}

function isStruck(lead: string, rest: string): boolean {
  if (lead.split('~~').length % 2 === 0 && rest.includes('~~')) return true;
  return /<(?:s|del|strike)>[^<]*$/i.test(lead) || /[❌✖✗✘🚫⛔]\uFE0F?[\s*_`]*$/u.test(lead);
}

/** True if nothing but marks follows, a new sentence, or a remark (in brackets, behind a dash) that does not defer. */
function endsSentence(rest: string): boolean {
  if (isOnlyMarks(rest)) return true;
  const remark = REMARK.exec(rest)?.[1];
  return remark === undefined ? isNewSentence(trimMarkupStart(rest)) : !defers(remark);
}

function endsClause(words: string): boolean {
  const clause = trimMarkupEnd(words);
  return isOnlyMarks(clause) || isClauseEnd(clause);
}

function tellsCompletion(words: string): boolean {
  const clause =
    trimMarkupEnd(words)
      .split(/[.!?…:;—–。！？：；]\s/u)
      .at(-1) ?? '';
  const last = /([\p{L}'’]+),?$/u.exec(clause)?.[1]?.toLowerCase() ?? '';
  return COMPLETES.has(last) && !defers(clause);
}

function defers(clause: string): boolean {
  const words =
    clause
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/'?\p{L}+/gu) ?? [];
  return words.some((word) => DEFERS.has(word));
}

function isQuoted(lead: string, rest: string): boolean {
  const inCode = lead.split('`').length % 2 === 0 && rest.includes('`');
  return inCode || (/["“„'‘«‹「『]$/.test(lead) && /^[.,]?["”“'’»›」』]/.test(rest));
}

// Built where a turn has a tag: the sets of Unicode take V8 half a millisecond, and most turns have none.

function isOnlyMarks(text: string): boolean {
  return new RegExp(`^[>#=→${MARKUP}${EMOJI}.,!…。！:：;；—–-]*$`, 'u').test(text);
}

function isClauseEnd(text: string): boolean {
  return new RegExp(`(?:[.!?…:;—–。！？：；।؟۔]|\\s-|[${EMOJI}])$`, 'u').test(text);
}

function isNewSentence(text: string): boolean {
  const dots = `[.!…。！]+[${MARKUP}]*(?![.!…。！${MARKUP}\\p{Ll}])`;
  return new RegExp(`^(?:[\\p{Lu}\\p{N}${EMOJI}¿¡]|<(?:promise|response)>|${dots})`, 'u').test(text);
}

function trimMarkupStart(text: string): string {
  return text.replace(new RegExp(`^[${MARKUP}]+`, 'u'), '');
}

function trimMarkupEnd(text: string): string {
  return text.replace(new RegExp(`(?<![${MARKUP}])[${MARKUP}]+$`, 'u'), '');
}
