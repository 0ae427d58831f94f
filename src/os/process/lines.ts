export type LineSplitter = ReturnType<typeof createLineSplitter>;

const newline = 10;
const carriageReturn = 13;
const defaultMaxLineBytes = 128 * 1024 * 1024;

/**
 * Delivers lines without `\n` or `\r\n`. A line inside one chunk is a view of it, a longer one is joined once; a line
 * above `maxLineBytes` is dropped while it arrives, and only its size is reported.
 */
export function createLineSplitter(
  onLine: (line: Buffer) => void,
  options: { readonly maxLineBytes?: number; readonly onOversize?: (bytes: number) => void } = {},
) {
  const { maxLineBytes = defaultMaxLineBytes, onOversize } = options;
  let parts: Buffer[] = [];
  let bytes = 0;

  function hold(part: Buffer): void {
    bytes += part.length;
    if (bytes <= maxLineBytes) parts.push(part);
    else if (parts.length > 0) parts = [];
  }

  function deliver(line: Buffer, size: number): void {
    if (size > maxLineBytes) onOversize?.(size);
    else onLine(line[size - 1] === carriageReturn ? line.subarray(0, -1) : line);
  }

  function deliverParts(): void {
    const [line, size] = [Buffer.concat(parts), bytes];
    parts = [];
    bytes = 0;
    deliver(line, size);
  }

  return {
    push(chunk: Buffer): void {
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        const part = chunk.subarray(start, end);
        start = end + 1;
        if (bytes === 0) {
          deliver(part, part.length);
          continue;
        }
        hold(part);
        deliverParts();
      }
      if (start < chunk.length) hold(start === 0 ? chunk : chunk.subarray(start));
    },
    /** Delivers a last line without a newline: the stream is over. */
    end(): void {
      if (bytes > 0) deliverParts();
    },
  };
}
