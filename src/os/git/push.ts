import { currentBranch, runGit } from './git.ts';

/** Options of `git push` that take the next word as their value. */
const withValue = new Set(['-o', '--push-option', '--receive-pack', '--exec', '--repo']);
/** Options that say themselves what is pushed. */
const withoutRefspec = /^(--(all|branches|mirror|delete)|-d)$/;

/** Returns the words of a push with `branch` as its source and target, or why it must not be made. */
export async function pushTo(
  root: string,
  branch: string | null,
  words: readonly string[],
): Promise<{ readonly words: readonly string[] } | { readonly refused: string }> {
  const head = await currentBranch(root);
  if (head !== branch) {
    const [here, start] = [head, branch].map((name) => name ?? 'no branch');
    return { refused: `HEAD is on ${here}, but the run began on ${start}; nothing was pushed` };
  }
  const places = words
    .slice(1)
    .filter((word, at) => !word.startsWith('-') && !withValue.has(words[at] ?? ''));
  // With two, the user has said what goes where.
  if (branch === null || places.length > 1 || words.some((word) => withoutRefspec.test(word)))
    return { words };
  const { remote, target } = await configuredTarget(root, branch);
  return { words: [...words, ...(places.length === 0 ? [remote] : []), `refs/heads/${branch}:${target}`] };
}

async function configuredTarget(
  root: string,
  branch: string,
): Promise<{ readonly remote: string; readonly target: string }> {
  const { stdout } = await runGit(root, ['config', '--null', '--get-regexp', '^(branch|remote|push)\\.']);
  const settings = new Map(
    stdout.split('\0').map((entry) => {
      const [name = '', ...lines] = entry.split('\n');
      return [name, lines.join('\n')];
    }),
  );
  const ofBranch = (name: string) => settings.get(`branch.${branch}.${name}`);
  const remote =
    ofBranch('pushremote') ?? settings.get('remote.pushdefault') ?? ofBranch('remote') ?? 'origin';
  const followsUpstream = /^(upstream|tracking)$/.test(settings.get('push.default') ?? '');
  return { remote, target: (followsUpstream && ofBranch('merge')) || `refs/heads/${branch}` };
}
