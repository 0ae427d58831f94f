import type { Call } from '../call.ts';
import { feed } from '../feed.ts';
import { DECODED, isOpaque, NETWORK, UNKNOWN } from '../marks.ts';
import {
  applies,
  deletes,
  evaluates,
  found,
  known,
  lists,
  methods,
  moves,
  noteworthy,
  objectBefore,
  opens,
  perlFinds,
  perlGlobs,
  perlMoves,
  perlOpens,
  perlTruncates,
  reads,
  runs,
  runsPlainly,
  startsShell,
  writes,
} from './calls.ts';
import { argumentsAt, type Code, type Language } from './code.ts';
import { deleter, deletion, method, openFile, withinBase } from './files.ts';
import { denyHarm } from './harm.ts';
import { rounds } from './loops.ts';
import { printed } from './printed.ts';
import { readCode } from './read.ts';
import { keepsFetched, requests } from './requests.ts';
import { startAll } from './starts.ts';
import { evaluate, interpolated, listOf } from './values.ts';

/** Follows code of another language far enough to see what it deletes, runs, writes, reads and sends. */
export function follow(outer: Call, source: string, language: Language, file = './-'): string {
  const { home } = outer.shell.world.context;
  const own = ownNames(file);
  const code = readCode(source, language, home, own);
  if (!noteworthy.test(source)) return printed(code);
  const call = movedCall(outer, code);
  let output = effects(call, code, source);
  for (const names of rounds(code))
    output += effects(call, readCode(source, language, home, [...own, ...names]), source);
  denyHarm(call, source, code);
  requests(call, code);
  return printed(code) + output;
}

/** What code calls the file that it stands in. */
function ownNames(file: string): [string, string][] {
  const folder = file.slice(0, file.lastIndexOf('/')) || '.';
  return [
    ...['__file__', '__filename', 'import.meta.filename', 'import.meta.url'].map((name): [string, string] => [
      name,
      file,
    ]),
    ['__dirname', folder],
    ['import.meta.dirname', folder],
  ];
}

