import type { Pattern } from '../../core/pattern.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';

/** `echoed` tells whether the prompt was seen on the screen, now or before. */
type DoneCheck = { readonly done: boolean; readonly echoed: boolean };

/** Length of the beginning of a prompt that is on no screen by chance. */
const tellingLength = 40;
/** A shorter prompt may be a part of what the agent says, unless it is alone on its line. */
const shortLength = 12;
const borders = /^[\s│┃▏▎▍▌▐╎╏]+|[\s│┃▕▐╎╏]+$/gu;

/** Looks at one screen; give `echoed` from the look before. */
export type DoneLook = (lines: readonly string[], echoedBefore?: boolean) => DoneCheck;

/**
 * Returns a look for the pattern on a screen, outside the prompt. An interactive agent shows its prompt wrapped, framed,
 * cut off, or with its beginning out of sight. With `echoedBefore`, the end of a prompt on top of the screen counts as
 * the prompt.
 */
export function doneLook(pattern: Pattern, prompt: string): DoneLook {
  const promptLetters = lettersOf(cleanTerminal(prompt));
  const head = promptLetters.slice(0, tellingLength);
  return (rawLines, echoedBefore = false) => {
    const lines = rawLines.map((line) => cleanTerminal(line).replace(borders, ''));
    const isThere = matches(pattern, lines);
    if (promptLetters === '') return { done: isThere, echoed: echoedBefore };
    const hasHead = () => lettersOf(lines.join('')).includes(head);
    // Nearly every look ends here.
    if (!isThere && (echoedBefore || !hasHead())) return { done: false, echoed: echoedBefore };
    const { letters, places } = spell(lines);
    const isAlone = ([start, end]: Span) =>
      places[start - 1]?.[0] !== places[start]?.[0] && places[end - 1]?.[0] !== places[end]?.[0];
    const spans = echoesIn(letters, promptLetters, echoedBefore).filter(
      (span) => promptLetters.length >= shortLength || isAlone(span),
    );
    const echoed = echoedBefore || spans.length > 0;
    return { done: isThere && matches(pattern, blank(lines, spans, places)), echoed };
  };
}

type Span = readonly [start: number, end: number];
type Place = readonly [line: number, column: number];

/** Returns the places of the prompt in the letters of a screen, whole or cut off. */
function echoesIn(letters: string, prompt: string, mayBeCut: boolean): Span[] {
  const spans: Span[] = [];
  if (mayBeCut) {
    const length = tailOnTop(letters, prompt);
    if (length > 0) spans.push([0, length]);
  }
  const head = prompt.slice(0, tellingLength);
  for (let at = letters.indexOf(head); at !== -1; at = letters.indexOf(head, at + head.length)) {
    spans.push([at, at + commonLength(letters, at, prompt)]);
  }
  return spans;
}

/** Returns the length of the longest end of the prompt that the screen begins with. */
function tailOnTop(letters: string, prompt: string): number {
  for (let length = Math.min(letters.length, prompt.length); length > 0; length--) {
    if (letters.startsWith(prompt.slice(prompt.length - length))) return length;
  }
  return 0;
}

function commonLength(letters: string, from: number, prompt: string): number {
  let length = 0;
  while (length < prompt.length && letters[from + length] === prompt[length]) length++;
  return length;
}

/** Returns letters and digits only: frames, wrapping and bullets differ. */
function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '');
}

function spell(lines: readonly string[]): { letters: string; places: Place[] } {
  let letters = '';
  const places: Place[] = [];
  lines.forEach((line, row) => {
    for (const match of line.matchAll(/[\p{L}\p{N}]/gu)) {
      letters += match[0];
      // A letter beyond the basic plane is two units long, as it is in `letters`.
      for (const _ of match[0].split('')) places.push([row, match.index]);
    }
  });
  return { letters, places };
}

/** Returns the lines with the spans blanked out. */
function blank(lines: readonly string[], spans: readonly Span[], places: readonly Place[]): string[] {
  const result = [...lines];
  for (const [start, end] of spans) {
    const [firstRow, firstColumn] = places[start] ?? [0, 0];
    const [lastRow, lastColumn] = places[end - 1] ?? [0, 0];
    for (let row = firstRow; row <= lastRow; row++) {
      const line = result[row] ?? '';
      const from = row === firstRow ? firstColumn : 0;
      const to = row === lastRow ? lastColumn + 1 : line.length;
      result[row] = line.slice(0, from) + ' '.repeat(Math.max(0, to - from)) + line.slice(to);
    }
  }
  return result;
}

function matches(pattern: Pattern, lines: readonly string[]): boolean {
  return pattern.test(lines.join('\n')) || pattern.test(unwrapped(lines));
}

/** Joins what a program wrapped by itself: a line goes on in the next if the next word had no room in it. */
function unwrapped(lines: readonly string[]): string {
  const width = Math.max(0, ...lines.map((line) => line.trimEnd().length));
  let text = '';
  let room = 0;
  for (const line of lines) {
    const word = /^\s*(\S+)/.exec(line)?.[1] ?? '';
    const goesOn = text !== '' && word !== '' && room < word.length + 1 && room < width;
    text += goesOn ? ` ${line.trim()}` : `\n${line}`;
    room = line.trim() === '' ? width : width - line.trimEnd().length;
  }
  return text;
}
