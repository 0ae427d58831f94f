import { parseAs } from '../core/parse-as.ts';
import { type TurnEnd, turnEnd } from '../fleet/iteration-end.ts';
import { runGit } from '../os/git/git.ts';

/** Trailers of the commit that ends an iteration. */
export type IterationCommit = {
  readonly loop: string;
  readonly id: string;
  readonly iteration: number;
  readonly end: TurnEnd;
};

const keys = { loop: 'Ralph-Loop', id: 'Ralph-Run', iteration: 'Ralph-Iteration', end: 'Ralph-End' } as const;
const goodEnd: TurnEnd = { how: 'exited', exitCode: 0, doneMatched: false };

/** Returns the message of the commit that ends an iteration. */
export function commitMessage({ loop, id, iteration, end }: IterationCommit): string {
  return [
    `ralph: iteration ${iteration} of ${loop}\n`,
    `${keys.loop}: ${loop}`,
    `${keys.id}: ${id}`,
    `${keys.iteration}: ${iteration}`,
    `${keys.end}: ${JSON.stringify(end)}`,
  ].join('\n');
}

/** Returns the message of a commit with the work of an iteration that runs again. */
export function partMessage({ loop, id, iteration }: Omit<IterationCommit, 'end'>): string {
  const subject = `ralph: a part of iteration ${iteration} of ${loop}\n`;
  return [subject, `${keys.loop}: ${loop}`, `${keys.id}: ${id}`, `Ralph-Part: ${iteration}`].join('\n');
}

/** Reads the trailers of a commit; null if it has none. */
export function readIterationCommit(message: string): IterationCommit | null {
  const blocks = message.trimEnd().split(/\n\s*\n/);
  const lines = (blocks.at(-1) ?? '').split('\n');
  const value = (key: string) => lines.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2);
  const [loop, id, iteration] = [value(keys.loop), value(keys.id), value(keys.iteration)];
  if (loop === undefined || id === undefined || !/^[1-9]\d{0,8}$/.test(iteration ?? '')) return null;
  // A damaged end counts as a good one without a claim: the loop goes on.
  const end = parseAs(turnEnd, value(keys.end) ?? '');
  return { loop, id, iteration: Number(iteration), end: end ?? goodEnd };
}

/** Returns the iterations of a loop on a branch, newest first; without an id, of all its submissions. */
export async function iterationCommits(
  repository: string,
  commit: string,
  { name, id }: { readonly name: string; readonly id?: string },
): Promise<IterationCommit[]> {
  const line = id === undefined ? `${keys.loop}: ${name}` : `${keys.id}: ${id}`;
  const filter = ['--fixed-strings', `--grep=${line}`];
  const words = ['log', '-z', '--format=%B', '--encoding=UTF-8', ...filter, '--end-of-options', commit];
  const { stdout, stderr, exitCode } = await runGit(repository, words, 10 * 60_000);
  if (exitCode !== 0) throw new Error(`the history cannot be read: ${stderr.trim()}`);
  const commits = stdout.split('\0').flatMap((message) => readIterationCommit(message) ?? []);
  return commits.filter((commit) => commit.loop === name && (id === undefined || commit.id === id));
}

/** True if a commit of the agent would be taken for one of ours: agents imitate earlier messages. */
export function posesAsLoopCommit(
  message: string,
  { name, id }: { readonly name: string; readonly id: string },
): boolean {
  return message
    .split('\n')
    .some((line) => [`${keys.loop}: ${name}`, `${keys.id}: ${id}`].includes(line.trim()));
}
