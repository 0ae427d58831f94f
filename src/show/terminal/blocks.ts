/** Blocks of `lines` and of `tools` grow; each block of the other kinds stands alone. */
export type BlockKind = 'text' | 'tools' | 'lines' | 'alone';

/**
 * Writes output in blocks with a blank line between them, and nothing before `flush`. `prefix` is put before each line
 * that is not empty.
 */
export function createBlocks(write: (text: string) => void, prefix: () => string) {
  const { put, flush } = createBuffer(write, prefix);
  let last: BlockKind | null = null;
  let textIsOpen = false;
  let newlines = 0;

  function begin(kind: BlockKind): void {
    const goesOn = kind === last && (kind === 'tools' || kind === 'lines');
    if (last !== null && !goesOn) put('\n');
    last = kind;
  }

  function endText(): void {
    if (textIsOpen) put('\n');
    textIsOpen = false;
    newlines = 0;
  }

  return {
    /** Continues the open text; newlines wait until something follows them. */
    text(chunk: string): void {
      const from = textIsOpen ? 0 : chunk.search(/[^\n]|$/);
      const to = chunk.length - trailingNewlines(chunk);
      if (to <= from) {
        newlines += textIsOpen ? chunk.length : 0;
        return;
      }
      if (!textIsOpen) begin('text');
      textIsOpen = true;
      put('\n'.repeat(newlines) + chunk.slice(from, to));
      newlines = chunk.length - to;
    },
    endText,
    flush,
    /** Adds whole lines after the open text. */
    add(kind: Exclude<BlockKind, 'text'>, lines: readonly string[]): void {
      endText();
      if (lines.length === 0) return;
      begin(kind);
      put(`${lines.join('\n')}\n`);
    },
    /** Ends the text; the next block needs no blank line before it. */
    end(): void {
      endText();
      flush();
      last = null;
    },
  };
}

function createBuffer(write: (text: string) => void, prefix: () => string) {
  let out = '';
  let atLineStart = true;
  return {
    put(text: string): void {
      const start = prefix();
      if (start === '') {
        out += text;
        return;
      }
      for (const line of text.split(/(?<=\n)/)) {
        if (atLineStart && line !== '\n') out += start;
        out += line;
        atLineStart = line.endsWith('\n');
      }
    },
    flush(): void {
      if (out !== '') write(out);
      out = '';
    },
  };
}

function trailingNewlines(text: string): number {
  let count = 0;
  while (text[text.length - 1 - count] === '\n') count += 1;
  return count;
}
