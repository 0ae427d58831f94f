import { readArgs } from '../argv.ts';
import { UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { filesOfPatch } from '../patch-files.ts';
import { isInside, isProjectFile, isSecretFile } from '../paths.ts';
import { spend, stepCost } from '../shell.ts';
import { size } from '../size.ts';
import { fetchesFiles, unpacks } from './fetched.ts';
import { committedTree, loses, patches, undoesWork } from './git-work.ts';
import { maySend } from './hosts.ts';

const remove: Handler = (call) => {
  const args = readArgs(call.words);
  const recursive = args.has('r', 'R', 'recursive') || call.name !== 'rm';
  for (const path of args.rest) {
    if (path !== '') call.file('delete', path, { recursive });
  }
  return '';
};

const erase: Handler = (call) => {
  for (const path of readArgs(call.words, { letters: 'ns' }).rest) call.file('delete', path);
  return '';
};

/** Where copies end up: in a folder under their own name, or under the new name. */
function destinations(target: string, sources: readonly string[]): string[] {
  const folder = /(^|\/)\.{0,2}$/.test(target) || target.endsWith('/') || sources.length > 1;
  if (!folder) return [target];
  const base = target.replace(/\/+$/, '');
  return sources.map((source) => `${base}/${source.replace(/\/+$/, '').split('/').at(-1) ?? ''}`);
}

function targetsOf(
  call: Call,
  letters: string,
): { sources: readonly string[]; target: string; recursive: boolean } {
  const args = readArgs(call.words, {
    letters,
    long: ['target-directory', 'mode', 'owner', 'group', 'suffix'],
  });
  const folder = args.value('t', 'target-directory');
  const sources = folder === undefined ? args.rest.slice(0, -1) : args.rest;
  const last = folder === undefined ? args.rest.at(-1) : `${folder}/`;
  return { sources, target: last ?? '', recursive: args.has('r', 'R', 'a', 'recursive', 'archive') };
}

/** A plain path, or a folder of the caller's: `cp x ~` puts it inside. */
function withFolder(call: Call, target: string): string {
  const { home, projectRoot } = call.shell.world.context;
  const path = call.path(target);
  return path === home || path === projectRoot || path === '/' || path === '/tmp' ? `${path}/` : target;
}

const copy: Handler = (call) => {
  const { sources, target, recursive } = targetsOf(call, 'tSgmo');
  if (call.name === 'install')
    setsUser(call, readArgs(call.words, modeGrammar).value('m', 'mode') ?? '', [target]);
  const { context } = call.shell.world;
  for (const source of sources) {
    const to = call.path(target);
    const inside = isProjectFile(call.path(source), context) && isProjectFile(to, context);
    // Under a name such as env.txt it is no longer known for a secret.
    const disguised = /\/[^/]*\.\w+$/.test(to) && !isSecretFile(to, context, false);
    if (!inside || (disguised && isSecretFile(call.path(source), context, false)))
      call.file('read', source, { recursive });
  }
  destinations(withFolder(call, target), sources).forEach((path, i) => {
    const source = sources[i] ?? sources[0] ?? '';
    call.file('write', path);
    call.keep(path, call.content(source));
    if (recursive) spreads(call, source, path);
  });
  return '';
};

/** What the command itself has put into a folder goes with the folder. */
function spreads(call: Call, from: string, to: string): void {
  const folder = call.path(from);
  for (const [path, content] of call.shell.world.files.below(folder)) {
    // A folder that is copied into itself doubles each time.
    spend(call.shell.world, stepCost);
    const copy = `${to}/${path.slice(folder.length + 1)}`;
    call.file('write', copy);
    call.keep(copy, content);
  }
}

const modeGrammar = { letters: 'tSgmo', long: ['mode', 'owner', 'group', 'target-directory'] };

/** A program that runs as its owner, whoever starts it. */
function setsUser(call: Call, mode: string, paths: readonly string[]): void {
  const octal = /^[0-7]?[4-7][0-7]{3}$/.test(mode) && mode.length >= 4 && /^[2-7]/.test(mode.slice(-4));
  if (octal || /[ug]*[+=][rwx]*s/.test(mode))
    call.act(
      'deny',
      'privilege',
      `sets the set-user-id bit on ${paths.join(' ')}`,
      'Run the program as the user who needs it.',
    );
}

const move: Handler = (call) => {
  const { sources, target } = targetsOf(call, 'tS');
  const { context } = call.shell.world;
  for (const source of sources) {
    const inside = isProjectFile(call.path(source), context) && isProjectFile(call.path(target), context);
    call.file(inside ? 'write' : 'delete', source, { recursive: true });
  }
  destinations(withFolder(call, target), sources).forEach((path, i) => {
    call.file('write', path);
    call.keep(path, call.content(sources[i] ?? ''));
  });
  return '';
};

const link: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'tS' });
  const [source = '', target = `./${source.split('/').at(-1)}`] = args.rest;
  const from = args.has('s', 'symbolic') ? source : call.path(source);
  const path = call.path(target);
  call.file('write', target, { how: args.has('f', 'force') ? 'overwrite' : 'create' });
  const real = from.startsWith('/') ? from : call.path(`${target}/../${from}`);
  call.shell.world.links.set(path, real);
  if (!args.has('s', 'symbolic')) call.file('read', source);
  return '';
};

