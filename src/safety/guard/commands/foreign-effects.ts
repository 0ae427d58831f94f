import { feed } from '../feed.ts';
import {
  argumentsAt,
  type Code,
  endOf,
  evaluate,
  interpolated,
  type Language,
  listOf,
  readCode,
} from '../foreign-text.ts';
import { DECODED, isOpaque, NETWORK, PRIVATE, secretsIn, UNKNOWN } from '../marks.ts';
import type { Call } from '../model.ts';
import { destroysData, empties, isTestRun } from './data.ts';
import { rounds } from './foreign-loops.ts';
import { hasReadOthers, hostOf, isLocal, sends } from './hosts.ts';

/** Calls by what they do; found only in code, never in a text. */
const deletes =
  /(?:\b(?:shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs)|rmtree|remove_tree|rmSync|rmdirSync|unlinkSync|unlink|rmdir|rimraf|removeSync|emptyDirSync|emptyDir|send2trash|FileUtils\.(?:rm\w*|remove\w*)|File\.(?:delete|unlink)|Dir\.(?:rmdir|delete|unlink)|Deno\.remove(?:Sync)?|os\.remove|os\.RemoveAll|remove_(?:dir_all|dir|file))|(?<![.\w$])remove|\b(?:fs|promises|fsp|fse|fs\/promises["']\))\.(?:rm|remove))\s*[( ]/g;

const runs =
  /\b(?:os\.(?:system|popen|exec\w+|spawn\w+)|(?:subprocess|sp|s)\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|pty\.spawn|asyncio\.create_subprocess_\w+|(?:child_process["'] *\)\.|cp\.|child_process\.)?(?:execSync|execFileSync|spawnSync|execFile|spawn|exec|execa|execaSync)|system|shell_exec|passthru|popen|proc_open|os\.execute|exec\.Command|io\.popen|IO\.popen|Open3\.\w+|Deno\.Command|Bun\.spawn(?:Sync)?|qx|capture2e?|check_output)\s*[( ]/g;

/** `.exec(…)` of a database or a pattern starts no program. */
const runsPlainly = new RegExp(runs.source.replace('|exec|', '|(?<!\\.|->)exec|'), 'g');

function startsShell({ language, source }: Code): boolean {
  return language === 'js' && /child_process|shelljs|zx|execa/.test(source);
}

const writes =
  /\b(?:writeFileSync|appendFileSync|writeFile|appendFile|createWriteStream|truncateSync|chmodSync|chownSync|outputFileSync|file_put_contents|File\.(?:write|chmod|truncate)|IO\.write|os\.(?:chmod|chown|truncate|mkfifo)|writeTextFile(?:Sync)?|Bun\.write|extractall)\s*\(/g;

const moves =
  /\b(?:renameSync|rename|copyFileSync|copyFile|cpSync|symlinkSync|symlink|linkSync|shutil\.(?:move|copy\w*|unpack_archive)|os\.(?:rename|replace|symlink|link)|FileUtils\.(?:mv|cp\w*|ln\w*)|File\.(?:rename|symlink)|copy|move)\s*\(/g;

const reads =
  /\b(?:readFileSync|readFile|createReadStream|file_get_contents|File\.(?:read|open|readlines|foreach)|IO\.read(?:lines)?|readTextFile(?:Sync)?|readfile|fopen|linecache\.getlines?|Bun\.file|put|upload(?:_?[fF]ile)?|upload_from_filename|fput_object|sendFile)\s*\(/g;

const perlOpens = /\bopen\s*[( ]/g;

/** Names the function first, then the folders. */
const perlFinds = /\bfind(?:depth)?\s*[( ]/g;

const perlGlobs = /\bglob\s+("[^"]*"|'[^']*')/g;

const perlMoves = /\b(?:rename|link|symlink|copy|move)\s*[( ]/g;

const perlTruncates = /\btruncate\s*[( ]/g;

/** Applies a function, given by its name, to each item. */
const applies = /\b(?:map|forEach|each|array_map|array_walk)\s*\(/g;

const opens = /\b(?:io\.|codecs\.)?open(?:Sync)?\s*\(/g;

const methods =
  /\.(unlink|rmdir|write_text|write_bytes|read_text|read_bytes|touch|symlink_to|rename|replace|chmod|open)\s*\(/g;

const lists =
  /\b(?:os\.(?:walk|listdir|scandir)|(?:glob\.)?i?glob|readdirSync|readdir|Dir\.(?:glob|entries|children|each_child))\s*\(/g;

const evaluates =
  /\b(?:exec|eval|Function|vm\.run\w+|instance_eval|loadstring|load|assert|create_function)\s*[( ]/g;

/** Code without any of these words does nothing but reckon and print. */
const noteworthy =
  /rm|remove|unlink|rimraf|delete|empty|trash|exec|spawn|system|open|run|call|write|append|ch(?:mod|own|dir)|truncat|rename|copy|cp|move|mv|link|read|file|load|eval|function|assert|socket|connect|fetch|fork|kill|setuid|env|http|require|import|query|while|loop|for|touch|glob|dir|walk|command|output|qx|%x|`|argv|\.do\b|send|post|base64|pack|path/i;

const oneLiner = 'Use plain shell commands or a script file that can be read.';

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
  connections(call, source, code.masked);
  requests(call, code);
  bodies(call, code);
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
  const { masked } = code;
  const bases = [
    ...found(code, lists).map(([, args]) => evaluate(code, args[0] ?? '')),
    ...(language === 'perl' ? [...source.matchAll(perlGlobs)] : []).map(([, text = '']) =>
      evaluate(code, text),
    ),
    ...(language === 'perl' ? [...found(code, perlFinds), ...found(code, /\bopendir\s*[( ]/g)] : []).flatMap(
      ([, args]) => args.slice(1).map((arg) => evaluate(code, arg)),
    ),
    ...[...masked.matchAll(/\.(?:iterdir|r?glob)\s*\(/g)].map(({ index }) => objectBefore(code, index)),
  ];
  for (const [name, args] of found(code, deletes)) deletion(call, code, name, args, bases);
  for (const [, args] of found(code, applies)) {
    if (!args.some((arg) => deleter.test(arg))) continue;
    for (const path of args.flatMap((arg) => listOf(code, arg) ?? []))
      known(path, () => call.file('delete', path, { recursive: true }));
    for (const base of bases) known(base, () => call.file('delete', withinBase(base), { recursive: true }));
  }
  for (const [, args] of found(code, /\burlretrieve\s*\(/g))
    call.keep(evaluate(code, args[1] ?? ''), NETWORK);
  const output = found(code, startsShell(code) ? runs : runsPlainly).map(([name, args]) =>
    execution(call, code, name, args),
  );
  for (const [, args] of [
    ...found(code, writes),
    ...(language === 'perl' ? found(code, perlTruncates) : []),
  ]) {
    const path = evaluate(code, args[0] ?? '');
    known(path, () => call.file('write', path));
    if (args[1] !== undefined) call.keep(path, evaluate(code, args[1]));
  }
  for (const [name, args] of found(code, language === 'perl' ? perlMoves : moves)) {
    const [from, to] = [evaluate(code, args[0] ?? ''), evaluate(code, args[1] ?? '')];
    known(from, () =>
      call.file(/move|rename|mv|replace/.test(name) ? 'delete' : 'read', from, { recursive: true }),
    );
    known(to, () => call.file('write', to));
  }
  const readFrom = [
    ...found(code, reads).map(([, args]) => evaluate(code, args[0] ?? '')),
    ...(bases.length > 0 ? found(code, opens).map(([, args]) => evaluate(code, args[0] ?? '')) : []),
  ];
  for (const path of readFrom) {
    // A name found by listing a folder lies in that folder.
    if (path.startsWith(UNKNOWN))
      for (const base of bases) known(base, () => call.file('read', withinBase(base)));
    else known(path, () => call.file('read', path));
  }
  const secrets = found(code, /\.write(?:lines)?\s*\(/g)
    .map(([, args]) => evaluate(code, args[0] ?? ''))
    .filter((text) => text.includes(PRIVATE) || secretsIn(text).length > 0);
  for (const [, all] of found(code, language === 'perl' ? perlOpens : opens)) {
    // Perl names the handle first.
    const [path = '', ...modes] = language === 'perl' ? all.slice(1) : all;
    if (secrets.length > 0 && modes.length > 0) call.keep(evaluate(code, path), secrets.join('\n'));
    openFile(
      call,
      evaluate(code, path),
      modes.map((arg) =>
        /\bO_(WRONLY|RDWR|TRUNC)\b/.test(arg) ? 'w' : evaluate(code, arg.replace(/^mode\s*=/, '')),
      ),
    );
  }
  for (const match of masked.matchAll(methods)) {
    const args = argumentsAt(code, match.index + match[0].length).map((arg) => evaluate(code, arg));
    method(call, match[1] ?? '', objectBefore(code, match.index), args, bases);
  }
  for (const [, args] of found(code, /\b(?:urlopen|urlretrieve|fetch)\s*\(/g)) {
    const [, path] = /^file:\/\/(\/.*)$/.exec(evaluate(code, args[0] ?? '')) ?? [];
    if (path !== undefined) call.file('read', path);
  }
  for (const [, args] of found(code, /\bfileinput\.\w+\s*\(/g))
    known(evaluate(code, args[0] ?? ''), (path) =>
      call.file(args.some((arg) => arg.startsWith('inplace')) ? 'write' : 'read', path),
    );
  for (const [, [what = '', to = '']] of found(code, /\b(?:json|pickle|yaml)\.(?:safe_)?dump\s*\(/g)) {
    const [, [path = ''] = []] = found({ ...code, source: to, masked: to }, opens)[0] ?? [];
    if (path !== '') call.keep(evaluate(code, path), evaluate(code, what));
  }
  for (const [, args] of found(code, evaluates)) hiddenCode(call, code, args);
  keepsFetched(call, code);
  return output.join('');
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

/** Each call of the kind, with its name and its arguments; a space instead of a bracket takes all up to the end. */
function found(code: Code, pattern: RegExp): readonly [string, string[]][] {
  if (code.masked.search(pattern) === -1) return [];
  return [...code.masked.matchAll(pattern)].map((match) => {
    const start = match.index + match[0].length;
    const name = match[0].slice(0, -1).trim();
    if (match[0].endsWith('(')) return [name, argumentsAt(code, start)];
    if (code.masked[start] === '(') return [name, argumentsAt(code, start + 1)];
    const end = endOf(code.masked, start, ';\n');
    return [
      name,
      argumentsAt({ ...code, source: code.source.slice(0, end), masked: code.masked.slice(0, end) }, start),
    ];
  });
}

function known(path: string, act: (path: string) => void): void {
  if (path !== '' && !path.startsWith(UNKNOWN)) act(path);
}

function deletion(
  call: Call,
  code: Code,
  name: string,
  args: readonly string[],
  bases: readonly string[],
): void {
  const recursive =
    /rmtree|remove_tree|rm_r|rm$|rmSync|rimraf|remove|RemoveAll|rm_rf|secure|empty/.test(name) &&
    !/os\.remove|File/.test(name);
  // Without a name, Perl takes the one that the loop is at.
  const named = args.length === 0 && code.language === 'perl' ? ['$_'] : args;
  const targets = named.flatMap((arg, i) => {
    const items = listOf(code, arg);
    if (items) return items;
    const isOption =
      i > 0 && (/^\{|^\w+\s*[=:]|^(true|false|\d+)$|=>/.test(arg) || !/perl|ruby/.test(code.language));
    return isOption ? [] : [evaluate(code, arg)];
  });
  for (const path of targets) {
    known(path, () => call.file('delete', path, { recursive }));
    // A name found by listing a folder lies in that folder.
    if (path.startsWith(UNKNOWN))
      for (const base of bases) known(base, () => call.file('delete', withinBase(base), { recursive }));
  }
}

const deleter = /^["']?(?:[\w.]*\b)?(?:unlink|remove|rmdir|unlinkSync|rmSync|rmtree|delete)["']?$/;

/** Something in a folder that was listed, or found by a pattern. */
function withinBase(base: string): string {
  return `${base.replace(/\*.*$/, '')}/${UNKNOWN}`;
}

/** Programs whose output goes where that of the code goes, without a word about it. */
const inherits =
  /^(os\.(system|exec|spawn)|(subprocess|sp|s)\.(run|call|check_call|Popen)$|system|exec$|passthru)/;

function execution(call: Call, code: Code, name: string, args: readonly string[]): string {
  const output = started(call, code, name, args);
  const options = args.slice(1).join(' ');
  const shown =
    /inherit/.test(options) || (inherits.test(name) && !/capture_output|stdout\s*=/.test(options));
  // What is caught is mostly caught to be printed.
  const told = isOpaque(output) && /\b(print|console\.log|puts|echo|say|stdout\.write)\b/.test(code.masked);
  return shown || told ? output : '';
}

function started(call: Call, code: Code, name: string, args: readonly string[]): string {
  const [first = '', second] = args.map((arg) => arg.replace(/^args\s*=\s*/, ''));
  const [, at = ''] = /(?:^|[{,\s])cwd\s*[:=]\s*([^,}]+)/.exec(args.slice(1).join(', ')) ?? [];
  const cwd = at === '' ? UNKNOWN : evaluate(code, at);
  const input = args.find((arg) => /^input\s*=/.test(arg))?.replace(/^input\s*=/, '');
  const [, [told = input] = []] = found(code, /\.communicate\s*\(/g)[0] ?? [];
  const stdin = told === undefined ? null : evaluate(code, told);
  const more = { stdin, ...(isOpaque(cwd) ? {} : { cwd }) };
  const list = listOf(code, first);
  const others = second === undefined ? null : listOf(code, second);
  const texts = args
    .filter((arg) => !/^\w+\s*=[^=]|^\{|^(function|\()/.test(arg))
    .map((arg) => evaluate(code, arg));
  if (/pty\.spawn/.test(name) && /socket/.test(code.masked)) return '';
  if (list)
    return call.run(
      list.filter((word) => word !== ''),
      more,
    );
  if (others && !/^\s*\{/.test(second ?? ''))
    return call.run(
      /execv|execl/.test(name) ? [texts[0] ?? '', ...others.slice(1)] : [texts[0] ?? '', ...others],
      more,
    );
  if (
    texts.length > 1 &&
    (/^exec\.Command$|subprocess_exec$/.test(name) ||
      (/^(system|exec|os\.execl\w*|os\.spawn\w*)$/.test(name) && /perl|ruby|python/.test(code.language)))
  )
    return call.run(
      texts.filter((word) => word !== ''),
      more,
    );
  if (code.language === 'python' && name === 'exec') return '';
  return feed(call, texts[0] ?? '', (text) => call.script(text, more));
}

function openFile(call: Call, path: string, modes: readonly string[]): void {
  const mode = modes.join(' ');
  // Perl writes the mode before or into the name.
  const [, arrow, name = ''] = /^\s*(>>?|\+?[<>])?\s*(.*)$/s.exec(path) ?? [];
  const target = name === '' ? (modes[0] ?? '') : name;
  if (/\|\s*$/.test(path) || /^\s*\|/.test(path))
    return void call.script(path.replaceAll('|', ''), { stdin: null });
  const writing =
    arrow?.startsWith('>') || /^\+?>/.test(path) || /(^|\s|,)["']?([rb]*[wax]\+?b?|rb?\+)/.test(mode);
  known(target, () =>
    call.file(
      writing ? 'write' : 'read',
      target,
      /(^|\s)a/.test(mode) || arrow === '>>' ? { how: 'append' } : {},
    ),
  );
}

function method(
  call: Call,
  name: string,
  path: string,
  args: readonly string[],
  bases: readonly string[],
): void {
  // With two texts it works on a text.
  if (name === 'replace' && args.length !== 1) return;
  if (/^(rename|replace)$/.test(name)) known(args[0] ?? '', (to) => call.file('write', to));
  if (name === 'open') openFile(call, path, args);
  else if (/^(unlink|rmdir)$/.test(name)) {
    const inside = path.startsWith(UNKNOWN) ? bases.map((base) => `${base}/${UNKNOWN}`) : [path];
    for (const target of inside) known(target, () => call.file('delete', target));
  } else if (/^read_/.test(name)) known(path, () => call.file('read', path));
  else known(path, () => call.file('write', path, { how: name === 'touch' ? 'create' : 'overwrite' }));
}

/** What the object amounts to whose method is called at this place. */
function objectBefore(code: Code, at: number): string {
  let start = at;
  while (start > 0) {
    const char = code.masked[start - 1] ?? '';
    if (char === ')' || char === ']') start = opening(code.masked, start - 1);
    else if (/[\w.$@]/.test(char)) start--;
    else break;
  }
  return evaluate(code, code.source.slice(start, at));
}

function opening(masked: string, close: number): number {
  let depth = 0;
  for (let i = close; i >= 0; i--) {
    if (')]}'.includes(masked[i] ?? '')) depth++;
    else if ('([{'.includes(masked[i] ?? '') && --depth === 0) return i;
  }
  return 0;
}

function hiddenCode(call: Call, code: Code, args: readonly string[]): void {
  const text = args.map((arg) => evaluate(code, arg)).join('');
  const source = args.join(' ');
  if (text.includes(NETWORK) || /urlopen|requests\.get|https?:\/\//.test(source))
    call.act('deny', 'remote-code', 'runs code from the network', 'Download it to a file and read it first.');
  else if (
    text.includes(DECODED) ||
    /b64decode|base64|fromhex|unhexlify|atob|decompress|marshal|fromCharCode|unpack|rot13/.test(source)
  )
    call.act('deny', 'obfuscation', 'runs code that was encoded', 'Write the code out in plain text.');
  else if (code.language !== 'perl' && text !== '' && !isOpaque(text)) follow(call, text, code.language);
}

/** All variables at once, and not one by its name. */
const wholeEnvironmentIn =
  /\bos\.environ\b(?!\s*[[.])|\bprocess\.env\b(?!\s*[[.])|%ENV\b|\bENV\.to_\w+|\$_ENV\b(?!\[)|\bgetenv\(\s*\)/;

/** For a program that is started here. */
const handedOn = /\benv\s*[:=]\s*(?:dict\(\s*)?(?:os\.environ|process\.env)\b/g;

const endless =
  /\bitertools\.count\(|\biter\(\s*int\s*,|\bwhile\s*\(?\s*(1|true|True)\b|\bfor\s*\(\s*;\s*;\s*\)|\bloop\s*(do|\{)|\bsetInterval\s*\([^;]*,\s*\d?\s*\)/;
/** Writes to a file, or makes a text longer by itself. */
const grows =
  /\b(appendFile|writeFile)\w*\s*\(|\bFile\.write\b|(?<!stdout)\.write\s*\(|\bprint\s+[A-Z]+\s|\b(\w+)\s*\+=\s*\2\b/;
const paused = /\b(sleep|wait|await|break|last|return|exit|read|recv|accept|input|gets|poll)\w*\b/;

function connections(call: Call, source: string, masked: string): void {
  if (
    (/\bfetch\b|\burlopen\b|https?\.get\b/.test(masked) ||
      /\brequire\(["'](node:)?https?["']\)\.get\b/.test(source)) &&
    /\beval\b|\bnew Function\b|\bvm\.run/.test(masked)
  ) {
    call.act('deny', 'remote-code', 'runs code from the network', 'Download it to a file and read it first.');
  }
  if (
    /\b(socket|fsockopen|TCPSocket|net\.(connect|Socket|createConnection)|IO::Socket|Socket::INET|connect)\b/.test(
      masked,
    ) &&
    /\b(dup2|pty|exec(?!ute)\w*|os\.execute|spawn|system|popen|shell_exec|proc_open|STDIN->fdopen|\/bin\/(ba)?sh)\b|\/bin\/(ba)?sh|`#?\{?\w/.test(
      source,
    )
  ) {
    call.act('deny', 'remote-shell', 'gives a shell to another machine', 'Do not open shells to others.');
  }
  if (
    /\bfork\b\s*(\(\s*\)\s*)?(while|until|for)\b|\bwhile\b[\s\S]{0,40}\bpcntl_fork\b|\bfork\b[^;]*\bwhile\b[^;]*\bfork\b|\bwhile\b[\s\S]{0,80}\bfork\b|\bfork\b.*\bfork\b|loop\s*\{\s*fork|for\s*\(;;\)\s*\{?\s*(\w+\.)*fork/.test(
      masked,
    ) ||
    (endless.test(masked) && /\b(spawn|fork|Popen|Process|exec)\s*\(/.test(masked) && !paused.test(masked))
  )
    call.act('deny', 'exhaustion', 'starts processes without end', oneLiner);
  if (
    /\b(kill|killpg|posix_kill)\b[^;\n]*\b(posix_)?getppid\b|\b(os\.kill|process\.kill|Process\.kill|posix_kill)\s*\(\s*(["':]?\s*["']?\w*["']?\s*,\s*)?(1\b|-1\b|os\.getppid|(process|Process)\.ppid|0\b)|\bkill\s+\S+\s*,?\s*(getppid|-?1\b)/.test(
      masked,
    )
  )
    call.act(
      'deny',
      'process',
      'ends the agent or every process',
      'End the process that you started, by its id.',
    );
  if (
    /\b(process_iter|psutil\.pids)\b/.test(masked) &&
    /\.(kill|terminate|suspend)\s*\(/.test(masked) &&
    !/\bname\b|\bcmdline\b/.test(masked)
  )
    call.act('deny', 'process', 'ends every process', 'End the process that you started, by its id.');
  if (/\b(os\.setuid|posix_setuid|process\.setuid|Process::UID)\b.*\b0\b/.test(masked))
    call.act('deny', 'privilege', 'becomes root', 'Work as the user that you are.');
  if (wholeEnvironmentIn.test(masked.replace(handedOn, '')) && /https?:\/\/(?!localhost|127\.)/.test(source))
    call.act('deny', 'exfiltration', 'sends the environment away', 'Keep it on this machine.');
  if (
    /\b(requests\.(post|put)|urlopen|http\.client|fetch|https?\.request|axios\.post|Net::HTTP|curl_exec|LWP|smtplib|net\.(connect|createConnection)|TCPSocket|create_connection|fsockopen|IO::Socket)\b/.test(
      masked,
    ) &&
    (/environ\b|process\.env\b(?!\.)|\bENV\.to_h/.test(masked) ||
      (hasReadOthers(call) && !/\b(localhost|127\.0\.0\.1)\b/.test(source)))
  ) {
    call.act('deny', 'exfiltration', 'sends private data away', 'Keep it on this machine.');
  }
}

/** What code writes that has fetched something, and what it runs of a file that was fetched. */
function keepsFetched(call: Call, code: Code): void {
  const opened = found(code, opens).map(([, args]) => args.map((arg) => evaluate(code, arg)));
  const fetches =
    call.stdin?.includes(NETWORK) ||
    found(code, sending).some(([, args]) => {
      const url = evaluate(code, args[0] ?? '');
      return /^https?:/.test(url) && !isLocal(hostOf(url));
    });
  if (fetches) {
    for (const [, args] of found(code, writes))
      known(evaluate(code, args[0] ?? ''), (path) => call.keep(path, NETWORK));
    for (const [path = '', mode = ''] of opened)
      if (/^[wax]/.test(mode)) known(path, () => call.keep(path, NETWORK));
  }
  const files = [
    ...(/(?<![.\w])(?:exec|eval|Function|loadstring|instance_eval)\s*[( ]|\bvm\.run\w+\(/.test(code.masked)
      ? [
          ...opened.map(([path = '']) => path),
          ...found(code, reads).map(([, args]) => evaluate(code, args[0] ?? '')),
        ]
      : []),
    ...found(code, /(?<!\.)\b(?:require|load|do)\s*[( ]/g).map(([, args]) => evaluate(code, args[0] ?? '')),
  ];
  for (const file of files)
    if (
      file !== '' &&
      !/\.(json|csv|txt|ya?ml)$/.test(file) &&
      !isOpaque(file) &&
      call.content(file).includes(NETWORK)
    )
      call.act(
        'deny',
        'remote-code',
        'runs what comes from the network',
        'Download it to a file and read it first.',
      );
}

/** Functions that take an address first and what is sent after it. */
const sending =
  /\b(?:fetch|urlopen|Request|requests\.\w+|httpx\.\w+|axios(?:\.\w+)?|got(?:\.\w+)?|https?\.(?:get|request)|Net::HTTP\.\w+|URI(?:\.open)?|file_get_contents|curl_init|lookup|resolve\w*|gethostbyname|getaddrinfo|post_form|(?:->|\.)(?:post|put|patch|request))\s*\(/g;

/** Secrets that go to a host which they are not for, and commands that come from one. */
function requests(call: Call, code: Code): void {
  for (const [name, args] of found(code, sending)) {
    const texts = args.map((arg) => evaluate(code, arg));
    const host = hostOf(texts[0] ?? '');
    const isAddress =
      /^https?:\/\//.test(texts[0] ?? '') || (/lookup|resolve|get\w+$/.test(name) && host.includes('.'));
    if (!isAddress || host.startsWith(UNKNOWN)) continue;
    sends(call, texts.join(' '), host, true);
    const isDelete =
      /\.delete$/.test(name) || /\bmethod["']?\s*[:=]\s*["']DELETE\b/i.test(args.slice(1).join(' '));
    if (isDelete && !isLocal(host))
      call.act('deny', 'cloud', `deletes something on ${host}`, 'Leave it to a person.');
  }
  if (!/https?:\/\/(?!localhost|127\.|\[::1\])/.test(code.source) || found(code, sending).length === 0)
    return;
  if (
    found(code, runs).some(
      ([name, args]) =>
        /exec|system|popen|run|call|spawn/i.test(name) && evaluate(code, args[0] ?? '') === UNKNOWN,
    )
  )
    call.act(
      'deny',
      'remote-code',
      'runs what comes from the network',
      'Download it to a file and read it first.',
    );
}

/** Rights, rows and memory, as far as a call says plainly what it does with them. */
function bodies(call: Call, code: Code): void {
  const { masked, source, language } = code;
  if (/\bchmod\w*\s*[( ][^);]{0,200}\b0o?[4-7][0-7]{3}\b/.test(masked))
    call.act('deny', 'privilege', 'sets the set-user-id bit', 'Run the program as the user who needs it.');
  for (const [, args] of found(code, /(?:\.|->)(?:query|execute|executescript|exec|run|do)\s*\(/g)) {
    const [, inner] = /^[\w.]*\b(?:text|sql|raw)\((.*)\)$/is.exec(args[0] ?? '') ?? [];
    const what = destroysData(evaluate(code, inner ?? args[0] ?? ''));
    if (what !== null && !/:memory:|\btest\b|\/tmp\//.test(source))
      call.act(
        'deny',
        'database',
        `${what} in the database`,
        'Work on a database of your own whose name says test.',
      );
  }
  const tests = /:memory:|\btest\b|\/tmp\//.test(source) || isTestRun(call);
  if (empties.test(masked) && !tests)
    call.act(
      'deny',
      'database',
      'empties a table or a store',
      'Work on a database of your own whose name says test.',
    );
  if (
    /\b(boto3|aws-sdk|google\.cloud|googleapis|azure\.mgmt|octokit|kubernetes)\b/.test(source) &&
    /\.(delete|terminate|destroy|purge|stop_instances)\w*\s*\(|\b(Delete|Terminate)\w+Command\b/.test(masked)
  )
    call.act('deny', 'cloud', 'takes down what runs in the cloud', 'Leave it to a person.');
  for (const [, args] of found(code, /\b(?:import|include|include_once|require|require_once)\s*[( ]/g))
    if (/^https?:/.test(evaluate(code, args[0] ?? '')))
      call.act(
        'deny',
        'remote-code',
        'runs code from the network',
        'Download it to a file and read it first.',
      );
  if (endless.test(masked) && grows.test(masked) && !paused.test(masked))
    call.act('deny', 'exhaustion', 'fills the disk or the memory', 'Give the loop an end.');
  if (language === 'perl' && /(\.=|\bpush\b|\bx=)[^;]*\bwhile\s*\(?\s*1\b/.test(masked))
    call.act('deny', 'exhaustion', 'fills the memory', 'Give the loop an end.');
  if (
    /\b(while\s*\(?\s*(1|true|True)\b|for\s*\(\s*;\s*;\s*\)|loop\s*(do|\{))[^;\n]{0,80}\n?[^;\n]{0,80}(\bpush\b|\.append\b|\.push\b|<<|\balloc)/.test(
      masked,
    ) &&
    !/\b(break|last|return|exit)\b/.test(masked)
  )
    call.act('deny', 'exhaustion', 'fills the memory', 'Give the loop an end.');
  if (
    language === 'perl' &&
    /\b(tr|y)\/[^/]+\/[^/]+\//.test(source) &&
    /\b(system|exec|eval)\s*\(?\s*\$/.test(masked)
  )
    call.act('deny', 'obfuscation', 'runs text that was encoded', 'Write the command out in plain text.');
}

/** Goes through all variables with their values. */
const showsEnvironment =
  /\bof\s+Object\.(?:entries|values)\(\s*process\.env\s*\)|\bObject\.(?:entries|values)\(\s*process\.env\s*\)\.|\bin\s+process\.env\b[\s\S]{0,200}\benv\[\w+\]/;

/** What a few prints print: it may be given to a shell next. */
function printed(code: Code): string {
  const parts = found(
    code,
    /\b(?:print|console\.\w+|puts|echo|process\.std(?:out|err)\.write|sys\.std(?:out|err)\.write|say|warn|die|print_r|var_dump|pprint|pp?|Error|SystemExit)\s*[( ]/g,
  ).map(([, args]) =>
    args
      .filter((arg) => !/^(end|sep|file|flush)\s*=/.test(arg))
      .map((arg) => evaluate(code, arg))
      .join(' '),
  );
  if (parts.length === 0) return UNKNOWN;
  return showsEnvironment.test(code.masked) ? PRIVATE : `${parts.join('\n')}\n`;
}
