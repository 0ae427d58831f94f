export type Tag = {
  readonly start: number;
  readonly end: number;
  /** The whole tag, character by character. */
  readonly written: string;
  readonly content: string;
  /** Closed code fence around it. */
  readonly fence?: Fence;
};

type Fence = { readonly start: number; readonly end: number; readonly content: string };

// Skips a fence without an end, so that the search stays linear.
const FENCE = /^[ \t>]*(`{3,}|~{3,})[^\n`]*(?=\n)([\s\S]*?)(?:(\n[ \t>]*\1[`~]*[ \t\r]*)$|$(?![\s\S]))/gm;

/**
 * Joins text blocks as they are, since a tag may be cut in two. A block that starts or ends with a tag gets a new line,
 * unless the border may lie within a sentence: at a blank, at markup that opens or closes, before a small letter.
 */
export function joinBlocks(blocks: readonly string[]): string {
  const parts = blocks.flatMap((block, i) => {
    const last = blocks[i - 1]?.slice(-20) ?? '';
    const meetsTag =
      /^[>#*_`-]{0,3}<(?:promise|response)>/i.test(block) || /<\/(?:promise|response)>$/i.test(last);
    return meetsTag && isSentenceEnd(last) && isSentenceStart(block) ? ['\n', block] : [block];
  });
  return parts.join('');
}

// Sets of Unicode take V8 half a millisecond to build, so these are built only where blocks meet at a tag.
function isSentenceEnd(text: string): boolean {
  return /(?:[\p{Ll}\p{Lu}\p{N}\p{So}.!?…:;)|。！？]|<\/\w+>)$/u.test(text);
}

function isSentenceStart(text: string): boolean {
  return /^(?:[>#-]+\s*|[*_`]*)(?:[\p{Lu}\p{N}\p{So}]|<\w)/u.test(text);
}

/** Finds `<name>…</name>` in any case in linear time; a tag with another opening inside starts at the inner one. */
export function* tagsIn(text: string, name: 'promise' | 'response'): Generator<Tag> {
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
    yield {
      start,
      end,
      written: text.slice(start, end),
      content: text.slice(start + open[0].length, close.index),
      ...(!fence.done && fence.value.start < start ? { fence: fence.value } : {}),
    };
    open = next;
  }
}

function* fencesIn(text: string): Generator<Fence> {
  for (const { index, 0: all, 2: content = '', 3: close } of text.matchAll(FENCE)) {
    if (close !== undefined) yield { start: index, end: index + all.length, content };
  }
}
