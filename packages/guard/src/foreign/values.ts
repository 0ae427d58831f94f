import { decodeBase64, decodeHex, unescapeText } from '../decode.ts';
import { DECODED, NETWORK, PRIVATE, secretOf, secretsIn, UNKNOWN } from '../marks.ts';
import { isSecretName } from '../secret-names.ts';
import { argumentsAt, type Code, closing, endOf, mask, spend } from './code.ts';
import { backwards, characters, decoded, filled, joinPaths, outside, percent } from './texts.ts';

export function evaluate(code: Code, text: string, depth = 0): string {
  if (depth > 20) return UNKNOWN;
  spend(code, text.length);
  const [, , plain] = /^\s*(["'])([^"'\\$#{`]*)\1\s*$/.exec(text) ?? [];
  if (plain !== undefined) return plain;
  const [, pattern] = code.language === 'perl' ? (/^\s*<([^<>]+)>\s*$/.exec(text) ?? []) : [];
  if (pattern !== undefined && /[*/]/.test(pattern))
    return interpolated(code, pattern).replace(/^~(?=\/|$)/, code.home);
  const masked = mask(text, code.language);
  const answer = /[?!]|==|\b(?:if|in|is|not|for|typeof|exists|defined|length)\b/.test(masked)
    ? answerOf(code, text, masked, depth)
    : null;
  if (answer !== null) return answer;
  const [, list, , between = ''] = /^\s*(\[[^\]]*\])\s*\.join\(\s*(["'])(.*?)\2\s*\)\s*$/s.exec(text) ?? [];
  if (list !== undefined) return listOf(code, list)?.join(between) ?? UNKNOWN;
  return readParts({ code, text, masked, depth, at: 0, out: '' });
}

/** An expression that is being read: what came out of it so far, and where the next part begins. */
type Reading = {
  readonly code: Code;
  readonly text: string;
  readonly masked: string;
  readonly depth: number;
  at: number;
  out: string;
};

function readParts(reading: Reading): string {
  const { code, text } = reading;
  while (reading.at < text.length) {
    const rest = text.slice(reading.at);
    if (rest.startsWith('%') && code.language === 'python' && /%[sdr]/.test(reading.out)) {
      const operand = rest.slice(1);
      const values = listOf(code, operand) ?? [evaluate(code, operand, reading.depth + 1)];
      return filled(reading.out, /%[sdr]/g, values);
    }
    if (readText(reading, rest) || readName(reading, rest)) continue;
    const [method] = /^\.\w+/.exec(rest) ?? [];
    if (method !== undefined) {
      const whole = readMethod(reading, method);
      if (whole !== null) return whole;
      continue;
    }
    const literalChar = code.language === 'python' ? /^[\d/]/ : /^\d/;
    reading.out += literalChar.exec(rest)?.[0] ?? '';
    reading.at++;
  }
  return reading.out;
}

function readText(reading: Reading, rest: string): boolean {
  if (rest.startsWith('[::-1]')) {
    reading.out = backwards(reading.out);
    reading.at += 6;
    return true;
  }
  const { code, text } = reading;
  const [, prefix = '', quote = ''] = /^([rbuf]{0,2})("""|'''|["'`])/i.exec(rest) ?? [];
  if (quote === '') return false;
  const at = reading.at + prefix.length;
  const stop = quote.length === 3 ? text.indexOf(quote, at + 3) + 3 : closing(text, at);
  const inner = text.slice(at + quote.length, stop - quote.length);
  reading.out += literal(code, inner, { quote: quote.charAt(0), prefix, depth: reading.depth });
  reading.at = Math.max(stop, at + 1);
  return true;
}

function readName(reading: Reading, rest: string): boolean {
  const { code, text, masked, depth } = reading;
  const [chain = ''] =
    /^[$@%]?[A-Za-z_][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*|\[["']\w+["']\]|\{["']?\w+["']?\})*/.exec(rest) ??
    [];
  if (chain === '') return false;
  reading.at += chain.length;
  if (text[reading.at] !== '(') {
    reading.out += nameValue(code, chain);
    return true;
  }
  const end = endOf(masked, reading.at + 1, '');
  reading.out += callValue(code, chain, text.slice(reading.at + 1, end), depth);
  reading.at = end + 1;
  return true;
}

/** Reads a method; returns the value of the whole expression where the method makes it. */
function readMethod(reading: Reading, method: string): string | null {
  const { code, text, masked, depth } = reading;
  const before = text.slice(0, reading.at);
  reading.at += method.length;
  if (/^\.(homedir|home)$/.test(method)) reading.out = code.home;
  if (method === '.parent') reading.out += '/..';
  if (text[reading.at] !== '(') return null;
  const end = endOf(masked, reading.at + 1, '');
  const inside = text.slice(reading.at + 1, end);
  reading.at = end + 1;
  const args = argumentsAt({ ...code, source: inside, masked: mask(inside, code.language) }, 0);
  const values = () => args.map((arg) => evaluate(code, arg, depth + 1));
  if (/\bpath["']\s*\)$/.test(before) && /^\.(join|resolve)$/.test(method)) return joinPaths(values());
  if (method === '.join' && !(code.language === 'js' && /^(''|""|``)$/.test(inside.trim())))
    return characters(inside) ?? listOf(code, inside)?.join(reading.out) ?? UNKNOWN;
  if (method === '.reverse') reading.out = backwards(reading.out);
  if (method === '.format') reading.out = filled(reading.out, /\{\w*\}/g, values());
  if (method === '.joinpath') reading.out = [reading.out, ...values()].join('/');
  if (method === '.expanduser') reading.out = reading.out.replace(/^~/, code.home);
  return null;
}

export function listOf(code: Code, text: string): string[] | null {
  const trimmed = text.trim();
  if (!/^[[(]/.test(trimmed) || endOf(mask(trimmed, code.language), 1, '') !== trimmed.length - 1)
    return null;
  const inside = trimmed.slice(1, -1);
  return argumentsAt({ ...code, source: inside, masked: mask(inside, code.language) }, 0).map((item) =>
    evaluate(code, item),
  );
}

/** Questions: their answer is no text. */
const asks = /^\s*(?:!|(?:not|typeof|exists|defined)\b)|\b(?:in|is)\b|[=!]==?|\.length\s*$/;

/** Evaluates the branches of a condition; a question has an unknown answer. */
function answerOf(code: Code, text: string, masked: string, depth: number): string | null {
  const trimmed = masked.trim();
  if (trimmed.startsWith('(') && endOf(trimmed, 1, '') === trimmed.length - 1)
    return evaluate(code, text.trim().slice(1, -1), depth + 1);
  const inner = /^[[{]/.test(trimmed) ? outside(trimmed.slice(1, -1)).search(/\sfor\s/) : -1;
  if (inner !== -1) return evaluate(code, text.trim().slice(1, inner + 1), depth + 1);
  const top = outside(masked);
  const [, first = '', , last] =
    code.language === 'python'
      ? (/^(.*?)(\sif\s.*\selse\s)(.*)$/s.exec(top) ?? [])
      : (/^(.*?\?)([^?.:][^:]*)(:.*)$/s.exec(top) ?? []);
  if (last === undefined) return asks.test(top) ? UNKNOWN : null;
  const end = text.length - last.length;
  const yes = code.language === 'python' ? text.slice(0, first.length) : text.slice(first.length, end);
  return [yes, text.slice(end)].map((part) => evaluate(code, part, depth + 1)).join(' ');
}

export function interpolated(code: Code, text: string): string {
  return literal(code, text, { quote: '"', prefix: 'r', depth: 0 });
}

type Quoting = { readonly quote: string; readonly prefix: string; readonly depth: number };

function literal(code: Code, inner: string, { quote, prefix, depth }: Quoting): string {
  const isRaw = /r/i.test(prefix) || (quote === "'" && /^(perl|ruby|php)$/.test(code.language));
  const plain = isRaw ? inner : unescapeText(inner);
  const fill = (_: string, expression: string) => evaluate(code, expression, depth + 1) || UNKNOWN;
  if (code.language === 'js' && quote === '`') return plain.replace(/\$\{([^}]*)\}/g, fill);
  if (code.language === 'python' && /f/i.test(prefix)) return plain.replace(/\{([^{}]*)\}/g, fill);
  if (code.language === 'ruby' && quote === '"') return plain.replace(/#\{([^}]*)\}/g, fill);
  if (/^(perl|php)$/.test(code.language) && quote === '"')
    return plain.replace(/(\$ENV\{\w+\}|\$[A-Za-z_]\w*)/g, fill);
  return plain;
}

function environmentValue(code: Code, name: string): string {
  if (name === 'HOME' || name === 'USERPROFILE') return code.home;
  return isSecretName(name) ? secretOf(name) : UNKNOWN;
}

const fixedNames: Readonly<Record<string, string>> = {
  'os.pardir': '..',
  'os.curdir': '.',
  'os.sep': '/',
  'sys.executable': 'python3',
  'process.execPath': 'node',
};

const variable =
  /^(?:(?:process\.)?env\.|(?:process\.env|os\.environ|ENV|ENVIRON|\$ENV|\$_ENV|_ENV|\$_SERVER)[[{]["']?)(\w+)/;
const noText =
  /^(True|False|None|true|false|null|undefined|nil|shell|recursive|force|encoding|new|return|await|and|or|not|if|else|in|for|my|glob|Dir)$/;

function nameValue(code: Code, chain: string): string {
  const [, name] = variable.exec(chain) ?? [];
  if (name !== undefined) return environmentValue(code, name);
  const value = code.names.get(chain.replace(/^[$@%]/, ''));
  if (value !== undefined) return value;
  const [, object = '', key = ''] = /^[$@%]?(\w+)(?:\.|\[["']|\{["']?)(\w+)/.exec(chain) ?? [];
  if (code.names.get(object) === PRIVATE) return environmentValue(code, key);
  if (chain.endsWith('.parent')) return `${nameValue(code, chain.slice(0, -7))}/..`;
  if (noText.test(chain)) return '';
  if (/\b(environ|process\.env|ENV|ENVIRON)(\.(to_h|to_a|inspect))?$/.test(chain)) return PRIVATE;
  return chain === 'Dir.home' ? code.home : (fixedNames[chain] ?? UNKNOWN);
}

type Called = {
  readonly code: Code;
  readonly name: string;
  readonly inside: string;
  readonly args: readonly string[];
  readonly value: (index: number) => string;
  readonly values: (from?: number) => string[];
};

/** Results of functions by name; if a row returns null, the next matching row is asked. */
const functions: readonly (readonly [name: RegExp, answer: (call: Called) => string | null])[] = [
  [/(^|\.)(homedir|Path\.home)$|^Dir\.home$/, ({ code }) => code.home],
  [
    /(^|\.)(getenv|environ\.get|ENV\.fetch)$/,
    ({ code, args, value }) => (args.length === 0 ? PRIVATE : environmentValue(code, value(0))),
  ],
  [/\.(encode|strip|trim|toString|slice|substring|upper|lower)$/, secretOfObject],
  [
    /./,
    ({ code, name, args, value }) =>
      code.names.get(name.replace(/\.(get|fetch)$/, '')) === PRIVATE && args.length > 0
        ? environmentValue(code, value(0))
        : null,
  ],
  [/^(decodeURIComponent|decodeURI|unescape|(urllib\.parse\.)?unquote)$/, ({ value }) => percent(value(0))],
  [
    /(encode|hexlify|btoa|quote|encodeURIComponent|repr|ascii)$/,
    ({ value }) => secretsIn(value(0)).map(secretOf).join(' ') || null,
  ],
  [/^(sorted|list)$/, ({ inside }) => (/\benviron\s*$/.test(inside) ? UNKNOWN : null)],
  [
    /^(JSON\.stringify|json\.dumps|dict|repr|util\.inspect|Dumper|var_export|sorted|list|Object\.(entries|values|assign))$/,
    ({ value }) => (value(0) === PRIVATE ? PRIVATE : UNKNOWN),
  ],
  [/(^|\.)(getcwd|cwd|pwd)$/, () => '.'],
  [/(^|\.)dirname$/, ({ value }) => `${value(0)}/..`],
  [/^URL$/, ({ value }) => joinPaths([`${value(1)}/..`, value(0)])],
  [/\benviron\.(values|items|copy)$/, () => PRIVATE],
  [/(expanduser|expand_path)$/, ({ code, value }) => value(0).replace(/^~/, code.home)],
  [/expandvars$/, ({ code, value }) => value(0).replace(/^\$(HOME\b|\{HOME\})/, code.home)],
  [/^implode$/, ({ value, values }) => values(1).join(value(0))],
  [/^join$/, ({ code, value, values }) => (code.language === 'perl' ? values(1).join(value(0)) : null)],
  [/^(reverse|strrev)$/, ({ values }) => backwards(values().join(''))],
  [/^codecs\.decode$/, () => DECODED],
  [/^shlex\.split$/, ({ value }) => value(0)],
  [
    /(^|\.)(join|resolve)$/,
    ({ name, args, values }) =>
      args.length > 1 || /path|File|posix|^join/.test(name) ? joinPaths(values()) : null,
  ],
  [
    /(b64decode|decode_base64|base64_decode|strict_decode64|decode64|atob|unb64)$/,
    ({ value }) => decoded(value(0), decodeBase64),
  ],
  [/(fromhex|unhexlify|hex2bin)$/, ({ value }) => decoded(value(0), decodeHex)],
  [
    /Buffer\.from$/,
    ({ value }) => {
      const [form] = /hex|base64/.exec(value(1)) ?? [];
      return form === undefined ? null : decoded(value(0), form === 'hex' ? decodeHex : decodeBase64);
    },
  ],
  [
    /(fromCharCode|fromCodePoint|^chr)$/,
    ({ inside, args }) =>
      characters(inside) ??
      args.map((arg) => (/^\d+$/.test(arg) ? String.fromCharCode(Number(arg)) : UNKNOWN)).join(''),
  ],
  [/^(bytes|bytearray)$/, ({ inside }) => characters(inside)],
  [/^(sprintf|format)$/, ({ value, values }) => filled(value(0), /%[sd]/g, values(1))],
  [
    /(urlopen|requests\.get|urlretrieve|fetch|get|open-uri|file_get_contents)$/,
    ({ value }) => (/https?:/.test(value(0)) ? NETWORK : null),
  ],
  [/(decompress|inflate|inflateSync|gunzipSync|unpack|pack|loads|rot13)$/, () => DECODED],
  [
    /^(str|Path|pathlib\.Path|PurePath|String|bytes|Buffer\.from|Pathname|URI|URI\.parse|os\.fspath|(url\.)?fileURLToPath|os\.path\.(abspath|realpath|normpath)|new)$/,
    ({ values }) => values().filter(Boolean).join('/'),
  ],
  [
    /glob$/,
    ({ code, value }) => (code.language === 'perl' ? value(0).replace(/^~(?=\/|$)/, code.home) : null),
  ],
  [/(^|\.)(compile|glob|bsd_glob|iglob)$/, ({ value }) => value(0)],
  [/^(require|import|__import__)$/, () => ''],
];

/** A secret stays one when its text is cut or its case is changed. */
function secretOfObject({ code, name }: Called): string | null {
  const value = nameValue(code, name.slice(0, name.lastIndexOf('.')));
  return secretsIn(value).length > 0 ? value : null;
}

function callValue(code: Code, name: string, inside: string, depth: number): string {
  const args = argumentsAt({ ...code, source: inside, masked: mask(inside, code.language) }, 0);
  const value = (index: number) => evaluate(code, args[index] ?? '', depth + 1);
  const values = (from = 0) => args.slice(from).map((_, index) => value(from + index));
  const call = { code, name, inside, args, value, values };
  for (const [pattern, answer] of functions) {
    const result = pattern.test(name) ? answer(call) : null;
    if (result !== null) return result;
  }
  return UNKNOWN;
}
