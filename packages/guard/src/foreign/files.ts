import type { Call } from '../call.ts';
import { UNKNOWN } from '../marks.ts';
import { known } from './calls.ts';
import type { Code } from './code.ts';
import { evaluate, listOf } from './values.ts';

export function deletion(
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

export const deleter = /^["']?(?:[\w.]*\b)?(?:unlink|remove|rmdir|unlinkSync|rmSync|rmtree|delete)["']?$/;

/** Something in a folder that was listed, or found by a pattern. */
export function withinBase(base: string): string {
  return `${base.replace(/\*.*$/, '')}/${UNKNOWN}`;
}

export function openFile(call: Call, path: string, modes: readonly string[]): void {
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

export function method(
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
