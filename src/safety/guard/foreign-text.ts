import { isSecretName } from '../secrets.ts';
import { decodeBase64, decodeHex, unescapeText } from './decode.ts';
import { DECODED, isPlain, NETWORK, PRIVATE, secretOf, secretsIn, UNKNOWN } from './marks.ts';

export type Language = 'python' | 'js' | 'perl' | 'ruby' | 'php' | 'lua' | 'awk';

/** Code of another language, taken apart as far as needed: what is text, and what the names stand for. */
export type Code = {
  readonly language: Language;
  readonly source: string;
  /** The same code with the inside of texts and comments blank, so that only code is found in it. */
  readonly masked: string;
  readonly names: Map<string, string>;
  readonly home: string;
  /** How many characters may still be looked at; calls inside of calls are looked at again and again. */
  readonly work: { left: number };
};

/** Honest code takes a small part of it. */
function workFor(source: string): Code['work'] {
  return { left: 500_000 + 20 * source.length };
}

/** Throws what a stack that is too deep throws, too. */
function spend({ work }: Code, characters: number): void {
  work.left -= characters;
  if (work.left < 0) throw new RangeError('this code takes too long to follow');
}

export function readCode(
  written: string,
  language: Language,
  home: string,
  given: Iterable<[string, string]> = [],
): Code {
  const source = withoutModules(withoutAliases(withoutImports(withoutKeys(written))));
  const masked = mask(source, language);
  const code: Code = { language, source, masked, names: new Map(given), home, work: workFor(source) };
  const assignment =
    /(?:^|[;\n{(,]|\b(?:const|let|var|my|our|local)\b)[^\S\n]*[$@]?([A-Za-z_]\w*)\s*=(?![=>~])\s*/g;
  for (const match of code.masked.matchAll(assignment)) {
    const start = match.index + match[0].length;
    const end = endOf(code.masked, start, ';\n');
    spend(code, end - start);
    code.names.set(match[1] ?? '', evaluate(code, source.slice(start, end)));
  }
  environmentNames(code);
  return code;
}

/** Names that stand for variables of the environment. */
function environmentNames({ masked, names }: Code): void {
  for (const [, name = ''] of masked.matchAll(
    /\bfor\s+(?:\w+\s*,\s*)?(\w+)\s+in\s+(?:\w+\()?os\.environ\.(?:items|values)\b/g,
  ))
    names.set(name, PRIVATE);
  for (const [, , name = 'environ'] of masked.matchAll(
    /\bfrom\s+os\s+import\s+([^;\n]*,\s*)?environ\b(?:\s+as\s+(\w+))?/g,
  ))
    names.set(name, PRIVATE);
  for (const [, list = ''] of masked.matchAll(/\{([^{}]*)\}\s*=\s*process\.env\b/g)) {
    for (const item of list.split(',')) {
      const [variable = '', name = variable] = item.split(':').map((part) => part.trim());
      if (isSecretName(variable)) names.set(name, secretOf(variable));
    }
  }
}

/** A module that is called on the spot: `require('fs/promises').rm(…)`. */
function withoutModules(source: string): string {
  return source.replace(
    /\b(?:require|import)\(\s*["'](?:node:)?(fs|child_process)(?:\/promises)?["']\s*\)(?:\.promises)?(?=\.)/g,
    '$1',
  );
}

const keyText = `(["']\\w*["'](?:\\s*(?:\\+\\s*)?["']\\w*["'])*)\\s*`;
const keyOfObject = new RegExp(`\\bgetattr\\(\\s*([\\w.]+)\\s*,\\s*${keyText}\\)`, 'g');
const keyInBrackets = new RegExp(`([\\w)])\\[${keyText}\\](?=\\s*\\()`, 'g');

/** `'sys' + 'tem'` */
function joinedText(texts: string): string {
  return texts.replace(/["'+\s]/g, '');
}

/** `fs['rmSync'](…)` and `getattr(os, 'system')(…)` as one would write them. */
function withoutKeys(source: string): string {
  if (!/import|require|getattr|\benv\b|\[\s*["']/.test(source)) return source;
  const plain = source
    .replace(/\b(?:__import__|importlib\.import_module)\(\s*["'](\w+)["']\s*\)/g, '$1')
    .replace(/\brequire\(\s*["'](?:node:)?(net|tls|https?|dns|axios|got)["']\s*\)(?=\s*[.(])/g, '$1')
    .replace(keyOfObject, (_, object: string, key: string) => `${object}.${joinedText(key)}`)
    .replace(keyInBrackets, (_, before: string, key: string) => `${before}.${joinedText(key)}`);
  return /\{\s*env\s*\}\s*=\s*process\b/.test(plain)
    ? plain.replace(/(?<![.\w])env(?=[.[])/g, 'process.env')
    : plain;
}

const modules = '(?:node:)?(fs(?:/promises)?|child_process|os|shutil|subprocess|net|tls|https?|dns)';
const imports = [
  new RegExp(`\\bimport\\s*\\{([^}]*)\\}\\s*from\\s*["']${modules}["']`, 'g'),
  new RegExp(`\\{([^{}]*)\\}\\s*=\\s*(?:await\\s+)?(?:require|import)\\(\\s*["']${modules}["']\\s*\\)`, 'g'),
];
const loads = `(?:require|import)\\(\\s*["']${modules}["']\\s*\\)(?:\\.promises)?`;
/** What an import hands on when it is there: the module, or functions out of it. */
const importedLater = new RegExp(
  `${loads}\\.then\\(\\s*(?:async\\b\\s*)?(?:\\(\\s*)?(\\w+|\\{[^{}]*\\})\\s*(?:\\)\\s*)?=>`,
  'g',
);
const importedAs = new RegExp(`\\b(\\w+)\\s*=\\s*(?:await\\s+)?${loads}`, 'g');

/** Functions taken out of a module get its name back: `rm(…)` after an import from fs is `fs.rm(…)`. */
function withoutImports(source: string): string {
  if (!/import|require/.test(source)) return source;
  const taken = [
    ...imports.flatMap((pattern) => [...source.matchAll(pattern)].map(([, names, from]) => [names, from])),
    ...[...source.matchAll(importedLater)].flatMap(([, from, names = '']) =>
      names.startsWith('{') ? [[names.slice(1, -1), from]] : [],
    ),
    ...[...source.matchAll(/\bfrom\s+(os|shutil|subprocess)\s+import\s+([\w ,]+)/g)].map(
      ([, from, names]) => [names, from],
    ),
  ];
  const full = new Map<string, string>();
  for (const [names = '', from = ''] of taken) {
    for (const item of names.split(',')) {
      const [, name, , alias = name] = /^\s*(\w+)(\s*(?::|\bas\b)\s*(\w+))?\s*$/.exec(item) ?? [];
      if (name !== undefined && alias !== undefined) full.set(alias, `${moduleName(from)}.${name}`);
    }
  }
  if (full.size === 0) return source;
  return source.replace(/(?<![.\w])\w+(?=\s*\()/g, (name) => full.get(name) ?? name);
}

/** Calls by another name, as after `import x as y`, get their own name back. */
function withoutAliases(source: string): string {
  if (!/import|require|=\s*[\w.]*(?:\([^()]*\))?\./.test(source)) return source;
  const aliases = [
    ...source.matchAll(/\bimport\s+(\w+)\s+as\s+(\w+)/g),
    ...source.matchAll(/[{,]\s*(\w+)\s*:\s*(\w+)\s*(?=[,}][^=;]{0,400}=\s*(?:await\s+)?(?:require|import))/g),
    ...[...source.matchAll(importedLater)].map(([all, from = '', alias = '']) => [
      all,
      moduleName(from),
      alias,
    ]),
    ...[...source.matchAll(importedAs)].map(([all, alias = '', from = '']) => [all, moduleName(from), alias]),
    ...[...source.matchAll(/\b(\w+)\s*=\s*[\w.]*(?:\([^()]*\))?\.(\w+)\s*(?=[;\n,]|$)/g)].map(
      ([all, alias = '', name = '']) => [all, name, alias],
    ),
  ];
  if (aliases.length === 0) return source;
  const names = new Map(aliases.map(([, name = '', alias = '']) => [alias, name]));
  return source.replace(/(?<![.\w])\w+(?=\s*[.(])/g, (alias) => names.get(alias) ?? alias);
}

function moduleName(from: string): string {
  return from.replace('/promises', '');
}

/** Where a text or a comment may begin. */
const special = /["'`#]|\/\/|\/\*|--/g;

function mask(source: string, language: Language): string {
  const line = language === 'js' || language === 'php' ? '//' : language === 'lua' ? '--' : '#';
  let out = '';
  let i = 0;
  while (i < source.length) {
    special.lastIndex = i;
    const at = special.exec(source)?.index ?? source.length;
    out += source.slice(i, at);
    const char = source[at] ?? '';
    let stop = at + 1;
    if (source.startsWith(line, at) && !(line === '//' && source[at - 1] === ':')) {
      const end = source.indexOf('\n', at);
      stop = end === -1 ? source.length : end;
      out += ' '.repeat(stop - at);
    } else if (line === '//' && source.startsWith('/*', at)) {
      const end = source.indexOf('*/', at + 2);
      stop = end === -1 ? source.length : end + 2;
      out += ' '.repeat(stop - at);
    } else if (language === 'python' && /["']/.test(char) && source.startsWith(char.repeat(3), at)) {
      const end = source.indexOf(char.repeat(3), at + 3);
      stop = end === -1 ? source.length : end + 3;
      out += `"${' '.repeat(Math.max(0, stop - at - 2))}"`;
    } else if (char === "'" || char === '"' || (char === '`' && language === 'js')) {
      stop = closing(source, at);
      out += char + ' '.repeat(Math.max(0, stop - at - 2)) + (stop - at > 1 ? char : '');
    } else out += char;
    i = stop;
  }
  return out;
}

function closing(source: string, start: number): number {
  const quote = source[start];
  let i = start + 1;
  while (i < source.length && source[i] !== quote) i += source[i] === '\\' ? 2 : 1;
  return Math.min(i + 1, source.length);
}

/** Where something ends that began at `start`: at `stop` outside all brackets, or where a bracket closes it. */
export function endOf(masked: string, start: number, stop: string): number {
  let depth = 0;
  for (let i = start; i < masked.length; i++) {
    switch (masked[i]) {
      case '(':
      case '[':
      case '{':
        depth++;
        break;
      case ')':
      case ']':
      case '}':
        if (--depth < 0) return i;
        break;
      default:
        if (depth === 0 && stop.includes(masked[i] ?? '')) return i;
    }
  }
  return masked.length;
}

/** The arguments of a call whose bracket opens right before `start`. */
export function argumentsAt(code: Code, start: number): string[] {
  const end = endOf(code.masked, start, '');
  spend(code, end - start);
  const parts: string[] = [];
  for (let i = start; i <= end; ) {
    const comma = Math.min(endOf(code.masked, i, ','), end);
    const text = code.source.slice(i, comma).trim();
    if (text !== '') parts.push(text);
    i = comma + 1;
  }
  return parts;
}

/** The items of a list, or null for anything else. */
export function listOf(code: Code, text: string): string[] | null {
  const trimmed = text.trim();
  if (!/^[[(]/.test(trimmed) || endOf(mask(trimmed, code.language), 1, '') !== trimmed.length - 1)
    return null;
  const inside = trimmed.slice(1, -1);
  return argumentsAt({ ...code, source: inside, masked: mask(inside, code.language) }, 0).map((item) =>
    evaluate(code, item),
  );
}

/** What an expression of texts, known names and paths amounts to. */
export function evaluate(code: Code, text: string, depth = 0): string {
  if (depth > 20) return UNKNOWN;
  spend(code, text.length);
  const [, , plain] = /^\s*(["'])([^"'\\$#{`]*)\1\s*$/.exec(text) ?? [];
  if (plain !== undefined) return plain;
  const [, pattern] = code.language === 'perl' ? (/^\s*<([^<>]+)>\s*$/.exec(text) ?? []) : [];
  if (pattern !== undefined && /[*/]/.test(pattern)) return interpolated(code, pattern);
  const masked = mask(text, code.language);
  const answer = /[?!]|==|\b(?:if|in|is|not|for|typeof|exists|defined|length)\b/.test(masked)
    ? answerOf(code, text, masked, depth)
    : null;
  if (answer !== null) return answer;
  const [, list, , between = ''] = /^\s*(\[[^\]]*\])\s*\.join\(\s*(["'])(.*?)\2\s*\)\s*$/s.exec(text) ?? [];
  if (list !== undefined) return listOf(code, list)?.join(between) ?? UNKNOWN;
  let out = '';
  let i = 0;
  while (i < text.length) {
    const rest = text.slice(i);
    const [prefix = ''] = /^[rbuf]{1,2}(?=["'])/i.exec(rest) ?? [];
    const at = i + prefix.length;
    if (/["'`]/.test(text[at] ?? '')) {
      const triple = /^("""|''')/.exec(text.slice(at))?.[0];
      const stop = triple ? text.indexOf(triple, at + 3) + 3 : closing(text, at);
      const inner = triple ? text.slice(at + 3, stop - 3) : text.slice(at + 1, stop - 1);
      out += literal(code, inner, text[at] ?? '', prefix, depth);
      i = Math.max(stop, at + 1);
      continue;
    }
    if (rest.startsWith('[::-1]')) {
      out = backwards(out);
      i += 6;
      continue;
    }
    if (text[i] === '%' && code.language === 'python' && /%[sdr]/.test(out)) {
      const given = rest.slice(1);
      return filled(out, /%[sdr]/g, listOf(code, given) ?? [evaluate(code, given, depth + 1)]);
    }
    const [chain = ''] =
      /^[$@%]?[A-Za-z_][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*|\[["']\w+["']\]|\{["']?\w+["']?\})*/.exec(
        rest,
      ) ?? [];
    if (chain !== '') {
      i += chain.length;
      if (text[i] === '(') {
        const end = endOf(masked, i + 1, '');
        out += callValue(code, chain, text.slice(i + 1, end), depth);
        i = end + 1;
      } else out += nameValue(code, chain);
      continue;
    }
    if (text[i] === '.' && /^\.\w+/.test(rest)) {
      // A method of what stands before it, such as .decode() or .toString(): the text stays what it is.
      const [method = ''] = /^\.\w+/.exec(rest) ?? [];
      i += method.length;
      if (/^\.(homedir|home)$/.test(method)) out = code.home;
      if (method === '.parent') out += '/..';
      if (text[i] === '(') {
        const end = endOf(masked, i + 1, '');
        const inside = text.slice(i + 1, end);
        const args = argumentsAt({ ...code, source: inside, masked: mask(inside, code.language) }, 0);
        if (/\bpath["']\s*\)$/.test(text.slice(0, i - method.length)) && /^\.(join|resolve)$/.test(method))
          return joinPaths(args.map((arg) => evaluate(code, arg, depth + 1)));
        if (method === '.join' && !(code.language === 'js' && /^(''|""|``)$/.test(inside.trim())))
          return characters(inside) ?? listOf(code, inside)?.join(out) ?? UNKNOWN;
        if (method === '.reverse') out = backwards(out);
        if (method === '.format')
          out = filled(
            out,
            /\{\w*\}/g,
            args.map((arg) => evaluate(code, arg, depth + 1)),
          );
        if (method === '.joinpath') out += args.map((arg) => `/${evaluate(code, arg, depth + 1)}`).join('');
        if (method === '.expanduser') out = out.replace(/^~/, code.home);
        i = end + 1;
      }
      continue;
    }
    if (text[i] === '/' && code.language === 'python') out += '/';
    if (/\d/.test(text[i] ?? '')) out += text[i];
    i++;
  }
  return out;
}

/** Asks something: what comes out is no text, whatever it was asked of. */
const asks = /^\s*(?:!|(?:not|typeof|exists|defined)\b)|\b(?:in|is)\b|[=!]==?|\.length\s*$/;

/** Of a condition only what it leads to counts, and a question has an answer that says nothing. */
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

/** The same code with the inside of all brackets blank. */
function outside(masked: string): string {
  let depth = 0;
  return masked.replace(/./gs, (char) => {
    if ('([{'.includes(char)) depth++;
    const shown = depth > 0 ? ' ' : char;
    if (')]}'.includes(char)) depth--;
    return shown;
  });
}

function backwards(text: string): string {
  return [...text].reverse().join('');
}

/** Puts texts where a format asks for them. */
function filled(format: string, places: RegExp, texts: readonly string[]): string {
  let i = 0;
  return format.replace(places, () => texts[i++] ?? UNKNOWN);
}

/** Text given by the numbers of its characters, as in `map(chr, [114, 109])`. */
function characters(source: string): string | null {
  const [, numbers] = /\[\s*(\d+(?:\s*,\s*\d+)*)\s*(?:,\s*)?\]/.exec(source) ?? [];
  if (numbers === undefined || !/\bchr\b|^\s*(\.\.\.)?\[/.test(source)) return null;
  return String.fromCharCode(...numbers.split(',').map(Number));
}

/** What stands in backticks or in a text that takes variables. */
export function interpolated(code: Code, text: string): string {
  return literal(code, text, '"', 'r', 0);
}

function literal(code: Code, inner: string, quote: string, prefix: string, depth: number): string {
  const plain =
    /r/i.test(prefix) || (quote === "'" && /^(perl|ruby|php)$/.test(code.language))
      ? inner
      : unescapeText(inner);
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

function nameValue(code: Code, chain: string): string {
  const [, name] =
    /^(?:(?:process\.)?env\.|(?:process\.env|os\.environ|ENV|ENVIRON|\$ENV|\$_ENV|_ENV|\$_SERVER)[[{]["']?)(\w+)/.exec(
      chain,
    ) ?? [];
  if (name !== undefined) return environmentValue(code, name);
  const known = code.names.get(chain.replace(/^[$@%]/, ''));
  if (known !== undefined) return known;
  const [, held = '', key = ''] = /^[$@%]?(\w+)(?:\.|\[["']|\{["']?)(\w+)/.exec(chain) ?? [];
  if (code.names.get(held) === PRIVATE) return environmentValue(code, key);
  const fixed = fixedNames[chain];
  if (fixed !== undefined) return fixed;
  if (chain.endsWith('.parent')) return `${nameValue(code, chain.slice(0, -7))}/..`;
  if (
    /^(True|False|None|true|false|null|undefined|nil|shell|recursive|force|encoding|new|return|await|and|or|not|if|else|in|for|my|glob|Dir)$/.test(
      chain,
    )
  )
    return '';
  if (/\b(environ|process\.env|ENV|ENVIRON)(\.(to_h|to_a|inspect))?$/.test(chain)) return PRIVATE;
  if (chain === 'Dir.home') return code.home;
  return UNKNOWN;
}

function callValue(code: Code, name: string, inside: string, depth: number): string {
  const args = argumentsAt({ ...code, source: inside, masked: mask(inside, code.language) }, 0);
  const value = (i: number) => evaluate(code, args[i] ?? '', depth + 1);
  if (/(^|\.)(homedir|Path\.home)$/.test(name) || name === 'Dir.home') return code.home;
  if (/(^|\.)(getenv|environ\.get|ENV\.fetch)$/.test(name))
    return args.length === 0 ? PRIVATE : environmentValue(code, value(0));
  const object = name.replace(/\.(?:encode|strip|trim|toString|slice|substring|upper|lower)$/, '');
  const of = object === name ? '' : nameValue(code, object);
  if (secretsIn(of).length > 0) return of;
  if (code.names.get(name.replace(/\.(get|fetch)$/, '')) === PRIVATE && args.length > 0)
    return environmentValue(code, value(0));
  if (/^(decodeURIComponent|decodeURI|unescape|(urllib\.parse\.)?unquote)$/.test(name))
    return percent(value(0));
  if (/(encode|hexlify|btoa|quote|encodeURIComponent|repr|ascii)$/.test(name)) {
    const kept = secretsIn(value(0));
    if (kept.length > 0) return kept.map(secretOf).join(' ');
  }
  // Only the names.
  if (/^(sorted|list)$/.test(name) && /\benviron\s*$/.test(inside)) return UNKNOWN;
  if (
    /^(JSON\.stringify|json\.dumps|dict|repr|util\.inspect|Dumper|var_export|sorted|list|Object\.(entries|values|assign))$/.test(
      name,
    )
  )
    return value(0) === PRIVATE ? PRIVATE : UNKNOWN;
  if (/(^|\.)(getcwd|cwd|pwd)$/.test(name)) return '.';
  if (/(^|\.)dirname$/.test(name)) return `${value(0)}/..`;
  if (name === 'URL') return joinPaths([`${value(1)}/..`, value(0)]);
  if (/\benviron\.(values|items|copy)$/.test(name)) return PRIVATE;
  if (/(expanduser|expand_path)$/.test(name)) return value(0).replace(/^~/, code.home);
  if (name === 'implode' || (name === 'join' && code.language === 'perl'))
    return args
      .slice(1)
      .map((_, i) => value(i + 1))
      .join(value(0));
  if (name === 'reverse' || name === 'strrev') return backwards(args.map((_, i) => value(i)).join(''));
  if (name === 'codecs.decode') return DECODED;
  if (name === 'shlex.split') return value(0);
  if (/(^|\.)(join|resolve)$/.test(name) && (args.length > 1 || /path|File|posix|^join/.test(name)))
    return joinPaths(args.map((_, i) => value(i)));
  if (/(b64decode|decode_base64|base64_decode|strict_decode64|decode64|atob|unb64)$/.test(name))
    return decoded(value(0), decodeBase64);
  if (/(fromhex|unhexlify|hex2bin)$/.test(name)) return decoded(value(0), decodeHex);
  if (/Buffer\.from$/.test(name) && /hex/.test(value(1))) return decoded(value(0), decodeHex);
  if (/Buffer\.from$/.test(name) && /base64/.test(value(1))) return decoded(value(0), decodeBase64);
  if (/(fromCharCode|fromCodePoint|^chr)$/.test(name))
    return (
      characters(inside) ??
      args.map((arg) => (/^\d+$/.test(arg) ? String.fromCharCode(Number(arg)) : UNKNOWN)).join('')
    );
  if (/^(bytes|bytearray)$/.test(name) && characters(inside) !== null) return characters(inside) ?? '';
  if (/^(sprintf|format)$/.test(name))
    return filled(
      value(0),
      /%[sd]/g,
      args.slice(1).map((_, i) => value(i + 1)),
    );
  if (
    /(urlopen|requests\.get|urlretrieve|fetch|get|open-uri|file_get_contents)$/.test(name) &&
    /https?:/.test(value(0))
  )
    return NETWORK;
  if (/(decompress|inflate|inflateSync|gunzipSync|unpack|pack|loads|rot13)$/.test(name)) return DECODED;
  if (
    /^(str|Path|pathlib\.Path|PurePath|String|bytes|Buffer\.from|Pathname|URI|URI\.parse|URL|os\.fspath|(url\.)?fileURLToPath|os\.path\.(abspath|realpath|normpath)|new)$/.test(
      name,
    )
  )
    return args
      .map((_, i) => value(i))
      .filter(Boolean)
      .join('/');
  if (/(^|\.)(compile|glob|bsd_glob|iglob)$/.test(name)) return value(0);
  if (/^(require|import|__import__)$/.test(name)) return '';
  return UNKNOWN;
}

function percent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function decoded(text: string, decode: (text: string) => string): string {
  return isPlain(text) ? decode(text) : UNKNOWN;
}

function joinPaths(parts: readonly string[]): string {
  return parts.reduce(
    (path, part) => (part.startsWith('/') ? part : path === '' ? part : `${path}/${part}`),
    '',
  );
}
