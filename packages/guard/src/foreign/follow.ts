import type { Call } from '../call.ts';
import { feed } from '../feed.ts';
import { DECODED, isOpaque, NETWORK, PRIVATE, UNKNOWN } from '../marks.ts';
import { callsIn, firstValues, noteworthy, patterns, runs, runsPlainly, startsShell } from './calls.ts';
import type { Code, Language } from './code.ts';
import { touchFiles, touchFilesLater } from './files.ts';
import { denyHarm } from './harm.ts';
import { rounds } from './loops.ts';
import { readCode } from './read.ts';
import { keepsFetched, requests } from './requests.ts';
import { startAll } from './starts.ts';
import { evaluate, interpolated } from './values.ts';

/** Follows code of another language far enough to see what it deletes, runs, writes, reads and sends. */
export function follow(outer: Call, source: string, language: Language, file = './-'): string {
  const own = ownNames(file);
  const code = readCode(source, language, outer.context.home, own);
  if (!noteworthy.test(source)) return outputOf(code);
  const call = movedCall(outer, code);
  let output = effects(call, code, source);
  for (const names of rounds(code))
    output += effects(call, readCode(source, language, outer.context.home, [...own, ...names]), source);
  denyHarm(call, source, code);
  requests(call, code);
  return outputOf(code) + output;
}

function ownNames(file: string): [string, string][] {
  const folder = file.slice(0, file.lastIndexOf('/')) || '.';
  return [
    ['__file__', file],
    ['__filename', file],
    ['import.meta.filename', file],
    ['import.meta.url', file],
    ['__dirname', folder],
    ['import.meta.dirname', folder],
  ];
}

/** Follows one pass through the code; returns the output of the programs that it starts. */
function effects(call: Call, code: Code, source: string): string {
  if (/^(perl|ruby|php)$/.test(code.language)) {
    for (const [, ticks, quoted] of source.matchAll(/(?:^|[^\\])`([^`]+)`|(?:qx|%x)[{([]([^})\]]+)/g))
      feed(call, interpolated(code, ticks ?? quoted ?? ''), (text) => call.script(text));
  }
  touchFiles(call, code, source);
  const output = startAll(call, code, callsIn(code, startsShell(code) ? runs : runsPlainly));
  touchFilesLater(call, code, source);
  for (const { args } of callsIn(code, patterns.evaluates)) hiddenCode(call, code, args);
  keepsFetched(call, code);
  return output;
}

function movedCall(call: Call, code: Code): Call {
  const [folder = ''] = firstValues(code, /\b(?:os\.chdir|process\.chdir|Dir\.chdir|chdir)\s*[( ]/g);
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

const showsEnvironment =
  /\bof\s+Object\.(?:entries|values)\(\s*process\.env\s*\)|\bObject\.(?:entries|values)\(\s*process\.env\s*\)\.|\bin\s+process\.env\b[\s\S]{0,200}\benv\[\w+\]/;

/** Returns what the code prints, since a shell may run it next. */
function outputOf(code: Code): string {
  const parts = callsIn(
    code,
    /\b(?:print|console\.\w+|puts|echo|process\.std(?:out|err)\.write|sys\.std(?:out|err)\.write|say|warn|die|print_r|var_dump|pprint|pp?|Error|SystemExit)\s*[( ]/g,
  ).map(({ args }) =>
    args
      .filter((arg) => !/^(end|sep|file|flush)\s*=/.test(arg))
      .map((arg) => evaluate(code, arg))
      .join(' '),
  );
  if (parts.length === 0) return UNKNOWN;
  return showsEnvironment.test(code.masked) ? PRIVATE : `${parts.join('\n')}\n`;
}
