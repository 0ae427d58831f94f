import type { Call } from '../call.ts';
import { NETWORK, UNKNOWN } from '../marks.ts';
import { callsIn, firstValues, type Invocation, isKnown, objectBefore, patterns, perl } from './calls.ts';
import { argumentsAt, type Code } from './code.ts';
import { evaluate, listOf } from './values.ts';

type Scene = { readonly call: Call; readonly code: Code; readonly folders: readonly string[] };

export function touchFiles(call: Call, code: Code, source: string): void {
  const scene = { call, code, folders: foldersListed(code, source) };
  deleteFiles(scene);
  for (const { value } of callsIn(code, /\burlretrieve\s*\(/g)) call.keep(value(1), NETWORK);
}

/** The same for what happens after the programs that the code starts. */
export function touchFilesLater(call: Call, code: Code, source: string): void {
  const scene = { call, code, folders: foldersListed(code, source) };
  writeFiles(scene);
  readFiles(scene);
  openFiles(scene);
  for (const match of code.masked.matchAll(patterns.methods)) {
    const args = argumentsAt(code, match.index + match[0].length).map((arg) => evaluate(code, arg));
    callMethod(scene, match[1] ?? '', objectBefore(code, match.index), args);
  }
}

function foldersListed(code: Code, source: string): string[] {
  const isPerl = code.language === 'perl';
  return [
    ...firstValues(code, patterns.lists),
    ...(isPerl ? [...source.matchAll(perl.globs)] : []).map(([, text = '']) => evaluate(code, text)),
    ...(isPerl ? callsIn(code, perl.finds) : []).flatMap(({ args, value }) =>
      args.slice(1).map((_, i) => value(i + 1)),
    ),
    ...[...code.masked.matchAll(/\.(?:iterdir|r?glob)\s*\(/g)].map(({ index }) => objectBefore(code, index)),
  ];
}

/** The path, or where it is a name found by listing a folder, something in each of the folders. */
function placesOf({ folders }: Scene, path: string): string[] {
  const places = path.startsWith(UNKNOWN) ? folders.filter(isKnown).map(withinFolder) : [path];
  return places.filter(isKnown);
}

function withinFolder(folder: string): string {
  return `${folder.replace(/\*.*$/, '') || '.'}/${UNKNOWN}`;
}

const deleter = /^["']?(?:[\w.]*\b)?(?:unlink|remove|rmdir|unlinkSync|rmSync|rmtree|delete)["']?$/;

function deleteFiles(scene: Scene): void {
  const { call, code, folders } = scene;
  for (const invocation of callsIn(code, patterns.deletes)) deletePaths(scene, invocation);
  for (const { args } of callsIn(code, patterns.applies)) {
    if (!args.some((arg) => deleter.test(arg))) continue;
    const inFolders = folders.filter((folder) => folder !== '').map(withinFolder);
    const paths = [...args.flatMap((arg) => listOf(code, arg) ?? []), ...inFolders];
    for (const path of paths.filter(isKnown)) call.file('delete', path, { recursive: true });
  }
}

function deletePaths(scene: Scene, { name, args }: Invocation): void {
  const { call, code } = scene;
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
  for (const path of targets.flatMap((target) => placesOf(scene, target)))
    call.file('delete', path, { recursive });
}

function writeFiles({ call, code }: Scene): void {
  const isPerl = code.language === 'perl';
  for (const { args, value } of [
    ...callsIn(code, patterns.writes),
    ...(isPerl ? callsIn(code, perl.truncates) : []),
  ]) {
    if (isKnown(value())) call.file('write', value());
    if (args.length > 1) call.keep(value(), value(1));
  }
  for (const { name, value } of callsIn(code, isPerl ? perl.moves : patterns.moves)) {
    const kind = /move|rename|mv|replace/.test(name) ? 'delete' : 'read';
    if (isKnown(value())) call.file(kind, value(), { recursive: true });
    if (isKnown(value(1))) call.file('write', value(1));
  }
  for (const { args, value } of callsIn(code, /\bfileinput\.\w+\s*\(/g))
    if (isKnown(value()))
      call.file(args.some((arg) => arg.startsWith('inplace')) ? 'write' : 'read', value());
  for (const { args, value } of callsIn(code, /\b(?:json|pickle|yaml)\.(?:safe_)?dump\s*\(/g)) {
    const [path] = callsIn({ ...code, source: args[1] ?? '', masked: args[1] ?? '' }, patterns.opens);
    if (path !== undefined) call.keep(path.value(), value());
  }
}

function readFiles(scene: Scene): void {
  const { call, code, folders } = scene;
  const openers = folders.length > 0 ? firstValues(code, patterns.opens) : [];
  for (const path of [...firstValues(code, patterns.reads), ...openers].flatMap((path) =>
    placesOf(scene, path),
  ))
    call.file('read', path);
  for (const url of firstValues(code, /\b(?:urlopen|urlretrieve|fetch)\s*\(/g)) {
    const [, path] = /^file:\/\/(\/.*)$/.exec(url) ?? [];
    if (path !== undefined) call.file('read', path);
  }
}

function openFiles({ call, code }: Scene): void {
  const texts = firstValues(code, /\.write(?:lines)?\s*\(/g);
  const isPerl = code.language === 'perl';
  for (const { args } of callsIn(code, isPerl ? perl.opens : patterns.opens)) {
    // Perl names the handle first.
    const [written = '', ...modes] = isPerl ? args.slice(1) : args;
    const path = evaluate(code, written);
    if (texts.length > 0 && modes.length > 0) call.keep(path, texts.join('\n'));
    const values = modes.map((arg) =>
      /\bO_(WRONLY|RDWR|TRUNC)\b/.test(arg) ? 'w' : evaluate(code, arg.replace(/^mode\s*=/, '')),
    );
    openFile(call, path, values);
  }
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
  const how = /(^|\s)a/.test(mode) || arrow === '>>' ? 'append' : 'overwrite';
  if (isKnown(target)) call.file(writing ? 'write' : 'read', target, { how });
}

function callMethod(scene: Scene, name: string, path: string, args: readonly string[]): void {
  const { call } = scene;
  // With two texts it works on a text.
  if (name === 'replace' && args.length !== 1) return;
  if (/^(rename|replace)$/.test(name) && isKnown(args[0] ?? '')) call.file('write', args[0] ?? '');
  if (name === 'open') openFile(call, path, args);
  else if (/^(unlink|rmdir)$/.test(name))
    for (const target of placesOf(scene, path)) call.file('delete', target);
  else if (isKnown(path))
    call.file(/^read_/.test(name) ? 'read' : 'write', path, {
      how: name === 'touch' ? 'create' : 'overwrite',
    });
}
