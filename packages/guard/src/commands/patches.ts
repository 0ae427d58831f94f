import { readArgs } from '../argv.ts';
import type { Handler, Handlers } from '../call.ts';
import { filesOfPatch } from '../patch-files.ts';
import { undoesWork, writesPatched } from './git-work.ts';
import { byName } from './rules.ts';

const patch: Handler = (call) => {
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
};

export const patches: Handlers = byName({
  patch,
  // Codex takes it for its own tool where a shell is told to run it: the patch on its input or as its one word.
  'apply_patch applypatch': (call) => {
    const patch = [call.stdin ?? '', ...call.words].join('\n');
    for (const { kind, path } of filesOfPatch(patch)) call.file(kind, path);
    return '';
  },
});