/** What one round through the code does; answers with what the programs print that it starts. */
function effects(call: Call, code: Code, source: string): string {
  const { language } = code;
  if (language === 'perl' || language === 'ruby' || language === 'php') {
    for (const [, ticks, quoted] of source.matchAll(/(?:^|[^\\])`([^`]+)`|(?:qx|%x)[{([]([^})\]]+)/g))
      feed(call, interpolated(code, ticks ?? quoted ?? ''), (text) => call.script(text));
  }
  const bases = foldersListed(code, source);
  deleteFiles(call, code, bases);
  for (const [, args] of found(code, /\burlretrieve\s*\(/g))
    call.keep(evaluate(code, args[1] ?? ''), NETWORK);
  const output = startAll(call, code, found(code, startsShell(code) ? runs : runsPlainly));
  writeFiles(call, code);
  readFiles(call, code, bases);
  opening(
    call,
    code,
    found(code, /\.write(?:lines)?\s*\(/g).map(([, args]) => evaluate(code, args[0] ?? '')),
  );
  for (const match of code.masked.matchAll(methods)) {
    const args = argumentsAt(code, match.index + match[0].length).map((arg) => evaluate(code, arg));
    method(call, match[1] ?? '', objectBefore(code, match.index), args, bases);
  }
  for (const [, args] of found(code, evaluates)) hiddenCode(call, code, args);
  keepsFetched(call, code);
  return output;
}

/** Folders whose files the code goes through. */
function foldersListed(code: Code, source: string): string[] {
  const isPerl = code.language === 'perl';
  return [
    ...found(code, lists).map(([, args]) => evaluate(code, args[0] ?? '')),
    ...(isPerl ? [...source.matchAll(perlGlobs)] : []).map(([, text = '']) => evaluate(code, text)),
    ...(isPerl ? [...found(code, perlFinds), ...found(code, /\bopendir\s*[( ]/g)] : []).flatMap(([, args]) =>
      args.slice(1).map((arg) => evaluate(code, arg)),
    ),
    ...[...code.masked.matchAll(/\.(?:iterdir|r?glob)\s*\(/g)].map(({ index }) => objectBefore(code, index)),
  ];
}

function deleteFiles(call: Call, code: Code, bases: readonly string[]): void {
  for (const [name, args] of found(code, deletes)) deletion(call, code, name, args, bases);
  for (const [, args] of found(code, applies)) {
    if (!args.some((arg) => deleter.test(arg))) continue;
    const folders = bases.filter((base) => base !== '').map(withinBase);
    const paths = [...args.flatMap((arg) => listOf(code, arg) ?? []), ...folders];
    for (const path of paths) known(path, () => call.file('delete', path, { recursive: true }));
  }
}

function writeFiles(call: Call, code: Code): void {
  const isPerl = code.language === 'perl';
  for (const [, args] of [...found(code, writes), ...(isPerl ? found(code, perlTruncates) : [])]) {
    const path = evaluate(code, args[0] ?? '');
    known(path, () => call.file('write', path));
    if (args[1] !== undefined) call.keep(path, evaluate(code, args[1]));
  }
  for (const [name, args] of found(code, isPerl ? perlMoves : moves)) {
    const [from, to] = [evaluate(code, args[0] ?? ''), evaluate(code, args[1] ?? '')];
    const kind = /move|rename|mv|replace/.test(name) ? 'delete' : 'read';
    known(from, () => call.file(kind, from, { recursive: true }));
    known(to, () => call.file('write', to));
  }
  for (const [, args] of found(code, /\bfileinput\.\w+\s*\(/g))
    known(evaluate(code, args[0] ?? ''), (path) =>
      call.file(args.some((arg) => arg.startsWith('inplace')) ? 'write' : 'read', path),
    );
  for (const [, [what = '', to = '']] of found(code, /\b(?:json|pickle|yaml)\.(?:safe_)?dump\s*\(/g)) {
    const [, [path = ''] = []] = found({ ...code, source: to, masked: to }, opens)[0] ?? [];
    if (path !== '') call.keep(evaluate(code, path), evaluate(code, what));
  }
}

function readFiles(call: Call, code: Code, bases: readonly string[]): void {
  const openers = bases.length > 0 ? found(code, opens) : [];
  for (const [, args] of [...found(code, reads), ...openers]) {
    const path = evaluate(code, args[0] ?? '');
    // A name found by listing a folder lies in that folder.
    if (path.startsWith(UNKNOWN))
      for (const base of bases) known(base, () => call.file('read', withinBase(base)));
    else known(path, () => call.file('read', path));
  }
  for (const [, args] of found(code, /\b(?:urlopen|urlretrieve|fetch)\s*\(/g)) {
    const [, path] = /^file:\/\/(\/.*)$/.exec(evaluate(code, args[0] ?? '')) ?? [];
    if (path !== undefined) call.file('read', path);
  }
}

function opening(call: Call, code: Code, texts: readonly string[]): void {
  for (const [, all] of found(code, code.language === 'perl' ? perlOpens : opens)) {
    // Perl names the handle first.
    const [path = '', ...modes] = code.language === 'perl' ? all.slice(1) : all;
    if (texts.length > 0 && modes.length > 0) call.keep(evaluate(code, path), texts.join('\n'));
    openFile(
      call,
      evaluate(code, path),
      modes.map((arg) =>
        /\bO_(WRONLY|RDWR|TRUNC)\b/.test(arg) ? 'w' : evaluate(code, arg.replace(/^mode\s*=/, '')),
      ),
    );
  }
}

/** The same call in the folder that the code goes to. */
function movedCall(call: Call, code: Code): Call {
  const [, args] = found(code, /\b(?:os\.chdir|process\.chdir|Dir\.chdir|chdir)\s*[( ]/g)[0] ?? [];
  const folder = args ? evaluate(code, args[0] ?? '') : '';
  if (folder === '' || isOpaque(folder)) return call;
  const within = (path: string) => (path.startsWith('/') ? path : `${folder}/${path}`);
  return call.with({
    file: (kind, path, more) => call.file(kind, within(path), more),
    run: (words, more) => call.run(words, { cwd: folder, ...more }),
    script: (text, more) => call.script(text, { cwd: folder, ...more }),
  });
}

function hiddenCode(call: Call, code: Code, args: readonly string[]): void {
  const text = args.map((arg) => evaluate(code, arg)).join('');
  const source = args.join(' ');
  if (text.includes(NETWORK) || /urlopen|requests\.get|https?:\/\//.test(source))
    call.deny('remote-code', 'runs code from the network');
  else if (
    text.includes(DECODED) ||
    /b64decode|base64|fromhex|unhexlify|atob|decompress|marshal|fromCharCode|unpack|rot13/.test(source)
  )
    call.deny('obfuscation', 'runs code that was encoded');
  else if (code.language !== 'perl' && text !== '' && !isOpaque(text)) follow(call, text, code.language);
}
