/** A piece of a terminal's screen and the classes that give it its look. */
export type Piece = { readonly text: string; readonly classes: string };

type Look = {
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  front: string;
  back: string;
};

const plain: Look = {
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  front: '',
  back: '',
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
  let look = plain;
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
  let next = { ...look };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) next = { ...plain };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 7) next.inverse = true;
    else if (code === 22) Object.assign(next, { bold: false, dim: false });
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code === 27) next.inverse = false;
    else if (code === 39) next.front = '';
    else if (code === 49) next.back = '';
    else if (code >= 30 && code <= 37) next.front = String(code - 30);
    else if (code >= 90 && code <= 97) next.front = String(code - 82);
    else if (code >= 40 && code <= 47) next.back = String(code - 40);
    else if (code >= 100 && code <= 107) next.back = String(code - 92);
    else if (code === 38 || code === 48) {
      const colour = codes[i + 1] === 5 ? near256(codes[i + 2] ?? 0) : nearRgb(codes.slice(i + 2, i + 5));
      next[code === 38 ? 'front' : 'back'] = colour;
      i += codes[i + 1] === 5 ? 2 : 4;
    }
  }
  return next;
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

function classesOf({ bold, dim, italic, underline, inverse, front, back }: Look): string {
  return [
    bold && 'bold',
    dim && 'dim',
    italic && 'italic',
    underline && 'underline',
    inverse && 'inverse',
    front !== '' && `f${front}`,
    back !== '' && `b${back}`,
  ]
    .filter(Boolean)
    .join(' ');
}
