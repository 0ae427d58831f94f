type Output = { write(text: string): unknown };

// Nothing wraps: a character whose width we misjudge must not push the lines below.
const enter = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const leave = '\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';
const [begin, end] = ['\x1b[?2026h', '\x1b[?2026l'];

/** The alternate screen of a terminal; writes only lines that changed. */
export function createScreen(output: Output) {
  let isUp = false;
  let current: readonly string[] = [];
  return {
    enter(): void {
      isUp = true;
      current = [];
      output.write(enter);
    },
    /** Shows these lines, as many as the terminal has rows. */
    draw(lines: readonly string[]): void {
      if (!isUp) return;
      const clear = current.length === 0 ? '\x1b[2J' : '';
      const changes = lines.flatMap((line, row) =>
        line === current[row] ? [] : [`\x1b[${row + 1};1H\x1b[K${line}\x1b[0m`],
      );
      current = [...lines];
      if (changes.length > 0) output.write(`${begin}${clear}${changes.join('')}${end}`);
    },
    /** Makes the next draw write every line: the size changed, or somebody else wrote to the terminal. */
    forget(): void {
      current = [];
    },
    /** Restores the terminal. Can be called at any time, and twice. */
    leave(): void {
      if (isUp) output.write(leave);
      isUp = false;
    },
  };
}
