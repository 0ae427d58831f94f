type Output = { write(text: string): unknown };

/** The alternate screen of a terminal; only lines that changed are written. */
export type Screen = {
  enter(): void;
  /** Shows these lines from the top; there have to be as many as the terminal has rows. */
  draw(lines: readonly string[]): void;
  /** The next draw writes every line: the terminal has another size, or somebody else wrote to it. */
  forget(): void;
  /** Gives the terminal back as it was. Can be called at any time, and twice. */
  leave(): void;
};

// Nothing wraps: a character whose width we misjudge must not push the lines below.
const enter = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const leave = '\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';
const [begin, end] = ['\x1b[?2026h', '\x1b[?2026l'];

export function createScreen(output: Output): Screen {
  let isUp = false;
  let shown: readonly string[] = [];
  return {
    enter() {
      isUp = true;
      shown = [];
      output.write(enter);
    },
    draw(lines) {
      if (!isUp) return;
      const clear = shown.length === 0 ? '\x1b[2J' : '';
      const changed = lines.flatMap((line, row) =>
        line === shown[row] ? [] : [`\x1b[${row + 1};1H\x1b[K${line}\x1b[0m`],
      );
      shown = [...lines];
      if (changed.length > 0) output.write(`${begin}${clear}${changed.join('')}${end}`);
    },
    forget() {
      shown = [];
    },
    leave() {
      if (isUp) output.write(leave);
      isUp = false;
    },
  };
}
