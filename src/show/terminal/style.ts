type Env = Readonly<Record<string, string | undefined>>;

/** Each symbol as a picture and as plain ASCII. */
const symbols = {
  pass: ['✅', '[OK]'],
  fail: ['❌', '[ERR]'],
  warn: ['⚠️', '[WARN]'],
  tool: ['⏺', '*'],
  from: ['←', '<-'],
  output: ['⎿', '>'],
  more: ['…', '...'],
  todo: ['📋', '[TODO]'],
  active: ['🔄', '[>]'],
  pending: ['⏸️', '[ ]'],
  progress: ['📊', '[%]'],
  iteration: ['🔁', '=='],
  run: ['▶', '>'],
  wait: ['⏳', '[WAIT]'],
  login: ['🔑', '[LOGIN]'],
  'usage-limit': ['⌛', '[LIMIT]'],
  overload: ['🐌', '[BUSY]'],
  'context-full': ['📚', '[CONTEXT]'],
  'no-credit': ['💳', '[CREDIT]'],
  again: ['↻', '>'],
} as const;

export type Style = ReturnType<typeof createStyle>;

export type StyleOptions = {
  readonly env: Env;
  readonly isTTY: boolean;
  readonly columns?: number | undefined;
  /** What `--color` says; `auto` asks the environment. */
  readonly flag?: 'always' | 'never' | 'auto';
};

/** Decides colour and symbols once, from the flag, the environment and the stream. */
export function createStyle({ env, isTTY, columns, flag = 'auto' }: StyleOptions) {
  const color = flag === 'auto' ? wantsColor(env, isTTY) : flag === 'always';
  const emoji = wantsEmoji(env);
  const paint = (on: number, off: number) => (text: string) =>
    color && text !== '' ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return {
    color,
    emoji,
    /** Columns to wrap at; infinite if the output is no terminal. */
    columns: (isTTY && columns) || Number.POSITIVE_INFINITY,
    dim: paint(2, 22),
    bold: paint(1, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
    symbol: (name: keyof typeof symbols): string => symbols[name][emoji ? 0 : 1],
  };
}

function wantsColor(env: Env, isTTY: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  if (env.CLICOLOR_FORCE && env.CLICOLOR_FORCE !== '0') return true;
  return isTTY && env.TERM !== 'dumb' && env.CLICOLOR !== '0';
}

function wantsEmoji(env: Env): boolean {
  if (env.NO_EMOJI || env.RALPH_EMOJI === '0' || env.TERM === 'dumb') return false;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  return !locale || /utf-?8/i.test(locale);
}
