import { readArgs, readLeadingArgs } from '../argv.ts';
import type { Call, Handlers } from '../call.ts';
import { joined } from '../feed.ts';
import { landmarksNamed } from '../landmarks.ts';
import { asGlob, asText, STAR, UNKNOWN } from '../marks.ts';
import { isProjectFile } from '../zones.ts';
import { byName } from './rules.ts';

const narrow =
  /^-(i?name|i?path|i?wholename|i?regex|newer\w*|[amc](min|time)|size|empty|user|group|perm|links|inum|samefile)$/;

/** Splits tests at `-o` outside of brackets: an action applies to its own tests. */
function alternatives(tests: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  let depth = 0;
  for (const test of tests) {
    if (test === '(') depth++;
    if (test === ')') depth--;
    if (depth === 0 && /^(-o|-or|,)$/.test(test)) parts.push([]);
    else parts.at(-1)?.push(test);
  }
  return parts;
}

/** The words of a command with an item in place of each mark. */
function withItem(command: readonly string[], mark: string, item: string): string[] {
  return command.map((word) => word.replaceAll(mark, () => item));
}

function actions(call: Call, tests: readonly string[], paths: readonly string[]): void {
  for (let i = 0; i < tests.length; i++) {
    const test = tests[i] ?? '';
    if (test === '-delete') call.files('delete', paths, { recursive: true });
    if (/^-fprintf?0?$|^-fls$/.test(test)) call.file('write', tests[i + 1] ?? '');
    if (!/^-(exec|execdir|ok|okdir)$/.test(test)) continue;
    const end = tests.findIndex((word, at) => at > i && (word === ';' || word === '+'));
    const command = tests.slice(i + 1, end === -1 ? undefined : end);
    for (const path of paths) call.run(withItem(command, '{}', path), { stdin: null });
    i = end === -1 ? tests.length : end;
  }
}

const guardedFolder = /\/\.(claude|ralph|codex|gemini)(\/|$)/;

/** Without a test that narrows it down, everything under the root is found, and the root itself. */
function matchesUnder(root: string, tests: readonly string[], call: Call): string[] {
  const base = root.replace(/\/+$/, '') || '/';
  const isNegated = (i: number) => /^(!|-not)$/.test(tests[i - 1] ?? '');
  const names = tests.flatMap((test, i) =>
    /^-i?(name|path|wholename)$/.test(test) && !isNegated(i) ? [tests[i + 1] ?? ''] : [],
  );
  const narrowed = tests.some(
    (test, i) => narrow.test(test) && !/^[*]+$/.test(asText(tests[i + 1] ?? '')) && !isNegated(i),
  );
  if (!narrowed) return tests.includes('-mindepth') ? [`${base}/${STAR}`] : [root, `${base}/${STAR}`];
  if (names.length === 0) return [`${base}/${UNKNOWN}`];
  // A star at the start of a path takes the dot in, too.
  const guarded = [
    ...names.flatMap((name) => /\.(?:claude|ralph|git|codex|ssh)\b/.exec(name)?.[0] ?? []),
    ...tests.flatMap((test, i) => {
      const [, folder] = /^[*\uE003](claude|ralph|codex)\b/.exec(tests[i + 1] ?? '') ?? [];
      return folder !== undefined && /path|wholename/.test(test) ? [`.${folder}`] : [];
    }),
  ];
  const last = names.map((name) => asGlob(name).replace(/^.*\//, ''));
  const inProject = isProjectFile(call.path(root), call.context);
  // In the project `*.json` means its own files; a name without a star, or all of home, means these too.
  const guardedFiles =
    tests.includes('-prune') && !tests.some((test) => /^-(exec|ok|delete|print)/.test(test))
      ? []
      : last.flatMap((name) =>
          inProject && name.startsWith(STAR) && !guardedFolder.test(call.path(root))
            ? []
            : landmarksNamed(name, call.path(root), call.context),
        );
  return [
    ...guardedFiles,
    ...last.map((name) => `${base}/${UNKNOWN}/${name}`),
    ...guarded.flatMap((folder) => last.map((name) => `${base}/${folder}/${name}`)),
  ];
}

export const searches: Handlers = byName({
  'xargs gxargs': (call) => {
    const long = 'replace delimiter max-args max-procs arg-file max-lines';
    const args = readLeadingArgs(call.words, 'IdEnPsLa', long);
    const file = args.value('a', 'arg-file');
    const text = file === undefined ? (call.stdin ?? UNKNOWN) : call.content(file);
    const mark = args.value('I', 'replace') ?? (args.has('i', 'replace') ? '{}' : undefined);
    const command = args.rest.length === 0 ? ['echo'] : [...args.rest];
    const byLine = mark !== undefined || args.has('0', 'null') || args.has('d', 'delimiter');
    const items = text
      .split(byLine ? /[\n\0]/ : /\s+/)
      .map((item) => (byLine ? item.trim() : item.replace(/^(['"])(.*)\1$/, '$2').replace(/\\(.)/g, '$1')))
      .filter((item) => item !== '');
    if (items.length === 0) return call.run(command, { stdin: null });
    if (mark === undefined) return call.run([...command, ...items], { stdin: null });
    return items.map((item) => call.run(withItem(command, mark, item), { stdin: null })).join('');
  },
  'find gfind': (call) => {
    const start = call.words.findIndex((word) => /^[-(!,]/.test(word) && !/^-[HLPOD]/.test(word));
    const roots = call.words
      .slice(0, start === -1 ? undefined : start)
      .filter((word) => !word.startsWith('-'));
    const tests = start === -1 ? [] : call.words.slice(start);
    const all = new Set<string>();
    for (const alternative of alternatives(tests)) {
      const folders = roots.length === 0 ? ['.'] : roots;
      const paths = folders.flatMap((root) => matchesUnder(root, alternative, call));
      for (const path of paths) all.add(path);
      actions(call, alternative, paths);
    }
    return `${[...all].join('\n')}\n`;
  },
  'fd fdfind': (call) => {
    const args = readArgs(call.words, 'etEdSj', 'exec exec-batch type extension exclude max-depth');
    const at = call.words.findIndex((word) => /^(-x|-X|--exec|--exec-batch)$/.test(word));
    const [, root = '.'] = readArgs(call.words.slice(0, at === -1 ? undefined : at), 'etEdSj').rest;
    const vague = /^(\.|\.\*|)$/.test(args.rest[0] ?? '') && !args.has('e', 'extension');
    const path = vague ? `${root}/${STAR}` : `${root}/${UNKNOWN}`;
    if (at === -1) return `${path}\n`;
    const command = call.words.slice(at + 1);
    call.run(command.includes('{}') ? withItem(command, '{}', path) : [...command, path]);
  },
  parallel: (call) => {
    const at = call.words.findIndex((word) => /^::::?\+?$/.test(word));
    const { rest } = readLeadingArgs(call.words.slice(0, at === -1 ? undefined : at), 'jNI', 'jobs');
    const items = at === -1 ? (call.stdin ?? UNKNOWN).split('\n').filter(Boolean) : call.words.slice(at + 1);
    for (const item of items.length === 0 ? [''] : items) {
      const command = rest.join(' ');
      joined(call, command.includes('{}') ? withItem([command], '{}', item) : [command, item]);
    }
  },
});