const create: Handler = (call) => {
  const { rest } = readArgs(call.words, { letters: 'mdrt' });
  for (const path of rest) call.file('write', path, { how: 'create' });
  return '';
};

const truncate: Handler = (call) => {
  for (const path of readArgs(call.words, { letters: 'sr', long: ['size', 'reference'] }).rest)
    call.file('write', path);
  return '';
};

const tee: Handler = (call) => {
  const args = readArgs(call.words);
  for (const path of args.rest) {
    call.file('write', path, { how: args.has('a', 'append') ? 'append' : 'overwrite' });
    call.keep(path, call.stdin ?? '');
  }
  return call.stdin ?? '';
};

const dd: Handler = (call) => {
  const value = (name: string) =>
    call.words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const [from, to] = [value('if'), value('of')];
  if (from) call.file('read', from);
  if (to) {
    call.file('write', to);
    const bytes = size(value('bs') ?? '512') * Number(value('count') ?? Number.NaN);
    const endless = /^\/dev\/(zero|u?random)$/.test(from ?? '') && !value('count');
    if (bytes > 50e9 || endless) call.act('deny', 'exhaustion', 'fills the disk', 'Make a smaller file.');
    call.keep(to, from ? call.content(from) : (call.stdin ?? ''));
    return '';
  }
  return from ? call.content(from) : (call.stdin ?? UNKNOWN);
};

const allocate: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'lo', long: ['length', 'offset'] });
  const erases = args.has('p', 'punch-hole', 'z', 'zero-range', 'c', 'collapse-range');
  for (const path of args.rest) call.file('write', path, { how: erases ? 'overwrite' : 'create' });
  if (size(args.value('l', 'length') ?? '0') > 20e9)
    call.act('deny', 'exhaustion', 'fills the disk', 'Make a smaller file.');
  return '';
};

const mode: Handler = (call) => {
  const args = readArgs(
    call.words.map((word) => (/^-[rwxXst]+$/.test(word) && !/^-R/.test(word) ? `a${word}` : word)),
  );
  const [first = '', ...paths] = args.has('reference') ? ['', ...args.rest] : args.rest;
  const recursive = args.has('R', 'recursive');
  if (call.name === 'chmod') setsUser(call, first, paths);
  for (const path of paths) call.file('write', path, { how: 'mode', recursive });
  return '';
};

