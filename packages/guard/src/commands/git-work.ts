import { readArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { show, UNKNOWN } from '../marks.ts';
import { zoneOf } from '../zones.ts';
import { forcedClean, newRemote } from './git-settings.ts';

const commitFirst = 'Commit or stash the work first, or undo single edits by editing the file.';
export const ask = 'Leave it to a person, or make a new commit instead.';

/** Denies to lose work, but in a temporary folder, where a clone is nobody's work. */
export function loses(call: Call, what: string, instead = commitFirst): '' {
  const zone = zoneOf(call.shell.cwd, call.context);
  return zone === 'temporary' ? '' : call.deny('git', what, instead);
}

export const ownChanges = `diff --git ${UNKNOWN}\n`;

/** Output of `git archive`: all committed files. */
export const committedTree = `archive of git ${UNKNOWN}\n`;
export const reversedChanges = `backwards ${ownChanges}`;

/** A patch of the uncommitted work, applied backwards, takes all of it away. */
export function undoesWork(call: Call, patch: string, backwards: boolean): void {
  if (patch.includes(ownChanges) && backwards !== patch.includes(reversedChanges))
    loses(call, 'throws away uncommitted changes');
}

export function writesPatched(call: Call, text: string, strip: number): void {
  for (const [, path = ''] of text.matchAll(/^(?:\+\+\+|---) ([^\t\n]+)/gm))
    if (path !== '/dev/null') call.file('write', path.split('/').slice(strip).join('/'));
}

const push: Handler = (call) => {
  const args = readArgs(call.words, 'o', 'repo receive-pack exec push-option');
  for (const program of args.all('receive-pack', 'exec')) call.script(program);
  if (args.has('n', 'dry-run')) return UNKNOWN;
  const [remote = '', ...refs] = args.rest;
  const forced =
    args.flags.has('f') ||
    args.flags.has('force') ||
    args.has('mirror', 'prune') ||
    refs.some((ref) => ref.startsWith('+'));
  const isShared = (ref: string) => /(^|:|\/)(main|master|trunk|develop|release.*)$/.test(ref);
  const verdict = forced || refs.length === 0 || refs.some(isShared) ? 'deny' : 'warn';
  const instead = 'Push a new branch, or add commits on top.';
  if (forced || args.has('force-with-lease', 'force-if-includes'))
    call.act(verdict, 'git', 'overwrites the history of the remote', instead);
  if (args.has('d', 'delete') || refs.some((ref) => /^\+?:./.test(ref)))
    call.deny('git', 'deletes a branch or tag of the remote', ask);
  const address = call.shell.world.gitAliases.get(newRemote(remote)) ?? remote;
  if (/^(\w+:\/\/|[\w.-]+@[\w.-]+:|ext::)/.test(address))
    call.deny(
      'exfiltration',
      `pushes to ${address}, which is no remote of the project`,
      'Push to a remote that the project knows.',
    );
  if (args.has('no-verify')) call.warn('git', 'skips the hooks of the project', 'Let the hooks run.');
};

const checkout: Handler = (call) => {
  const args = readArgs(call.words, 'bB', 'orphan conflict pathspec-from-file');
  const dash = call.words.indexOf('--');
  if (args.has('f', 'force')) return loses(call, 'throws away uncommitted changes');
  if (args.has('b', 'orphan')) return '';
  if (args.has('B')) return moves(call, args.value('B'), args.rest[0]);
  if (args.has('ours', 'theirs')) return '';
  if (args.value('pathspec-from-file') !== undefined) return loses(call, 'throws away uncommitted changes');
  if (args.has('p', 'patch')) return answered(call) ? loses(call, 'throws away uncommitted changes') : '';
  const tracks = args.has('t', 'track', 'detach');
  const paths =
    dash === -1
      ? args.rest.filter((word, i) => looksLikePath(word) || (i > 0 && !tracks))
      : call.words.slice(dash + 1);
  const branch = dash === -1 && args.rest.length === 1 && !looksLikePath(args.rest[0] ?? '');
  if (paths.length > 0 && !branch) loses(call, `throws away uncommitted changes in ${show(paths.join(' '))}`);
  return '';
};

/** True if the input answers yes to a question. */
function answered({ stdin }: Call): boolean {
  return /^\s*[yac1-9]/im.test(stdin ?? '');
}

/** Usual names of folders, which are hardly ever names of branches. */
const usualFolder = /^(src|lib|tests|packages|scripts|node_modules)$/;

function looksLikePath(word: string): boolean {
  return (
    usualFolder.test(word) ||
    /^(\.|\.\/.*|\.\.(\/.*)?|:\/.*|\*.*|\uE003.*|.*\/)$/.test(word) ||
    /[\w-]+\.[a-z]{1,4}$/i.test(word)
  );
}

const restore: Handler = (call) => {
  const args = readArgs(call.words, 's', 'source');
  const staged = args.has('S', 'staged') && !args.has('W', 'worktree');
  const asks = args.has('p', 'patch') && !answered(call);
  if (!staged && !asks && !args.has('ours', 'theirs'))
    loses(call, `throws away uncommitted changes in ${show(args.rest.join(' '))}`);
  return '';
};

const clean: Handler = (call) => {
  const args = readArgs(call.words, 'e', 'exclude');
  const hasForce = args.has('f', 'force') || call.shell.world.gitAliases.has(forcedClean);
  const forced = args.has('i', 'interactive') ? answered(call) : hasForce;
  const instead = 'Look with git clean -n, then remove single files with rm.';
  if (!forced || args.has('n', 'dry-run')) return '';
  return loses(call, 'deletes files that git does not know', instead);
};

const takesIgnored = 'takes away what git ignores, such as the state of the loop';

const stash: Handler = (call) => {
  const [action = ''] = call.words;
  if (/^(-|push$|save$|$)/.test(action) && readArgs(call.words, 'm').has('a', 'all'))
    call.deny('loop-state', takesIgnored, 'Use git stash without --all.');
};

const branch: Handler = (call) => {
  const args = readArgs(call.words, 'u', 'set-upstream-to');
  if (args.flags.has('D') || (args.has('d', 'delete') && args.has('f', 'force')))
    loses(
      call,
      `deletes the branch ${show(args.rest.join(' '))} with its commits`,
      'Use git branch -d, which keeps what is not merged.',
    );
  else if (
    (args.flags.has('M') || args.flags.has('C')) &&
    args.rest.length > 1 &&
    args.rest.join(' ') !== 'master main'
  )
    loses(call, `takes the place of the branch ${show(args.rest[1] ?? '')}`, 'Use git branch -m.');
  else if (args.has('f', 'force')) moves(call, args.rest[0], args.rest[1]);
};

/** A branch or tag that goes to an older commit leaves those behind that only it had. */
export function moves(call: Call, name = '', to = ''): '' {
  if (!/[~^]/.test(to)) return '';
  return loses(call, `moves ${show(name)} away from its commits`, 'Make a new branch or tag.');
}

const removeFiles: Handler = (call) => {
  const args = readArgs(call.words);
  if (args.has('cached', 'n', 'dry-run')) return '';
  if (args.rest.some((path) => isEverything.test(path)))
    loses(call, 'removes every file of the project', 'Name the files.');
  else if (args.has('f', 'force'))
    loses(call, 'removes files even where their changes would be lost', 'Use git rm without -f.');
  const paths = args.rest.filter((path) => !isEverything.test(path));
  return call.files('delete', paths, { recursive: args.has('r') });
};

const isEverything = /^(\.|\.\/|\*|\uE003|:\/)$/;

/** Subcommands that change the working copy, branches or the remote. */
export const workSubcommands: Handlers = {
  push,
  'checkout co': checkout,
  restore,
  clean,
  stash,
  branch,
  rm: removeFiles,
};

/** Subcommands that lose work: with one of the options, by letter or by name, with words that match, or always. */
export function losing(
  what: string,
  subcommands: Readonly<Record<string, string | RegExp>>,
  instead?: string,
): Handlers {
  return Object.fromEntries(
    Object.entries(subcommands).map(([names, given]): [string, Handler] => [
      names,
      (call) => {
        const loss =
          typeof given === 'string'
            ? given === '' || readArgs(call.words, 'mFcC').has(...given.split(' '))
            : given.test(call.words.map(show).join(' '));
        return loss ? loses(call, what, instead) : '';
      },
    ]),
  );
}
