import { readArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { committed, STAR, secretsIn, shown, UNKNOWN } from '../marks.ts';
import { isInside } from '../paths.ts';
import { fetchesFolder } from './fetched.ts';
import { config, connects, isCodeHost, newRemote, type Subcommand, useSetting } from './git-settings.ts';
import {
  ask,
  branch,
  checkout,
  clean,
  committedTree,
  loses,
  moves,
  ownChanges,
  push,
  removeFiles,
  reset,
  restore,
  reversedChanges,
  stash,
  undoesWork,
  worktree,
  writesPatched,
} from './git-work.ts';
import { byName, denying } from './rules.ts';
import { checkVariable } from './variables.ts';

const gitProgram: Handler = (call) => {
  const { words, shell } = call;
  let cwd = shell.cwd;
  let i = 0;
  for (; i < words.length && (words[i] ?? '').startsWith('-'); i++) {
    const word = words[i] ?? '';
    if (word === '-C') cwd = call.path(words[++i] ?? '.');
    else if (word === '-c') useSetting(call, words[++i] ?? '', false);
    else if (word.startsWith('--config-env')) i += word.includes('=') ? 0 : 1;
    else if (word.startsWith('--exec-path=')) checkVariable('GIT_EXEC_PATH', word.slice(12), call);
    else if (/^--(git-dir|work-tree|namespace)$/.test(word)) i++;
  }
  const [sub = '', ...rest] = words.slice(i);
  const alias = shell.world.gitAliases.get(sub);
  if (alias !== undefined) {
    if (alias.startsWith('!')) return call.script([alias.slice(1), ...rest].join(' '), { cwd });
    return call.script(['git', alias, ...rest].join(' '), { cwd });
  }
  const here = call.with({
    words: rest,
    path: (path) => call.path(path.startsWith('/') || path.startsWith(UNKNOWN) ? path : `${cwd}/${path}`),
  });
  const handler = Object.hasOwn(subcommands, sub) ? subcommands[sub] : undefined;
  writesTo(here, sub);
  const output = handler?.(here, cwd) ?? UNKNOWN;
  // Git prints a message, and keeps it.
  const messages = /^(commit|tag|merge|notes)$/.test(sub)
    ? rest.filter((word) => secretsIn(word).length > 0)
    : [];
  return messages.length > 0 ? messages.join('\n') : output;
};

/** Patches, archives and bundles go to where an option says. */
function writesTo(call: Call, sub: string): void {
  const letters = /^(archive|format-patch)$/.test(sub) ? 'o' : '';
  const args = readArgs(call.words, letters, 'output output-directory');
  for (const path of args.all('o', 'output', 'output-directory')) call.file('write', path);
  if (sub === 'bundle' && args.rest[0] === 'create') call.file('write', args.rest[1] ?? '');
}

const commit: Subcommand = (call) => {
  const args = readArgs(
    call.words,
    'mFCct',
    'message file author date reuse-message fixup squash template trailer',
  );
  if (args.flags.has('n') || args.flags.has('no-verify'))
    call.warn('git', 'skips the hooks of the project', 'Let the hooks run and mend what they find.');
  const file = args.value('F', 'file');
  if (file && file !== '-') call.file('read', file);
};

const remote: Subcommand = (call) => {
  const [action, ...rest] = call.words;
  const [name = '', url = ''] = readArgs(rest, 'tm').rest;
  if (action === 'add' && !isCodeHost(url)) call.shell.world.gitAliases.set(newRemote(name), url);
  if (action === 'set-url')
    call.deny(
      'exfiltration',
      `sends the project to ${shown(call.words.at(-1) ?? '')} from now on`,
      'Add another remote beside it, and let a person decide.',
    );
};

/** Takes a command as an argument, after its own options. */
function executes(pattern: RegExp): Subcommand {
  return (call, cwd) => {
    call.words.forEach((word, i) => {
      const [, inline] = pattern.exec(word) ?? [];
      if (inline) call.script(inline, { cwd });
      else if (pattern.test(`${word}=x`) && !word.includes('='))
        call.script(call.words[i + 1] ?? '', { cwd });
    });
  };
}

const fetches: Subcommand = (call, cwd) => {
  const args = readArgs(call.words, 'jo');
  const [, ...refs] = args.rest;
  const ref = refs.find(
    (word) =>
      (word.startsWith('+') || args.has('f', 'force')) && /[^:]:(?!refs\/(remotes|pull)\/)./.test(word),
  );
  if (ref !== undefined)
    loses(call, cwd, `overwrites a branch with ${shown(ref)}`, 'Fetch without a plus and without -f.');
  return connects(call, cwd);
};

/** A template brings hooks along. */
function usesTemplate(call: Call): void {
  const folder = readArgs(call.words, 'b', 'template').value('template') ?? '';
  checkVariable('GIT_TEMPLATE_DIR', folder, call);
}

/** Prints a file as it was committed. */
const stored: Subcommand = (call) => {
  const [, path] = /^[^:]*:(.+)$/.exec(readArgs(call.words).rest.at(-1) ?? '') ?? [];
  if (path === undefined) return UNKNOWN;
  call.file('read', path);
  return committed(call.path(path));
};

const subcommands: Readonly<Record<string, Subcommand>> = {
  push,
  checkout,
  co: checkout,
  restore,
  reset,
  clean,
  stash,
  branch,
  rm: removeFiles,
  worktree,
  commit,
  config,
  remote,
  add(call) {
    const args = readArgs(call.words);
    // What git is told to ignore, and what it would then print.
    if (args.has('f', 'force')) for (const path of args.rest) call.file('read', path);
    return '';
  },
  switch(call, cwd) {
    const args = readArgs(call.words, 'cC', 'create force-create orphan');
    if (args.flags.has('f') || args.flags.has('force') || args.flags.has('discard-changes'))
      loses(call, cwd, 'throws away uncommitted changes');
    moves(call, cwd, args.value('C', 'force-create'), args.rest[0]);
    return '';
  },
  tag(call, cwd) {
    const args = readArgs(call.words, 'mFu');
    if (args.has('d', 'delete')) loses(call, cwd, 'deletes a tag', ask);
    if (args.has('f', 'force')) moves(call, cwd, args.rest[0], args.rest[1]);
  },
  reflog(call, cwd) {
    if (/^(expire|delete)$/.test(call.words[0] ?? ''))
      loses(call, cwd, 'deletes the record that lost commits are found by', ask);
  },
  gc(call, cwd) {
    if (call.words.some((word) => /^--prune=(now|all)/.test(word)))
      loses(call, cwd, 'deletes commits that nothing points to', 'Use git gc without --prune.');
  },
  prune: (call, cwd) =>
    call.words.includes('-n')
      ? UNKNOWN
      : loses(call, cwd, 'deletes commits that nothing points to', 'Use git gc.'),
  'update-ref': (call, cwd) =>
    call.words.includes('-d') ||
    call.words.includes('--delete') ||
    (call.words.includes('--stdin') && /^delete\b/m.test(call.stdin ?? ''))
      ? loses(call, cwd, 'deletes a branch with its commits', ask)
      : moves(call, cwd, ...readArgs(call.words, 'm').rest.slice(0, 2)),
  'symbolic-ref'(call, cwd) {
    const args = readArgs(call.words, 'm');
    const [name, target] = args.rest;
    if (args.has('d', 'delete')) loses(call, cwd, `deletes ${shown(name ?? '')}`, ask);
    if (target !== undefined && name !== 'HEAD')
      loses(call, cwd, `puts another branch in the place of ${shown(name ?? '')}`, 'Make a new branch.');
  },
  mv(call, cwd) {
    const args = readArgs(call.words);
    if (args.has('n', 'dry-run')) return '';
    if (args.has('f', 'force'))
      loses(call, cwd, 'overwrites a file with its changes', 'Use git mv without -f.');
    for (const path of args.rest) call.file('write', path, { recursive: true });
    return '';
  },
  'filter-branch': (call, cwd) => loses(call, cwd, 'rewrites the whole history', ask),
  'filter-repo': (call, cwd) => loses(call, cwd, 'rewrites the whole history', ask),
  replace: () => UNKNOWN,
  'read-tree': (call, cwd) =>
    call.words.includes('-u') && call.words.includes('--reset')
      ? loses(call, cwd, 'throws away uncommitted changes')
      : '',
  'checkout-index': (call, cwd) =>
    call.words.some((word) => /^(-\w*f|--force)/.test(word))
      ? loses(call, cwd, 'throws away uncommitted changes')
      : '',
  rebase(call, cwd) {
    if (readArgs(call.words).has('root')) loses(call, cwd, 'rewrites the whole history', ask);
    return executes(/^(?:-x|--exec)=?(.*)$/)(call, cwd);
  },
  difftool: executes(/^(?:-x|--extcmd)=(.*)$/),
  grep(call, cwd) {
    if (call.words.includes('--no-index'))
      for (const path of readArgs(call.words, 'efmABC').rest.slice(1))
        call.file('read', path, { recursive: true });
    return executes(/^(?:-O|--open-files-in-pager=)(.+)$/)(call, cwd);
  },
  apply(call) {
    const args = readArgs(call.words, 'pC', 'directory exclude include');
    const patch =
      args.rest.length === 0 ? (call.stdin ?? '') : args.rest.map((path) => call.content(path)).join('');
    if (args.has('check', 'stat', 'cached')) return '';
    undoesWork(call, patch, args.has('R', 'reverse'));
    writesPatched(call, patch, Number(args.value('p') ?? 1));
    return '';
  },
  bisect: (call, cwd) => (call.words[0] === 'run' ? call.run(call.words.slice(1), { cwd }) : UNKNOWN),
  submodule(call, cwd) {
    const at = call.words.indexOf('foreach');
    if (at !== -1)
      call.script(
        call.words
          .slice(at + 1)
          .filter((word) => !/^--(recursive|quiet)$/.test(word))
          .join(' '),
        { cwd },
      );
    if (/^(deinit|update)$/.test(call.words[0] ?? '') && readArgs(call.words).has('f', 'force'))
      loses(call, cwd, 'throws away changes in a submodule');
  },
  clone(call, cwd) {
    const [url = '', folder] = readArgs(call.words, 'ubcoj', 'branch config origin depth').rest;
    if (folder !== undefined) call.file('write', folder, { how: 'create' });
    fetchesFolder(call, url, folder);
    usesTemplate(call);
    return connects(call, cwd);
  },
  fetch: fetches,
  pull: fetches,
  init(call) {
    usesTemplate(call);
    return '';
  },
  'ls-remote': connects,
  archive(call, cwd) {
    connects(call, cwd);
    return committedTree;
  },
  'for-each-ref': (call) => {
    const format = call.words.find((word) => word.startsWith('--format='))?.slice(9) ?? '';
    return `${format.replace(/%\([^)]*\)/g, UNKNOWN)}\n`;
  },
  log(call) {
    const format = call.words.flatMap(
      (word) => /^--(?:format|pretty)=(?:t?format:)?(.*)$/s.exec(word)?.[1] ?? [],
    );
    return format.length === 0 ? UNKNOWN : `${format.join('').replace(/%\w+/g, UNKNOWN)}\n`;
  },
  show: stored,
  'cat-file': stored,
  diff(call) {
    if (call.words.includes('--no-index'))
      for (const path of readArgs(call.words).rest) call.file('read', path);
    const other = readArgs(call.words).rest.some((word) => word.includes('..'));
    return other || call.words.some((word) => /^--(cached|staged|stat|name-only|quiet)$/.test(word))
      ? UNKNOWN
      : call.words.includes('-R')
        ? reversedChanges
        : ownChanges;
  },
  'hash-object': (call) => {
    for (const path of readArgs(call.words, 't').rest) call.file('read', path);
  },
  'credential-store': (call) =>
    call.words.includes('get')
      ? call.deny('credentials', 'prints a stored password', 'Let git use it; it need not be seen.')
      : UNKNOWN,
  credential(call) {
    if (call.words[0] === 'fill')
      call.deny('credentials', 'prints a stored password', 'Let git use it; it need not be seen.');
  },
  'rev-parse': (call, cwd) => {
    const { projectRoot } = call.shell.world.context;
    if (!isInside(cwd, projectRoot)) return UNKNOWN;
    if (call.words.includes('--show-toplevel')) return `${projectRoot}\n`;
    if (call.words.some((word) => /^--(absolute-git-dir|git-dir|git-common-dir)$/.test(word)))
      return `${projectRoot}/.git\n`;
    const at = call.words.indexOf('--git-path');
    return at === -1 ? UNKNOWN : `${projectRoot}/.git/${call.words[at + 1] ?? ''}\n`;
  },
  // All that git knows, or all that it does not know, is as good as all.
  'ls-files': (call) => {
    const args = readArgs(call.words, 'xX', 'exclude');
    const all = !args.has('i', 'ignored', 'd', 'deleted') && args.rest.length === 0;
    const ignored = args.has('o', 'others') && (args.has('i', 'ignored') || !args.has('exclude-standard'));
    return `./${all ? STAR : UNKNOWN}\n${ignored ? `./.${STAR}\n` : ''}`;
  },
  daemon: (call) =>
    call.deny('exfiltration', 'serves the repository to others', 'Push to the remote of the project.'),
  'send-email': (call) => call.deny('exfiltration', 'sends mail', 'Leave it to a person.'),
};

export const git: Handlers = byName(
  {
    git: gitProgram,
    hub: gitProgram,
    'git-filter-repo': (call) => gitProgram(call.with({ words: ['filter-repo', ...call.words] })),
  },
  denying('cloud', 'deletes the repository', { hub: /^delete\b/ }),
  denying(
    'git',
    'throws away uncommitted changes or commits',
    {
      svn: /^revert\b.*\s(-R|--recursive|--depth)/,
      hg: /^(up|update|co|checkout)\b.*\s(-C|--clean)\b|^(purge|strip)\b|^revert\b.*\s(-a|--all)\b/,
      bfg: /--(delete|strip|replace)/,
    },
    ask,
  ),
);