const sync: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'efBT',
    long: [
      'exclude',
      'include',
      'rsh',
      'filter',
      'files-from',
      'exclude-from',
      'log-file',
      'backup-dir',
      'rsync-path',
    ],
  });
  const target = args.rest.at(-1) ?? '';
  const sources = args.rest.slice(0, -1);
  const shell = args.value('e', 'rsh');
  if (shell !== undefined && !/^ssh\b/.test(shell)) call.script(shell);
  if (args.has('n', 'dry-run')) return UNKNOWN;
  const remote = /^([\w.-]+@)?[\w.-]+:|^rsync:/.test(target);
  for (const source of sources) call.file('read', source, { recursive: true });
  if (remote) {
    const own = sources.every((source) => maySend(call, source));
    call.act(own ? 'warn' : 'deny', 'exfiltration', `copies files to ${target}`, 'Let a person upload it.');
    return UNKNOWN;
  }
  const deletes = [...args.flags].some((flag) => flag.startsWith('delete'));
  if (deletes) call.file('delete', target, { recursive: true });
  else call.file('write', target, { how: 'overwrite' });
  fetchesFiles(call, sources, target);
  if (args.has('remove-source-files'))
    for (const source of sources) call.file('delete', source, { recursive: true });
  return UNKNOWN;
};

const archive: Handler = (call) => {
  const [first = '', ...others] = call.words;
  const words = /^[a-zA-Z]+$/.test(first) ? [`-${first}`, ...others] : call.words;
  const args = readArgs(words, {
    letters: 'fCTIXbKNgVFH',
    long: [
      'file',
      'directory',
      'use-compress-program',
      'to-command',
      'checkpoint-action',
      'exclude',
      'files-from',
      'transform',
      'rsh-command',
    ],
  });
  const folder = args.value('C', 'directory') ?? '.';
  for (const program of args.all(
    'I',
    'use-compress-program',
    'to-command',
    'checkpoint-action',
    'rsh-command',
  )) {
    const command = program.startsWith('exec=') ? program.slice(5) : program;
    if (!/^(sleep|dot|ttyout|echo|bell|totals)\b/.test(command)) call.script(command, { stdin: null });
  }
  const file = args.value('f', 'file');
  if (args.has('x', 'extract', 'get')) {
    call.file('write', folder);
    const content = file === undefined || file === '-' ? (call.stdin ?? '') : call.content(file);
    unpacks(call, content, folder);
    takesOut(call, content, folder);
    if (
      call.stdin?.includes(committedTree) &&
      isInside(call.path(folder), call.shell.world.context.projectRoot)
    )
      loses(call, call.shell.cwd, 'throws away uncommitted changes');
    return '';
  }
  if (!args.has('c', 'create', 'r', 'u', 'append', 'update')) return UNKNOWN;
  let members = '';
  for (const name of args.rest) {
    const path = name.startsWith('/') ? name : `${folder}/${name}`;
    call.file('read', path, { recursive: true });
    if (args.has('remove-files')) call.file('delete', path, { recursive: true });
    members += member(call, path, name);
  }
  if (file === undefined || file === '-') return `${UNKNOWN}\n${members}`;
  call.file('write', file);
  call.keep(file, `${UNKNOWN}\n${members}`);
  return '';
};

/** A line about what an archive of this command holds. */
function member(call: Call, path: string, name: string): string {
  return `member ${call.path(path)} as ${name.replace(/^\/+/, '')}\n`;
}

function takesOut(call: Call, content: string, folder: string): void {
  for (const [, from = '', name = ''] of content.matchAll(/^member (\S+) as (\S+)$/gm))
    spreads(call, from, `${folder}/${name}`);
}

const zip: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'xiPbt', long: ['unzip-command'] });
  const [file = '', ...paths] = args.rest;
  const test =
    args.value('unzip-command') ??
    (call.words.includes('-TT') ? call.words[call.words.indexOf('-TT') + 1] : undefined);
  if (test !== undefined) call.script(test);
  for (const path of paths) call.file('read', path, { recursive: args.has('r') });
  if (args.has('m')) for (const path of paths) call.file('delete', path, { recursive: true });
  if (file === '-') return UNKNOWN;
  call.file('write', file);
  call.keep(file, `${UNKNOWN}\n${paths.map((path) => member(call, path, path)).join('')}`);
  return '';
};

const unzip: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'dxP' });
  if (args.has('l', 't', 'v', 'p')) return UNKNOWN;
  const folder = args.value('d') ?? '.';
  call.file('write', folder);
  const content = call.content(args.rest[0] ?? '');
  unpacks(call, content, folder);
  takesOut(call, content, folder);
  return '';
};

