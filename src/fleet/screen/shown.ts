import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';

const shownLines = 20;
/** Braille and block spinners, the stars of Claude Code, quarter circles: one of them where a word would begin. */
const spinner = /(?<![^\s│┃])[\u2800-\u28ff✢✣✤✳✶✻✽✦✧·*∗⋆◐◓◑◒◴◷◶◵⣾|/\\⏺●○∙⬝■▪]+(?=\s|$)/gu;
const elapsed = /\b\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b/gi;
const clock = /\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\s?(?:[ap]m)?\b/gi;
const dots = /[.…]{1,3}(?=\s|$)/g;

/** The last 20 lines that show something, without escape codes and without blanks at their ends. */
export function lastLines(lines: readonly string[]): string[] {
  const shown: string[] = [];
  for (let at = lines.length - 1; at >= 0 && shown.length < shownLines; at--) {
    const line = cleanTerminal(lines[at] ?? '').trimEnd();
    if (line !== '') shown.push(line);
  }
  return shown.reverse();
}

/** A line without what moves by itself: spinners, elapsed times, clocks. It stays while nothing happens. */
export function withoutMotion(line: string): string {
  const still = line.replace(spinner, ' ').replace(elapsed, ' ').replace(clock, ' ').replace(dots, ' ');
  return still.replace(/\s+/g, ' ').trim();
}
