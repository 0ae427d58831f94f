import { readArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { size } from '../decode.ts';
import { ENDLESS, NETWORK, UNKNOWN } from '../marks.ts';
import { isProjectFile, isSecretFile } from '../zones.ts';
import { fetchesFiles, spreads } from './fetched.ts';
import { maySend } from './hosts.ts';
import { byName } from './rules.ts';

const remove: Handler = (call) => {
  const args = readArgs(call.words);
  const recursive = args.has('r', 'R', 'recursive') || call.name !== 'rm';
  return call.files('delete', args.rest.filter(Boolean), { recursive });
};

function destinations(target: string, sources: readonly string[]): string[] {
  const folder = /(^|\/)\.{0,2}$/.test(target) || target.endsWith('/') || sources.length > 1;
  if (!folder) return [target];
  const base = target.replace(/\/+$/, '');
  return sources.map((source) => `${base}/${source.replace(/\/+$/, '').split('/').at(-1) ?? ''}`);
}

function targetsOf(call: Call, letters: string) {
  const args = readArgs(call.words, letters, 'target-directory mode owner group suffix');
  const folder = args.value('t', 'target-directory');
  const sources = folder === undefined ? args.rest.slice(0, -1) : args.rest;
  const last = folder === undefined ? args.rest.at(-1) : `${folder}/`;
  return { sources, target: last ?? '', recursive: args.has('r', 'R', 'a', 'recursive', 'archive') };
}

/** A plain path, or a folder of the caller's: `cp x ~` puts it inside. */
function withFolder(call: Call, target: string): string {
  const { home, projectRoot } = call.context;
  const path = call.path(target);
  return path === home || path === projectRoot || path === '/' || path === '/tmp' ? `${path}/` : target;
}

function setsUser(call: Call, mode: string, paths: readonly string[]): void {
  const octal = /^[0-7]?[4-7][0-7]{3}$/.test(mode) && mode.length >= 4 && /^[2-7]/.test(mode.slice(-4));
  const what = `sets the set-user-id bit on ${paths.join(' ')}`;
  if (octal || /[ug]*[+=][rwx]*s/.test(mode))
    call.deny('privilege', what, 'Run the program as the user who needs it.');
}

const mode: Handler = (call) => {
  const args = readArgs(
    call.words.map((word) => (/^-[rwxXst]+$/.test(word) && !/^-R/.test(word) ? `a${word}` : word)),
  );
  const [first = '', ...paths] = args.has('reference') ? ['', ...args.rest] : args.rest;
  const recursive = args.has('R', 'recursive');
  if (call.name === 'chmod') setsUser(call, first, paths);
  return call.files('write', paths, { how: 'mode', recursive });
};

export const files: Handlers = byName({
  'rm rimraf del-cli del trash trash-put trash-cli srm wipe': remove,
  gio: (call) =>
    call.words[0] === 'trash' || call.words[0] === 'remove'
      ? remove(call.with({ words: call.words.slice(1) }))
      : UNKNOWN,
  rmdir: () => '',
  'unlink shred': (call) => call.files('delete', readArgs(call.words, 'ns').rest),
  'cp install': (call) => {
    const { sources, target, recursive } = targetsOf(call, 'tSgmo');
    const args = readArgs(call.words, 'tSgmo', 'mode owner group target-directory');
    if (call.name === 'install') setsUser(call, args.value('m', 'mode') ?? '', [target]);
    const { context } = call;
    for (const source of sources) {
      const [from, to] = [call.path(source), call.path(target)];
      const inside = isProjectFile(from, context) && isProjectFile(to, context);
      // Under a name such as env.txt it is no longer known for a secret.
      const disguises =
        isSecretFile(from, context, false) && /\/[^/]*\.\w+$/.test(to) && !isSecretFile(to, context, false);
      if (!inside || disguises) call.file('read', source, { recursive });
    }
    destinations(withFolder(call, target), sources).forEach((path, i) => {
      const source = sources[i] ?? sources[0] ?? '';
      call.save(path, call.content(source));
      if (recursive) spreads(call, source, path);
    });
    return '';
  },
  mv: (call) => {
    const { sources, target } = targetsOf(call, 'tS');
    for (const source of sources) {
      const inside =
        isProjectFile(call.path(source), call.context) && isProjectFile(call.path(target), call.context);
      call.file(inside ? 'write' : 'delete', source, { recursive: true });
    }
    destinations(withFolder(call, target), sources).forEach((path, i) => {
      call.save(path, call.content(sources[i] ?? ''));
    });
    return '';
  },
  ln: (call) => {
    const args = readArgs(call.words, 'tS');
    const [source = '', target = `./${source.split('/').at(-1)}`] = args.rest;
    const from = args.has('s', 'symbolic') ? source : call.path(source);
    const path = call.path(target);
    call.file('write', target, { how: args.has('f', 'force') ? 'overwrite' : 'create' });
    const real = from.startsWith('/') ? from : call.path(`${target}/../${from}`);
    call.shell.world.links.set(path, real);
    if (!args.has('s', 'symbolic')) call.file('read', source);
    return '';
  },
  'mkdir touch mkfifo': (call) => call.files('write', readArgs(call.words, 'mdrt').rest, { how: 'create' }),
  truncate: (call) => call.files('write', readArgs(call.words, 'sr', 'size reference').rest),
  'tee sponge': (call) => {
    const args = readArgs(call.words);
    for (const path of args.rest) {
      call.file('write', path, { how: args.has('a', 'append') ? 'append' : 'overwrite' });
      call.keep(path, call.stdin ?? '');
    }
    return call.stdin ?? '';
  },
  dd: (call) => {
    const value = (name: string) =>
      call.words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
    const [from, to] = [value('if'), value('of')];
    if (from) call.file('read', from);
    const source = from ? call.content(from) : (call.stdin ?? UNKNOWN);
    const text = value('count') ? source.replaceAll(ENDLESS, UNKNOWN) : source;
    if (to) {
      call.file('write', to);
      const bytes = size(value('bs') ?? '512') * Number(value('count') ?? Number.NaN);
      const endless = /^\/dev\/(zero|u?random)$/.test(from ?? '') && !value('count');
      if (bytes > 50e9 || endless) call.deny('exhaustion', 'fills the disk', 'Make a smaller file.');
      call.keep(to, text);
      return '';
    }
    return text;
  },
  fallocate: (call) => {
    const args = readArgs(call.words, 'lo', 'length offset');
    const erases = args.has('p', 'punch-hole', 'z', 'zero-range', 'c', 'collapse-range');
    call.files('write', args.rest, { how: erases ? 'overwrite' : 'create' });
    if (size(args.value('l', 'length') ?? '0') > 20e9)
      call.deny('exhaustion', 'fills the disk', 'Make a smaller file.');
    return '';
  },
  'chmod chown chgrp': mode,
  'chattr setfacl': (call) => {
    const paths = readArgs(call.words).rest.filter((path) => /[/.~]/.test(path));
    return call.files('write', paths, { how: 'mode', recursive: true });
  },
  rsync: (call) => {
    const long = 'exclude include rsh filter files-from exclude-from log-file backup-dir rsync-path';
    const args = readArgs(call.words, 'efBT', long);
    const target = args.rest.at(-1) ?? '';
    const sources = args.rest.slice(0, -1);
    const shell = args.value('e', 'rsh');
    if (shell !== undefined && !/^ssh\b/.test(shell)) call.script(shell);
    if (args.has('n', 'dry-run')) return UNKNOWN;
    const remote = /^([\w.-]+@)?[\w.-]+:|^rsync:/.test(target);
    call.files('read', sources, { recursive: true });
    if (remote) {
      const own = sources.every((source) => maySend(call, source));
      call.act(own ? 'warn' : 'deny', 'exfiltration', `copies files to ${target}`, 'Let a person upload it.');
      return UNKNOWN;
    }
    const deletes = [...args.flags].some((flag) => flag.startsWith('delete'));
    if (deletes) call.file('delete', target, { recursive: true });
    else call.file('write', target, { how: 'overwrite' });
    fetchesFiles(call, sources, target);
    for (const source of sources) if (call.content(source).includes(NETWORK)) call.keep(target, NETWORK);
    if (args.has('remove-source-files')) call.files('delete', sources, { recursive: true });
  },
  'split csplit': (call) => {
    const args = readArgs(call.words, call.name === 'csplit' ? 'fnb' : 'lbnCat', 'filter prefix');
    for (const command of args.all('filter')) call.script(command);
    const [from = '', last = 'x'] = args.rest;
    const prefix = call.name === 'csplit' ? (args.value('f', 'prefix') ?? 'xx') : last;
    if (from !== '-') call.file('read', from);
    call.file('write', prefix);
    return '';
  },
  rename: (call) => {
    const paths = readArgs(call.words).rest.slice(1);
    return call.files(
      'delete',
      paths.filter((path) => /[./]/.test(path)),
    );
  },
});
