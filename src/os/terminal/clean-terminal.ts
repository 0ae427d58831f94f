/** Cleans text that comes in pieces; the pieces may be cut anywhere. */
export type TerminalCleaner = { push(chunk: string): string; end(): string };

/** Longest control sequence; what follows counts as text again. */
const longestSequence = 4096;

/** Controls but newline and tab, bidi overrides and isolates, tag characters, and the lone half of a tag. */
const special = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|\udb40/gu;

/** Matches text with nothing to take out, which most is. */
const plain = /^[\x20-\x7e\n\t]*$/;

const esc = 0x1b;

type State = 'text' | 'escape' | 'charset' | 'csi' | 'osc' | 'string';

/** States by the byte after ESC: CSI, OSC, then DCS, SOS, PM and APC. */
const introducers = new Map<number, State>([
  [0x5b, 'csi'],
  [0x5d, 'osc'],
  [0x50, 'string'],
  [0x58, 'string'],
  [0x5e, 'string'],
  [0x5f, 'string'],
]);

/**
 * Takes out everything that could drive a terminal or reorder what it shows.
 * Newlines, tabs and printable text stay as they are; a carriage return becomes a newline.
 */
export function cleanTerminal(text: string): string {
  if (plain.test(text)) return text;
  const cleaner = createTerminalCleaner();
  return cleaner.push(text) + cleaner.end();
}

/** The same as `cleanTerminal` for a stream: however it is cut, the joined output is the same. */
export function createTerminalCleaner(): TerminalCleaner {
  let state: State = 'text';
  let swallowed = 0;
  let half = '';

  function clean(text: string): string {
    let out = '';
    let at = 0;
    while (at < text.length) {
      if (state === 'text') {
        if (at === 0 && plain.test(text)) return text;
        special.lastIndex = at;
        const match = special.exec(text);
        if (match === null) return out + text.slice(at);
        out += text.slice(at, match.index);
        at = match.index + match[0].length;
        if (match[0] === '\r' && text[at] !== '\n') out += '\n';
        state = opens(match[0].charCodeAt(0));
        swallowed = 0;
        continue;
      }
      const code = text.codePointAt(at) ?? 0;
      const next = swallowed < longestSequence ? follow(state, code) : null;
      state = next ?? 'text';
      if (next === null) continue;
      swallowed += 1;
      at += code > 0xffff ? 2 : 1;
    }
    return out;
  }

  return {
    push(chunk) {
      const text = half + chunk;
      half = isHalf(text.charCodeAt(text.length - 1)) ? text.slice(-1) : '';
      return clean(half === '' ? text : text.slice(0, -1));
    },
    end() {
      const last = clean(half);
      half = '';
      state = 'text';
      return last;
    },
  };
}

/** True for a CR, which may belong to a CRLF, and a high surrogate: only the next chunk tells. */
function isHalf(code: number): boolean {
  return code === 0x0d || (code >= 0xd800 && code <= 0xdbff);
}

function opens(code: number): State {
  if (code === esc) return 'escape';
  // A C1 control is the one-character form of ESC and the character 0x40 below it.
  return introducers.get(code - 0x40) ?? 'text';
}

/** Returns the state after `code`; null if it is not part of the sequence and has to be read as text. */
function follow(state: State, code: number): State | null {
  if (state === 'osc' || state === 'string') return followString(state, code);
  if (code < 0x20 || code > 0x7e) return null;
  if (state === 'csi') return code < 0x40 ? 'csi' : 'text';
  if (code < 0x30) return 'charset';
  return state === 'escape' ? (introducers.get(code) ?? 'text') : 'text';
}

function followString(state: State, code: number): State | null {
  const cancelled = code === esc || code === 0x18 || code === 0x1a || (code >= 0x80 && code <= 0x9f);
  if (cancelled) return null;
  if (state === 'string') return state;
  if (code === 0x07) return 'text';
  return code === 0x0a || code === 0x0d ? null : state;
}