const sevenZip: Handler = (call) => {
  const [action = '', archive = '', ...paths] = call.words.filter((word) => !word.startsWith('-'));
  if (action === 'x' || action === 'e') {
    const folder = call.words.find((word) => word.startsWith('-o'))?.slice(2) ?? '.';
    call.file('write', folder);
    return '';
  }
  if (!/^(a|u|d|rn)$/.test(action)) return UNKNOWN;
  for (const path of paths) {
    call.file('read', path, { recursive: true });
    if (call.words.includes('-sdel')) call.file('delete', path, { recursive: true });
  }
  call.file('write', archive);
  return '';
};

const attributes: Handler = (call) => {
  for (const path of readArgs(call.words).rest)
    if (/[/.~]/.test(path)) call.file('write', path, { how: 'mode', recursive: true });
  return '';
};

const split: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: call.name === 'csplit' ? 'fnb' : 'lbnCat',
    long: ['filter', 'prefix'],
  });
  for (const command of args.all('filter')) call.script(command);
  const [from = '', last = 'x'] = args.rest;
  const prefix = call.name === 'csplit' ? (args.value('f', 'prefix') ?? 'xx') : last;
  if (from !== '-') call.file('read', from);
  call.file('write', prefix);
  return '';
};

/** Codex takes it for its own tool where a shell is told to run it: the patch on its input or as its one word. */
function applyPatch(call: Call): string {
  const patch = [call.stdin ?? '', ...call.words].join('\n');
  for (const { kind, path } of filesOfPatch(patch)) call.file(kind, path);
  return '';
}

export const files: Handlers = {
  rm: remove,
  rimraf: remove,
  'del-cli': remove,
  del: remove,
  trash: remove,
  'trash-put': remove,
  gio: (call) =>
    call.words[0] === 'trash' || call.words[0] === 'remove'
      ? remove(call.with({ words: call.words.slice(1) }))
      : UNKNOWN,
  rmdir: () => '',
  unlink: erase,
  shred: erase,
  srm: remove,
  wipe: remove,
  cp: copy,
  install: copy,
  mv: move,
  ln: link,
  mkdir: create,
  touch: create,
  mkfifo: create,
  truncate,
  tee,
  sponge: tee,
  dd,
  fallocate: allocate,
  chmod: mode,
  chown: mode,
  chgrp: mode,
  chattr: attributes,
  setfacl: attributes,
  rsync: sync,
  tar: archive,
  bsdtar: archive,
  zip,
  '7z': sevenZip,
  '7za': sevenZip,
  '7zz': sevenZip,
  unzip,
  cpio: (call) => {
    const args = readArgs(call.words, { letters: 'FEHDICMR' });
    const listed = (call.stdin ?? '').split('\n').filter(Boolean);
    if (!args.has('i', 'extract')) for (const path of listed) call.file('read', path);
    if (args.has('p', 'pass-through')) call.file('write', args.rest[0] ?? '.');
    return UNKNOWN;
  },
  split,
  patch: (call) => {
    const args = readArgs(call.words, {
      letters: 'pidorBDFVYz',
      long: ['input', 'output', 'directory', 'strip'],
    });
    const [target] = args.rest;
    const folder = args.value('d', 'directory');
    const file = args.value('i', 'input');
    const text = file === undefined ? (call.stdin ?? '') : call.content(file);
    if (folder !== undefined) call.file('write', `${folder}/${target ?? 'patched'}`);
    else if (target !== undefined) call.file('write', target);
    else patches(call, text, Number(args.value('p', 'strip') ?? 0));
    undoesWork(call, text, readArgs(call.words).has('R', 'reverse'));
    return '';
  },
  apply_patch: applyPatch,
  applypatch: applyPatch,
  csplit: split,
  rename: (call) => {
    for (const path of readArgs(call.words).rest.slice(1)) if (/[./]/.test(path)) call.file('delete', path);
    return '';
  },
};
