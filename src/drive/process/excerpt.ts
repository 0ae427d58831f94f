export type Excerpt = { readonly text: string; readonly truncated: boolean };

/** Most characters that are kept of the beginning and of the end of an output while it is collected. */
const keptChars = 256 * 1024;
/** Words and signs by which test runners and compilers tell a failure. */
const failure = /\b(?:fail(?:ed|ures?|ing|s)?|errors?|not ok|panic(?:ked)?|exception|assert\w*)\b|[✗✘✖❌]/i;

/** Collects an output of any length; `end` returns its excerpt. */
export function createExcerpt(max: number) {
  let text = '';
  let dropped = 0;
  return {
    push(part: string): void {
      text += part;
      if (text.length <= keptChars * 4) return;
      dropped += text.length - keptChars * 2;
      text = text.slice(0, keptChars) + text.slice(-keptChars);
    },
    end: (): Excerpt => excerptOf(text, max, dropped),
  };
}

/**
 * Returns the first fifth of `max` characters and, since test runners tell failures last, the others from the end. Lines
 * between that look like failures take up to half of the others.
 */
function excerptOf(text: string, max: number, dropped: number): Excerpt {
  if (dropped === 0 && text.length <= max) return { text, truncated: false };
  const head = text.slice(0, Math.floor(max / 5)).replace(/[\ud800-\udbff]$/, '');
  const others = max - head.length;
  const between = (tailChars: number) =>
    failureLines(text.slice(head.length, text.length - tailChars), others / 2);
  // The lines before a longer tail are fewer, so they fit where those before the shortest tail do.
  const tailChars = between(others) === '' ? others : others - between(Math.ceil(others / 2)).length;
  const tail = text.slice(text.length - tailChars).replace(/^[\udc00-\udfff]/, '');
  const lines = between(tailChars);
  const left = text.length + dropped - head.length - lines.length - tail.length;
  return { text: `${head}\n... [${left} characters truncated]\n${lines}${tail}`, truncated: true };
}

function failureLines(text: string, max: number): string {
  let lines = '';
  for (const line of text.split('\n')) {
    if (lines.length + line.length < max && failure.test(line)) lines += `${line}\n`;
  }
  return lines;
}
