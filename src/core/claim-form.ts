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

/** Words that tell completion: right before a tag at the end of a sentence, they make it a claim. */
const COMPLETES = new Set(
  `done finished complete completed fixed added written submitted pass passing passed ready implemented merged green
  verified resolved working works deployed updated created committed met`.split(/\s+/),
);
/** Words that defer: one of them in that clause makes the tag a mention. */
const DEFERS = new Set(
  `not never cannot until till when whenever once if unless will would should must shall before then yet later soon
  almost nearly half pending`.split(/\s+/),
);
const DEFERRING_ENDING = /n['’]t$|['’](?:ll|d)$/;

/** Characters looked at on either side of a tag: a bound keeps thousands of tags on one line linear. */
const REACH = 1000;
const WORD = /[\p{L}\p{N}]/u;
const EMOJI = '\\p{So}\\p{Emoji_Modifier}\\uFE0F\\u20E3';
const MARKUP = '\\s\\p{Cf}*_`"\'“”„‘’«»‹›「」『』()\\[\\]';
const LIST_MARK = /^[\s>]*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[xX✓✔]\]\s*)?/;
const OPEN_BOX = /^[\s>]*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[ ?\]|[☐⬜🔲])/u;
const ONLY_MARKS = new RegExp(`^[>#${MARKUP}${EMOJI}.,!…。！:：;；—–-]*$`, 'u');
const MARKUP_AT_END = new RegExp(`(?<![${MARKUP}])[${MARKUP}]+$`, 'u');
const MARKUP_AT_START = new RegExp(`^[${MARKUP}]+`, 'u');
const CLAUSE_END = new RegExp(`(?:[.!?…:;—–。！？：；।؟۔]|\\s-|</(?:promise|response)>|[${EMOJI}])$`, 'iu');
const NEW_SENTENCE = new RegExp(
  `^(?:[\\p{Lu}\\p{N}${EMOJI}¿¡]|<(?:promise|response)>|[.!…。！]+[${MARKUP}]*(?![.!…。！${MARKUP}\\p{Ll}]))`,
  'u',
);
const REMARK = /^[\s*_`"'”’»)\]]*(?:[([:;—–：；]|-\s)([^.!?…。！？]*)/u;
const BLOCK_END = /[\p{Ll}\p{Lu}\p{N}\p{So}.!?…:;)>|。！？]$/u;
const BLOCK_START = /^(?:[>#-]+\s*|[*_`]*)[\p{Lu}\p{N}\p{So}<]/u;
const FENCE = /^[ \t>]*(`{3,}|~{3,})[^\n`]*(?=\n)([\s\S]*?)(?:(\n[ \t>]*\1[`~]*[ \t\r]*)$|$(?![\s\S]))/gm;

/** Reads how the tag at [start, end) stands in the text: as a claim, or as a mention. docs/done.md has the rule. */
export function formOf(text: string, start: number, end: number): 'claim' | MentionForm {
  const before = text.slice(Math.max(0, start - REACH), start);
  const behind = text.slice(end, end + REACH);
  const lead = before.slice(before.lastIndexOf('\n') + 1);
  const rest = behind.split('\n', 1)[0] ?? '';

  if (before.lastIndexOf('<!--') > before.lastIndexOf('-->') && behind.includes('-->')) return 'comment';
  if (OPEN_BOX.test(lead)) return 'checkbox';
  if (isStruck(lead, rest)) return 'struck';
  if (/^[\s>]*\|/.test(lead) && rest.includes('|')) return 'table';
  if (/^[?？]/.test(rest.replace(MARKUP_AT_START, ''))) return 'question';

  const words = lead.replace(LIST_MARK, '');
  if (ONLY_MARKS.test(words)) {
    const moreFollows = WORD.test(behind);
    if (moreFollows && LIST_MARK.test(lead)) return 'list-item';
    if (ONLY_MARKS.test(rest)) {
      return moreFollows && isAnnounced(before.slice(0, before.length - lead.length)) ? 'announced' : 'claim';
    }
  }
  if (endsSentence(rest) && (endsClause(words) || tellsCompletion(words))) return 'claim';
  return isQuoted(lead, rest) ? 'quoted' : 'sentence';
}

/** Finds the closed code fences of a text, in order. */
export function* fencesIn(text: string): Generator<{ start: number; end: number; content: string }> {
  for (const { index, 0: all, 2: content = '', 3: close } of text.matchAll(FENCE)) {
    if (close !== undefined) yield { start: index, end: index + all.length, content };
  }
}

/**
 * Joins text blocks as they are, since a tag may be cut in two. A block that starts or ends with a tag gets a new line,
 * unless the border may lie within a sentence: at a blank, at markup that opens or closes, before a small letter.
 */
export function joinBlocks(blocks: readonly string[]): string {
  const parts = blocks.flatMap((block, i) => {
    const last = blocks[i - 1]?.slice(-20) ?? '';
    const meetsTag =
      /^[>#*_`-]{0,3}<(?:promise|response)>/i.test(block) || /<\/(?:promise|response)>$/i.test(last);
    const isBorder = meetsTag && BLOCK_END.test(last) && BLOCK_START.test(block);
    return isBorder ? ['\n', block] : [block];
  });
  return parts.join('');
}

/** The line above leads to the tag: a heading, or a line that ends in a colon or a dash. */
function isAnnounced(above: string): boolean {
  const line = above.trimEnd().split('\n').at(-1) ?? '';
  if (!WORD.test(line)) return false;
  return /^[\s>]*#{1,6}\s/.test(line) || /(?:[:：—–]|\s-)$/.test(line.replace(MARKUP_AT_END, ''));
}

function isStruck(lead: string, rest: string): boolean {
  if (lead.split('~~').length % 2 === 0 && rest.includes('~~')) return true;
  return /<(?:s|del|strike)>[^<]*$/i.test(lead) || /[❌✖✗✘🚫⛔]\uFE0F?[\s*_`]*$/u.test(lead);
}

/** Nothing but marks follows, a new sentence, or a remark (in brackets, behind a dash) that defers nothing. */
function endsSentence(rest: string): boolean {
  const remark = REMARK.exec(rest)?.[1];
  if (ONLY_MARKS.test(rest)) return true;
  return remark === undefined ? NEW_SENTENCE.test(rest.replace(MARKUP_AT_START, '')) : !defers(remark);
}

function endsClause(words: string): boolean {
  const clause = words.replace(MARKUP_AT_END, '');
  return ONLY_MARKS.test(clause) || CLAUSE_END.test(clause);
}

function tellsCompletion(words: string): boolean {
  const clause =
    words
      .replace(MARKUP_AT_END, '')
      .split(/[.!?…:;—–。！？：；]\s/u)
      .at(-1) ?? '';
  const last = /([\p{L}'’]+),?$/u.exec(clause)?.[1]?.toLowerCase() ?? '';
  return COMPLETES.has(last) && !defers(clause);
}

function defers(clause: string): boolean {
  const words = clause.toLowerCase().match(/[\p{L}'’]+/gu) ?? [];
  return words.some((word) => DEFERS.has(word) || DEFERRING_ENDING.test(word));
}

function isQuoted(lead: string, rest: string): boolean {
  const inCode = lead.split('`').length % 2 === 0 && rest.includes('`');
  return inCode || (/["“„'‘«‹「『]$/.test(lead) && /^[.,]?["”“'’»›」』]/.test(rest));
}
