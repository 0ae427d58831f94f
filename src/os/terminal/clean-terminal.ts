/** Cleans text that comes in pieces; the pieces may be cut anywhere. */
export type TerminalCleaner = { push(chunk: string): string; end(): string };

/** Longest control sequence; what follows counts as text again. */
const longest = 4096;
/** What ends a string of a terminal before its time: ESC, CAN, SUB and the controls of one character above ASCII. */
const cancel = String.raw`\x18\x1a\x1b\x80-\x9f`;

/** Beginnings of control sequences: CSI, OSC, then DCS, SOS, PM and APC, and escapes with a character set. */
const csi = String.raw`(?:\x1b\[|\x9b)[\x20-\x3f]{0,${longest - 1}}`;
const osc = String.raw`(?:\x1b\]|\x9d)[^\x07\n\r${cancel}]{0,${longest - 1}}`;
const strings = String.raw`(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^${cancel}]{0,${longest - 1}}`;
const charset = String.raw`\x1b[\x20-\x2f]{0,${longest - 1}}`;

/** Control sequences, controls but newline and tab, bidi overrides and isolates, tag characters, the lone half of a tag. */
const special = new RegExp(
  [
    String.raw`${csi}[\x40-\x7e]?|${osc}\x07?|${strings}|${charset}[\x30-\x7e]?|\r\n?`,
    String.raw`[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|\udb40`,
  ].join('|'),
  'gu',
);
/** A sequence that may go on in the next chunk, the CR of a CRLF, or the first half of a character. */
const unfinished = new RegExp(String.raw`(?:${csi}|${osc}|${strings}|${charset}|\r|[\ud800-\udbff])$`, 'u');
/** Matches text with nothing to take out, which most is. */
const plain = /^[\x20-\x7e\n\t]*$/;

/**
 * Takes out everything that could drive a terminal or reorder what it shows.
 * Newlines, tabs and printable text stay as they are; a carriage return becomes a newline.
 */
export function cleanTerminal(text: string): string {
  return plain.test(text) ? text : text.replace(special, (match) => (match.startsWith('\r') ? '\n' : ''));
}

/** The same as `cleanTerminal` for a stream: however it is cut, the joined output is the same. */
export function createTerminalCleaner(): TerminalCleaner {
  let rest = '';
  return {
    push(chunk) {
      const text = rest + chunk;
      rest = plain.test(text) ? '' : (unfinished.exec(text)?.[0] ?? '');
      return cleanTerminal(text.slice(0, text.length - rest.length));
    },
    end() {
      const last = cleanTerminal(rest);
      rest = '';
      return last;
    },
  };
}
