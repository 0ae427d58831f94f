import { readArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { DECODED, NETWORK, UNKNOWN } from '../marks.ts';
import { filesOfPatch } from '../patch-files.ts';
import { isInside } from '../paths.ts';
import { spreads, unpacks } from './fetched.ts';
import { committedTree, loses, undoesWork, writesPatched } from './git-work.ts';
import { byName } from './rules.ts';

const tar: Handler = (call) => {
  const [first = '', ...others] = call.words;
  const words = /^[a-zA-Z]+$/.test(first) ? [`-${first}`, ...others] : call.words;
  const long =
    'file directory use-compress-program to-command checkpoint-action exclude files-from transform rsh-command';
  const args = readArgs(words, 'fCTIXbKNgVFH', long);
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
    const content = file === undefined || file === '-' ? (call.stdin ?? '') : call.content(file);
    if (args.has('O', 'to-stdout')) return packed(content);
    call.file('write', folder);
    unpacks(call, content, folder);
    takesOut(call, content, folder);
    if (
      call.stdin?.includes(committedTree) &&
      isInside(call.path(folder), call.shell.world.context.projectRoot)
    )
      loses(call, 'throws away uncommitted changes');
    return '';
  }
  if (args.flags.has('delete') && file !== undefined) call.file('write', file);
  if (!args.has('c', 'create', 'r', 'u', 'append', 'update')) return UNKNOWN;
  let members = '';
  for (const name of args.rest) {
    const path = name.startsWith('/') ? name : `${folder}/${name}`;
    call.file('read', path, { recursive: true });
    if (args.has('remove-files')) call.file('delete', path, { recursive: true });
    members += member(call, path, name);
  }
  if (file === undefined || file === '-') return `${UNKNOWN}\n${members}`;
  return call.save(file, `${UNKNOWN}\n${members}`);
};

/** Content printed straight out of an archive cannot be read here, as if encoded. */
function packed(content: string): string {
  return content.includes(NETWORK) ? NETWORK : DECODED;
}

function member(call: Call, path: string, name: string): string {
  return `member ${call.path(path)} as ${name.replace(/^\/+/, '')}\n`;
}

function takesOut(call: Call, content: string, folder: string): void {
  for (const [, from = '', name = ''] of content.matchAll(/^member (\S+) as (\S+)$/gm))
    spreads(call, from, `${folder}/${name}`);
}

export const archives: Handlers = byName({
  'tar bsdtar': tar,
  zip: (call) => {
    const args = readArgs(call.words, 'xiPbt', 'unzip-command');
    const [file = '', ...paths] = args.rest;
    const test =
      args.value('unzip-command') ??
      (call.words.includes('-TT') ? call.words[call.words.indexOf('-TT') + 1] : undefined);
    if (test !== undefined) call.script(test);
    for (const path of paths) call.file('read', path, { recursive: args.has('r') });
    if (args.has('m')) for (const path of paths) call.file('delete', path, { recursive: true });
    if (file === '-') return UNKNOWN;
    return call.save(file, `${UNKNOWN}\n${paths.map((path) => member(call, path, path)).join('')}`);
  },
  '7z 7za 7zz': (call) => {
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
  },
  unzip: (call) => {
    const args = readArgs(call.words, 'dxP');
    if (args.has('p')) return packed(call.content(args.rest[0] ?? ''));
    if (args.has('l', 't', 'v')) return UNKNOWN;
    const folder = args.value('d') ?? '.';
    call.file('write', folder);
    const content = call.content(args.rest[0] ?? '');
    unpacks(call, content, folder);
    takesOut(call, content, folder);
    return '';
  },
  cpio: (call) => {
    const args = readArgs(call.words, 'FEHDICMR', 'directory');
    const listed = (call.stdin ?? '').split('\n').filter(Boolean);
    if (args.has('i', 'extract')) call.file('write', args.value('D', 'directory') ?? '.');
    else for (const path of listed) call.file('read', path);
    if (args.has('p', 'pass-through')) call.file('write', args.rest[0] ?? '.');
  },
  patch: (call) => {
    const args = readArgs(call.words, 'pidorBDFVYz', 'input output directory strip');
    const [target] = args.rest;
    const folder = args.value('d', 'directory');
    const file = args.value('i', 'input');
    const text = file === undefined ? (call.stdin ?? '') : call.content(file);
    if (folder !== undefined) call.file('write', `${folder}/${target ?? 'patched'}`);
    else if (target !== undefined) call.file('write', target);
    else writesPatched(call, text, Number(args.value('p', 'strip') ?? 0));
    undoesWork(call, text, readArgs(call.words).has('R', 'reverse'));
    return '';
  },
  // Codex takes it for its own tool where a shell is told to run it: the patch on its input or as its one word.
  'apply_patch applypatch': (call) => {
    const patch = [call.stdin ?? '', ...call.words].join('\n');
    for (const { kind, path } of filesOfPatch(patch)) call.file(kind, path);
    return '';
  },
});
