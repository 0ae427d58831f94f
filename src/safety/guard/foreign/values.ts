import { isSecretName } from '../../secrets.ts';
import { decodeBase64, decodeHex, unescapeText } from '../decode.ts';
import { DECODED, NETWORK, PRIVATE, secretOf, secretsIn, UNKNOWN } from '../marks.ts';
import { argumentsAt, type Code, closing, endOf, mask, spend } from './code.ts';
import { backwards, characters, decoded, filled, joinPaths, outside, percent } from './texts.ts';

/** What an expression of texts, known names and paths amounts to. */
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
  if (/expandvars$/.test(name)) return value(0).replace(/^\$(HOME\b|\{HOME\})/, code.home);
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
  if (code.language === 'perl' && /glob$/.test(name)) return value(0).replace(/^~(?=\/|$)/, code.home);
  if (/(^|\.)(compile|glob|bsd_glob|iglob)$/.test(name)) return value(0);
  if (/^(require|import|__import__)$/.test(name)) return '';
  return UNKNOWN;
}
