import { readArgs } from '../argv.ts';
import { shown, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { isInside, zoneOf } from '../paths.ts';

const commitFirst = 'Commit or stash the work first, or undo single edits by editing the file.';
const ask = 'Leave it to a person, or make a new commit instead.';

/** Settings that make git start a program. */
const programSetting =
  /^(core\.(pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|pager\..*|sequence\.editor|diff\.external|diff\..*\.(command|textconv)|(diff|merge)tool\..*\.cmd|filter\..*\.(clean|smudge|process)|merge\..*\.driver|credential(\..*)?\.helper|gpg(\..*)?\.program|interactive\.difffilter|uploadpack\.packobjectshook|web\.browser|browser\..*\.cmd|man\..*\.cmd|remote\..*\.(uploadpack|receivepack|vcs)|trailer\..*\.(cmd|command))$/i;
const knownPrograms =
  /^["']?(\S*\/)?(cat|less|more|delta|diff-so-fancy|vim?|nvim|nano|emacs|code(-insiders)?|true|ssh|git|store|cache|osxkeychain|manager(-core)?|gh|npx|gpg2?|meld|kdiff3|:)(\s|["']|$)/;

const git: Handler = (call) => {
  const { words, shell } = call;
  let cwd = shell.cwd;
  let i = 0;
  for (; i < words.length && (words[i] ?? '').startsWith('-'); i++) {
    const word = words[i] ?? '';
    if (word === '-C') cwd = call.path(words[++i] ?? '.');
    else if (word === '-c') useSetting(call, words[++i] ?? '', false);
    else if (word.startsWith('--config-env')) i += word.includes('=') ? 0 : 1;
    else if (/^--(git-dir|work-tree|namespace|exec-path)$/.test(word)) i++;
  }
  const [sub = '', ...rest] = words.slice(i);
  const alias = shell.world.gitAliases.get(sub);
  if (alias !== undefined) {
    if (alias.startsWith('!')) return call.script([alias.slice(1), ...rest].join(' '), { cwd });
    return call.script(['git', alias, ...rest].join(' '), { cwd });
  }
  const here: Call = {
    ...call,
    words: rest,
    path: (path) => call.path(path.startsWith('/') ? path : `${cwd}/${path}`),
  };
  const handler = Object.hasOwn(subcommands, sub) ? subcommands[sub] : undefined;
  return handler?.(here, cwd) ?? UNKNOWN;
};

type Subcommand = (call: Call, cwd: string) => string | undefined;

/** Destroys work in the working copy. A clone in a temporary folder is nobody's work. */
function loses(call: Call, cwd: string, what: string, instead = commitFirst): '' {
  const zone = zoneOf(cwd, call.shell.world.context);
  return zone === 'temporary' ? '' : call.act('deny', 'git', what, instead);
}

const push: Subcommand = (call) => {
  const args = readArgs(call.words, { letters: 'o', long: ['repo', 'receive-pack', 'exec', 'push-option'] });
  for (const program of args.all('receive-pack', 'exec')) call.script(program);
  if (args.has('n', 'dry-run')) return UNKNOWN;
  const [remote = '', ...refs] = args.rest;
  const lease = args.has('force-with-lease') || args.has('force-if-includes');
  const forced = args.flags.has('f') || args.flags.has('force') || refs.some((ref) => ref.startsWith('+'));
  if (forced || args.has('mirror') || args.has('prune')) {
    call.act(
      'deny',
      'git',
      'overwrites the history of the remote',
      'Push a new branch, or add commits on top.',
    );
  } else if (lease) {
    const mine =
      refs.length > 0 && !refs.some((ref) => /(^|:|\/)(main|master|trunk|develop|release.*)$/.test(ref));
    call.act(
      mine ? 'warn' : 'deny',
      'git',
      'overwrites the history of the remote',
      'Push a new branch, or add commits on top.',
    );
  }
  if (args.has('d', 'delete') || refs.some((ref) => /^\+?:./.test(ref)))
    call.act('deny', 'git', 'deletes a branch or tag of the remote', ask);
  if (/^(\w+:\/\/|[\w.-]+@[\w.-]+:|ext::)/.test(remote))
    call.act(
      'deny',
      'exfiltration',
      `pushes to ${remote}, which is no remote of the project`,
      'Push to a remote that the project knows.',
    );
  if (args.has('no-verify')) call.act('warn', 'git', 'skips the hooks of the project', 'Let the hooks run.');
  return UNKNOWN;
};

const checkout: Subcommand = (call, cwd) => {
  const args = readArgs(call.words, { letters: 'bB', long: ['orphan', 'conflict'] });
  const dash = call.words.indexOf('--');
  if (args.has('b', 'orphan')) return '';
  if (args.has('ours', 'theirs', 'p', 'patch')) return '';
  const paths = dash === -1 ? args.rest.filter(looksLikePath) : call.words.slice(dash + 1);
  const branch = dash === -1 && args.rest.length === 1 && !looksLikePath(args.rest[0] ?? '');
  if (args.has('f', 'force')) loses(call, cwd, 'throws away uncommitted changes');
  else if (paths.length > 0 && !branch)
    loses(call, cwd, `throws away uncommitted changes in ${shown(paths.join(' '))}`);
  return '';
};

function looksLikePath(word: string): boolean {
  return /^(\.|\.\/.*|\.\.(\/.*)?|:\/.*|\*.*|\uE003.*|.*\/)$/.test(word) || /[\w-]+\.[a-z]{1,4}$/i.test(word);
}

const restore: Subcommand = (call, cwd) => {
  const args = readArgs(call.words, { letters: 's', long: ['source'] });
  const staged = args.has('S', 'staged') && !args.has('W', 'worktree');
  if (!staged && !args.has('p', 'patch', 'ours', 'theirs'))
    loses(call, cwd, `throws away uncommitted changes in ${shown(args.rest.join(' '))}`);
  return '';
};

const reset: Subcommand = (call, cwd) => {
  const args = readArgs(call.words);
  if (args.has('hard', 'merge'))
    loses(
      call,
      cwd,
      'throws away uncommitted changes',
      'Use git stash, or git reset --soft to keep the changes.',
    );
  return '';
};

const clean: Subcommand = (call, cwd) => {
  const args = readArgs(call.words, { letters: 'e', long: ['exclude'] });
  if (args.has('f', 'force') && !args.has('n', 'dry-run') && !args.has('i', 'interactive'))
    loses(
      call,
      cwd,
      'deletes files that git does not know',
      'Look with git clean -n, then remove single files with rm.',
    );
  return '';
};

const stash: Subcommand = (call, cwd) => {
  const [action = ''] = call.words;
  if (action === 'drop' || action === 'clear')
    loses(call, cwd, 'throws away stashed work', 'Use git stash apply and keep the stash.');
  return UNKNOWN;
};

const branch: Subcommand = (call, cwd) => {
  const args = readArgs(call.words, { letters: 'u', long: ['set-upstream-to'] });
  if (args.flags.has('D') || (args.has('d', 'delete') && args.has('f', 'force')))
    loses(
      call,
      cwd,
      `deletes the branch ${shown(args.rest.join(' '))} with its commits`,
      'Use git branch -d, which keeps what is not merged.',
    );
  else if (args.has('f', 'force') && /[~^]/.test(args.rest[1] ?? ''))
    loses(
      call,
      cwd,
      `moves the branch ${shown(args.rest[0] ?? '')} away from its commits`,
      'Make a new branch.',
    );
  return UNKNOWN;
};

const removeFiles: Subcommand = (call, cwd) => {
  const args = readArgs(call.words);
  if (args.has('cached', 'n', 'dry-run')) return '';
  if (args.rest.some((path) => /^(\.|\.\/|\*|\uE003|:\/)$/.test(path)))
    loses(call, cwd, 'removes every file of the project', 'Name the files.');
  return '';
};

const worktree: Subcommand = (call, cwd) => {
  const args = readArgs(call.words.slice(1));
  if (call.words[0] === 'remove' && args.has('f', 'force'))
    loses(call, cwd, 'removes a working copy with its changes', 'Use git worktree remove without --force.');
  return UNKNOWN;
};

const commit: Subcommand = (call) => {
  const args = readArgs(call.words, {
    letters: 'mFCct',
    long: ['message', 'file', 'author', 'date', 'reuse-message', 'fixup', 'squash', 'template', 'trailer'],
  });
  if (args.flags.has('n') || args.flags.has('no-verify'))
    call.act('warn', 'git', 'skips the hooks of the project', 'Let the hooks run and mend what they find.');
  const file = args.value('F', 'file');
  if (file && file !== '-') call.file('read', file);
  return UNKNOWN;
};

const config: Subcommand = (call) => {
  const args = readArgs(
    call.words.filter((word) => !/^(set|get|list|unset)$/.test(word)),
    { letters: 'f', long: ['file', 'type', 'default'] },
  );
  if (
    args.has('get', 'get-all', 'get-regexp', 'list', 'l', 'unset', 'unset-all', 'e', 'edit') ||
    /^(get|list|unset)$/.test(call.words[0] ?? '')
  )
    return UNKNOWN;
  const [name = '', value] = args.rest;
  if (value !== undefined) useSetting(call, `${name}=${value}`, true, args.has('global', 'system'));
  return '';
};

/** A setting given for one call is tried as the program it names; one that stays is judged more strictly. */
function useSetting(call: Call, setting: string, stays: boolean, everywhere = false): void {
  const [name = '', ...text] = setting.split('=');
  const value = text.join('=');
  const [, alias] = /^alias\.(.+)$/i.exec(name) ?? [];
  if (alias !== undefined) {
    call.shell.world.gitAliases.set(alias, value);
    if (everywhere && value.startsWith('!'))
      call.act(
        'deny',
        'persistence',
        `makes git ${alias} run ${shown(value.slice(1))} everywhere`,
        'Leave the configuration of the user as it is.',
      );
    return;
  }
  const { projectRoot } = call.shell.world.context;
  if (/^core\.hookspath$/i.test(name)) {
    if (!isInside(call.path(value), projectRoot))
      call.act(
        'deny',
        'git-hooks',
        `takes the hooks of git from ${shown(value)}`,
        'Leave the hooks of the project as they are.',
      );
    return;
  }
  if (
    /^(include\.path|includeif\..*\.path|core\.attributesfile|init\.templatedir|core\.worktree)$/i.test(
      name,
    ) &&
    stays
  ) {
    call.act(
      'deny',
      'git-hooks',
      `makes git read ${shown(value)}`,
      'Leave the configuration of git as it is.',
    );
    return;
  }
  if (/^url\..*\.(insteadof|pushinsteadof)$/i.test(name) && stays) {
    call.act(
      'deny',
      'git-hooks',
      'sends what goes to one remote to another',
      'Leave the remotes as they are.',
    );
    return;
  }
  if (!programSetting.test(name) || value === '') return;
  const command = value.replace(/^!/, '');
  call.script(command, { stdin: null });
  if (stays && (everywhere || !knownPrograms.test(command)) && !(everywhere && knownPrograms.test(command))) {
    call.act(
      'deny',
      'git-hooks',
      `makes git run ${shown(command)}`,
      'Leave the configuration of git as it is.',
    );
  }
}

const remote: Subcommand = (call) => {
  if (call.words[0] === 'set-url')
    call.act(
      'deny',
      'exfiltration',
      `sends the project to ${shown(call.words.at(-1) ?? '')} from now on`,
      'Add another remote beside it, and let a person decide.',
    );
  return UNKNOWN;
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
    return UNKNOWN;
  };
}

const connects: Subcommand = (call, cwd) => {
  const args = readArgs(call.words, {
    letters: 'ubcoj',
    long: ['upload-pack', 'branch', 'config', 'origin', 'depth', 'template', 'exec'],
  });
  for (const program of args.all('upload-pack', 'exec', ...(call.words.includes('-u') ? ['u'] : [])))
    if (!/^git-/.test(program)) call.script(program, { cwd });
  for (const setting of args.all('c', 'config')) useSetting(call, setting, false);
  for (const url of args.rest) {
    const [, command] = /^ext::(.+)$/s.exec(url) ?? [];
    // Words are parted by a space, and `% ` is a space inside a word.
    if (command)
      call.run(
        command.split(/(?<!%) /).map((word) => word.replaceAll('% ', ' ')),
        { cwd },
      );
  }
  return UNKNOWN;
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
  switch(call, cwd) {
    const args = readArgs(call.words, { letters: 'cC', long: ['create', 'orphan'] });
    if (args.flags.has('f') || args.flags.has('force') || args.flags.has('discard-changes'))
      loses(call, cwd, 'throws away uncommitted changes');
    return '';
  },
  tag(call, cwd) {
    if (readArgs(call.words, { letters: 'mFu' }).has('d', 'delete')) loses(call, cwd, 'deletes a tag', ask);
    return UNKNOWN;
  },
  reflog(call, cwd) {
    if (/^(expire|delete)$/.test(call.words[0] ?? ''))
      loses(call, cwd, 'deletes the record that lost commits are found by', ask);
    return UNKNOWN;
  },
  gc(call, cwd) {
    if (call.words.some((word) => /^--prune=(now|all)/.test(word)))
      loses(call, cwd, 'deletes commits that nothing points to', 'Use git gc without --prune.');
    return UNKNOWN;
  },
  prune: (call, cwd) =>
    call.words.includes('-n')
      ? UNKNOWN
      : loses(call, cwd, 'deletes commits that nothing points to', 'Use git gc.'),
  'update-ref': (call, cwd) =>
    call.words.includes('-d') || call.words.includes('--delete')
      ? loses(call, cwd, 'deletes a branch with its commits', ask)
      : '',
  'symbolic-ref': () => UNKNOWN,
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
  grep: executes(/^(?:-O|--open-files-in-pager=)(.+)$/),
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
    if (call.words[0] === 'deinit' && readArgs(call.words).has('f', 'force'))
      loses(call, cwd, 'throws away changes in a submodule');
    return UNKNOWN;
  },
  clone: connects,
  fetch: connects,
  pull: connects,
  'ls-remote': connects,
  archive: connects,
  diff(call) {
    if (call.words.includes('--no-index'))
      for (const path of readArgs(call.words).rest) call.file('read', path);
    return UNKNOWN;
  },
  'hash-object': (call) => {
    for (const path of readArgs(call.words, { letters: 't' }).rest) call.file('read', path);
    return UNKNOWN;
  },
  credential(call) {
    if (call.words[0] === 'fill')
      call.act('deny', 'credentials', 'prints a stored password', 'Let git use it; it need not be seen.');
    return UNKNOWN;
  },
  'rev-parse': (call, cwd) =>
    call.words.includes('--show-toplevel') && isInside(cwd, call.shell.world.context.projectRoot)
      ? `${call.shell.world.context.projectRoot}\n`
      : UNKNOWN,
  'ls-files': () => `./${UNKNOWN}\n`,
  daemon: (call) =>
    call.act('deny', 'exfiltration', 'serves the repository to others', 'Push to the remote of the project.'),
  'send-email': (call) => call.act('deny', 'exfiltration', 'sends mail', 'Leave it to a person.'),
};

export const gitCommands: Handlers = {
  git,
  hub: git,
  'git-filter-repo': (call) => git({ ...call, words: ['filter-repo', ...call.words] }),
};
