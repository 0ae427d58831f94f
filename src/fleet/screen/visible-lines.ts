import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';

const maxLines = 20;
/** Spinners (braille, blocks, stars, quarter circles) at the beginning of a word. */
const spinner = /(?<![^\s│┃])[\u2800-\u28ff✢✣✤✳✶✻✽✦✧·*∗⋆◐◓◑◒◴◷◶◵⣾|/\\⏺●○∙⬝■▪]+(?=\s|$)/gu;
const elapsed = /\b\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b/gi;
const clock = /\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\s?(?:[ap]m)?\b/gi;
const dots = /[.…]{1,3}(?=\s|$)/g;

/** Returns the last 20 lines that are not blank, without escape codes and trailing blanks. */
export function lastLines(lines: readonly string[]): string[] {
  const visible: string[] = [];
  for (let at = lines.length - 1; at >= 0 && visible.length < maxLines; at--) {
    const line = cleanTerminal(lines[at] ?? '').trimEnd();
    if (line !== '') visible.push(line);
  }
  return visible.reverse();
}

/** Removes what moves by itself from a line: spinners, elapsed times, clocks. */
export function withoutMotion(line: string): string {
  const still = line.replace(spinner, ' ').replace(elapsed, ' ').replace(clock, ' ').replace(dots, ' ');
  return still.replace(/\s+/g, ' ').trim();
}
