/** A piece of a terminal's screen and the classes that give it its look. */
export type Piece = { readonly text: string; readonly classes: string };

type Colours = { readonly front?: string | undefined; readonly back?: string | undefined };
type Look = Colours & Readonly<Partial<Record<'bold' | 'dim' | 'italic' | 'underline' | 'inverse', boolean>>>;

/** Styles that a code switches on or off; colours are read apart. */
const switches: Readonly<Record<number, Look>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { front: undefined },
  49: { back: undefined },
};

const esc = String.fromCharCode(27);
const bell = String.fromCharCode(7);
/** Colours, with their numbers; then what is left out: other sequences, titles, and single control characters. */
const sequence = new RegExp(
  [
    `${esc}\\[([\\d;:]*)m`,
    `${esc}\\[[\\d;?]*[ -/]*[@-~]`,
    `${esc}\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)`,
    `${esc}.`,
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f]',
  ].join('|'),
  'g',
);

/** Text with colour sequences to pieces; every other control sequence is left out. */
export function readAnsi(text: string): Piece[] {
  const pieces: Piece[] = [];
  let look: Look = {};
  let at = 0;
  for (const match of text.matchAll(sequence)) {
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), classes: classesOf(look) });
    at = match.index + match[0].length;
    if (match[1] !== undefined) look = apply(look, match[1].split(/[;:]/).map(Number));
  }
  if (at < text.length) pieces.push({ text: text.slice(at), classes: classesOf(look) });
  return pieces;
}

function apply(look: Look, codes: readonly number[]): Look {
  let next = look;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 38 || code === 48) {
      const isIndexed = codes[i + 1] === 5;
      const colour = isIndexed ? near256(codes[i + 2] ?? 0) : nearRgb(codes.slice(i + 2, i + 5));
      next = { ...next, [code === 38 ? 'front' : 'back']: colour };
      i += isIndexed ? 2 : 4;
    } else next = code === 0 ? {} : { ...next, ...switches[code], ...colourOf(code) };
  }
  return next;
}

function colourOf(code: number): Colours {
  if (code >= 30 && code <= 37) return { front: `${code - 30}` };
  if (code >= 40 && code <= 47) return { back: `${code - 40}` };
  if (code >= 90 && code <= 97) return { front: `${code - 82}` };
  return code >= 100 && code <= 107 ? { back: `${code - 92}` } : {};
}

/** The page has sixteen colours, which fit both of its looks; others become the nearest. */
function near256(index: number): string {
  if (index < 16) return String(index);
  if (index >= 232) return index < 244 ? '8' : '7';
  const cube = index - 16;
  return nearRgb([Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51]);
}

function nearRgb([red = 0, green = 0, blue = 0]: readonly number[]): string {
  const most = Math.max(red, green, blue);
  if (most < 60) return '8';
  if (most - Math.min(red, green, blue) < 40) return most > 200 ? '15' : '7';
  const bits = (red > most * 0.6 ? 1 : 0) + (green > most * 0.6 ? 2 : 0) + (blue > most * 0.6 ? 4 : 0);
  return String(most > 200 ? bits + 8 : bits);
}

function classesOf({ front, back, ...looks }: Look): string {
  const names = ['bold', 'dim', 'italic', 'underline', 'inverse'] as const;
  const classes = [...names.filter((name) => looks[name]), front && `f${front}`, back && `b${back}`];
  return classes.filter(Boolean).join(' ');
}
