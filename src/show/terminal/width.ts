/** Characters that take two columns: East Asian wide and full width forms, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const zero = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const plain = /^[\x20-\x7e]*$/;
const paint = String.raw`\x1b\[[\d;]*m`;
const painted = new RegExp(paint, 'g');
const atPaint = new RegExp(`(${paint})`);

/** Returns the columns that a text takes on a terminal; our own colours take none. */
export function widthOf(text: string): number {
  const bare = text.replace(painted, '');
  if (plain.test(bare)) return bare.length;
  let width = 0;
  for (const char of bare) width += charWidth(char);
  return width;
}

/** Cuts a text to so many columns, with an ellipsis if something is missing. Ends colours. */
export function cutTo(text: string, columns: number, ellipsis = '…'): string {
  if (widthOf(text) <= columns) return text;
  const room = columns - widthOf(ellipsis);
  if (room < 0) return '';
  let out = '';
  let width = 0;
  let isPainted = false;
  for (const part of text.split(atPaint)) {
    if (part.startsWith('\x1b')) {
      out += part;
      isPainted = true;
      continue;
    }
    for (const char of part) {
      width += charWidth(char);
      if (width > room) return `${out}${ellipsis}${isPainted ? '\x1b[0m' : ''}`;
      out += char;
    }
  }
  return out;
}

/** Cuts or pads a text to exactly so many columns. */
export function fitTo(text: string, columns: number, ellipsis?: string): string {
  const line = cutTo(text, columns, ellipsis);
  return line + ' '.repeat(Math.max(0, columns - widthOf(line)));
}

/** Breaks a text into lines of at most so many columns, at spaces if there are any. */
export function wrapTo(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '  ').trimEnd(), columns));
}

function wrapLine(line: string, columns: number): string[] {
  const lines: string[] = [];
  let current = '';
  let width = 0;
  for (const word of line.split(/(?<=\s)/)) {
    const size = widthOf(word);
    if (width > 0 && width + widthOf(word.trimEnd()) > columns) {
      lines.push(current.trimEnd());
      current = '';
      width = 0;
    }
    if (size <= columns) {
      current += word;
      width += size;
      continue;
    }
    for (const char of word) {
      const one = charWidth(char);
      if (width + one > columns) {
        lines.push(current);
        current = '';
        width = 0;
      }
      current += char;
      width += one;
    }
  }
  return [...lines, current.trimEnd()];
}

function charWidth(char: string): number {
  if (zero.test(char)) return 0;
  return wide.test(char) ? 2 : 1;
}
