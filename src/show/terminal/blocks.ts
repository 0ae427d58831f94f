/** `lines` and `tools` are lists that grow; each block of the other kinds stands alone. */
export type BlockKind = 'text' | 'tools' | 'lines' | 'alone';

/** Output in blocks with one blank line between them. Nothing is written before `flush`. */
export type Blocks = {
  /** Goes on with the open text; newlines wait until something follows them. */
  text(chunk: string): void;
  /** Whole lines, after the open text if there is any. */
  add(kind: Exclude<BlockKind, 'text'>, lines: readonly string[]): void;
  endText(): void;
  flush(): void;
  /** Ends the text; what comes next needs no blank line before it. */
  end(): void;
};

/** `prefix` goes before each line that is not empty. */
export function createBlocks(write: (text: string) => void, prefix: () => string): Blocks {
  let out = '';
  let atLineStart = true;
  let last: BlockKind | null = null;
  let textIsOpen = false;
  let newlines = 0;

  function put(text: string): void {
    const start = prefix();
    if (start === '') {
      out += text;
      return;
    }
    for (const piece of text.split(/(?<=\n)/)) {
      if (atLineStart && piece !== '\n') out += start;
      out += piece;
      atLineStart = piece.endsWith('\n');
    }
  }

  function begin(kind: BlockKind): void {
    const goesOn = kind === last && (kind === 'tools' || kind === 'lines');
    if (last !== null && !goesOn) put('\n');
    last = kind;
  }

  function text(chunk: string): void {
    const from = textIsOpen ? 0 : leadingNewlines(chunk);
    const to = chunk.length - trailingNewlines(chunk);
    if (to <= from) {
      newlines += textIsOpen ? chunk.length : 0;
      return;
    }
    if (!textIsOpen) begin('text');
    textIsOpen = true;
    put('\n'.repeat(newlines) + chunk.slice(from, to));
    newlines = chunk.length - to;
  }

  function endText(): void {
    if (textIsOpen) put('\n');
    textIsOpen = false;
    newlines = 0;
  }

  function flush(): void {
    if (out !== '') write(out);
    out = '';
  }

  return {
    text,
    endText,
    flush,
    add(kind, lines) {
      endText();
      begin(kind);
      put(`${lines.join('\n')}\n`);
    },
    end() {
      endText();
      flush();
      last = null;
    },
  };
}

function leadingNewlines(text: string): number {
  let count = 0;
  while (text[count] === '\n') count += 1;
  return count;
}

function trailingNewlines(text: string): number {
  let count = 0;
  while (text[text.length - 1 - count] === '\n') count += 1;
  return count;
}
