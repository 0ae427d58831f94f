import { readArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { committed, STAR, secretsIn, show, UNKNOWN } from '../marks.ts';
import { isInside } from '../paths.ts';
import { fetchesFolder } from './fetched.ts';
import { changesRemote, config, connects, isCodeHost, newRemote, useSetting } from './git-settings.ts';
import {
  ask,
  committedTree,
  loses,
  losing,
  moves,
  ownChanges,
  reversedChanges,
  undoesWork,
  workSubcommands,
  writesPatched,
} from './git-work.ts';
import { always, byName, denying } from './rules.ts';
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
    const command = alias.startsWith('!') ? alias.slice(1) : `git ${alias}`;
    return call.script([command, ...rest].join(' '), { cwd });
  }
  const here = call.with({ words: rest, shell: { ...shell, cwd }, seen: { ...call.seen, cwd } });
  const handler = Object.hasOwn(subcommands, sub) ? subcommands[sub] : undefined;
  writesTo(here, sub);
  const output = handler?.(here) ?? UNKNOWN;
  const messages = /^(commit|tag|merge|notes)$/.test(sub)
    ? rest.filter((word) => secretsIn(word).length > 0)
    : [];
  return messages.length > 0 ? messages.join('\n') : output;
};

function writesTo(call: Call, sub: string): void {
  const letters = /^(archive|format-patch)$/.test(sub) ? 'o' : '';
  const args = readArgs(call.words, letters, 'output output-directory');
  call.files('write', args.all('o', 'output', 'output-directory'));
  if (sub === 'bundle' && args.rest[0] === 'create') call.file('write', args.rest[1] ?? '');
}

function executes(pattern: RegExp): Handler {
  return (call) => {
    call.words.forEach((word, i) => {
      const [, inline] = pattern.exec(word) ?? [];
      if (inline) call.script(inline);
      else if (pattern.test(`${word}=x`) && !word.includes('=')) call.script(call.words[i + 1] ?? '');
    });
  };
}

/** A template brings hooks along. */
function usesTemplate(call: Call): void {
  const folder = readArgs(call.words, 'b', 'template').value('template') ?? '';
  checkVariable('GIT_TEMPLATE_DIR', folder, call);
}

const otherSubcommands: Handlers = {
  commit: (call) => {
    const long = 'message file author date reuse-message fixup squash template trailer';
    const args = readArgs(call.words, 'mFCct', long);
    if (args.flags.has('n') || args.flags.has('no-verify'))
      call.warn('git', 'skips the hooks of the project', 'Let the hooks run and mend what they find.');
    const file = args.value('F', 'file');
    if (file && file !== '-') call.file('read', file);
  },
  config,
  remote: (call) => {
    const [action, ...rest] = call.words;
    const [name = '', url = ''] = readArgs(rest, 'tm').rest;
    if (action === 'add' && !isCodeHost(url)) call.shell.world.gitAliases.set(newRemote(name), url);
    if (action === 'set-url') changesRemote(call, call.words.at(-1) ?? '');
  },
  add(call) {
    const args = readArgs(call.words);
    // What git is told to ignore, and what it would then print.
    return args.has('f', 'force') ? call.files('read', args.rest) : '';
  },
  switch(call) {
    const args = readArgs(call.words, 'cC', 'create force-create orphan');
    return moves(call, args.value('C', 'force-create'), args.rest[0]);
  },
  tag(call) {
    const args = readArgs(call.words, 'mFu');
    if (args.has('f', 'force')) moves(call, args.rest[0], args.rest[1]);
  },
  'update-ref'(call) {
    if (call.words.includes('--stdin') && /^delete\b/m.test(call.stdin ?? ''))
      loses(call, 'deletes a branch or a tag', ask);
    return moves(call, ...readArgs(call.words, 'm').rest.slice(0, 2));
  },
  'symbolic-ref'(call) {
    const [name, target] = readArgs(call.words, 'm').rest;
    if (target !== undefined && name !== 'HEAD')
      loses(call, `puts another branch in the place of ${show(name ?? '')}`, 'Make a new branch.');
  },
  mv(call) {
    const args = readArgs(call.words);
    if (args.has('n', 'dry-run')) return '';
    if (args.has('f', 'force')) loses(call, 'overwrites a file with its changes', 'Use git mv without -f.');
    return call.files('write', args.rest, { recursive: true });
  },
  rebase: executes(/^(?:-x|--exec)=?(.*)$/),
  difftool: executes(/^(?:-x|--extcmd)=(.*)$/),
  grep(call) {
    if (call.words.includes('--no-index'))
      call.files('read', readArgs(call.words, 'efmABC').rest.slice(1), { recursive: true });
    return executes(/^(?:-O|--open-files-in-pager=)(.+)$/)(call);
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
  bisect: (call) => (call.words[0] === 'run' ? call.run(call.words.slice(1)) : UNKNOWN),
  submodule(call) {
    const at = call.words.indexOf('foreach');
    const words = call.words.slice(at + 1).filter((word) => !/^--(recursive|quiet)$/.test(word));
    if (at !== -1) call.script(words.join(' '));
  },
  clone(call) {
    const [url = '', folder] = readArgs(call.words, 'ubcoj', 'branch config origin depth').rest;
    if (folder !== undefined) call.file('write', folder, { how: 'create' });
    fetchesFolder(call, url, folder);
    usesTemplate(call);
    return connects(call);
  },
  'fetch pull': (call) => {
    const args = readArgs(call.words, 'jo');
    const [, ...refs] = args.rest;
    const ref = refs.find(
      (word) =>
        (word.startsWith('+') || args.has('f', 'force')) && /[^:]:(?!refs\/(remotes|pull)\/)./.test(word),
    );
    if (ref !== undefined)
      loses(call, `overwrites a branch with ${show(ref)}`, 'Fetch without a plus and without -f.');
    return connects(call);
  },
  init(call) {
    usesTemplate(call);
    return '';
  },
  'ls-remote': connects,
  archive(call) {
    connects(call);
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
  'show cat-file': (call) => {
    const [, path] = /^[^:]*:(.+)$/.exec(readArgs(call.words).rest.at(-1) ?? '') ?? [];
    if (path === undefined) return UNKNOWN;
    call.file('read', path);
    return committed(call.path(path));
  },
  diff(call) {
    const { rest } = readArgs(call.words);
    if (call.words.includes('--no-index')) call.files('read', rest);
    const other = rest.some((word) => word.includes('..'));
    return other || call.words.some((word) => /^--(cached|staged|stat|name-only|quiet)$/.test(word))
      ? UNKNOWN
      : call.words.includes('-R')
        ? reversedChanges
        : ownChanges;
  },
  'hash-object': (call) => {
    call.files('read', readArgs(call.words, 't').rest);
  },
  'rev-parse': (call) => {
    const { projectRoot } = call.context;
    if (!isInside(call.shell.cwd, projectRoot)) return UNKNOWN;
    if (call.words.includes('--show-toplevel')) return `${projectRoot}\n`;
    if (call.words.some((word) => /^--(absolute-git-dir|git-dir|git-common-dir)$/.test(word)))
      return `${projectRoot}/.git\n`;
    const at = call.words.indexOf('--git-path');
    return at === -1 ? UNKNOWN : `${projectRoot}/.git/${call.words[at + 1] ?? ''}\n`;
  },
  // All tracked or all untracked files count as all files.
  'ls-files': (call) => {
    const args = readArgs(call.words, 'xX', 'exclude');
    const all = !args.has('i', 'ignored', 'd', 'deleted') && args.rest.length === 0;
    const ignored = args.has('o', 'others') && (args.has('i', 'ignored') || !args.has('exclude-standard'));
    return `./${all ? STAR : UNKNOWN}\n${ignored ? `./.${STAR}\n` : ''}`;
  },
};

const work = 'throws away uncommitted changes';

const subcommands = byName(
  losing(work, { 'switch checkout-index': 'f force discard-changes', 'read-tree': /(?=.*-u\b).*--reset\b/ }),
  losing(work, { reset: 'hard merge' }, 'Use git stash, or git reset --soft to keep the changes.'),
  losing('throws away changes in a submodule', { submodule: /^(deinit|update)\b.* (-\w*f|--force)/ }),
  losing('throws away stashed work', { stash: /^(drop|clear)\b/ }, 'Use git stash apply and keep the stash.'),
  losing('removes a working copy with its changes', { worktree: /^remove\b.* (-f|--force)/ }),
  losing('deletes a branch or a tag', { 'tag update-ref symbolic-ref': 'd delete' }, ask),
  losing('rewrites the whole history', { 'filter-branch filter-repo': '', rebase: 'root' }, ask),
  losing(
    'deletes commits that nothing points to',
    { reflog: /^(expire|delete)\b/, gc: /--prune=(now|all)/, prune: /^(?!.*-n\b)/ },
    ask,
  ),
  denying(
    'credentials',
    'prints a stored password',
    { 'credential-store': /\bget\b/, credential: /^fill\b/ },
    'Let git use it; it need not be seen.',
  ),
  denying('exfiltration', 'serves the repository or sends mail', { 'daemon send-email': always }),
  workSubcommands,
  otherSubcommands,
);

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
