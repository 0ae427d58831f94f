import * as v from 'valibot';
import { loopOptions, loopSettings } from '../fleet/files/loop-record.ts';
import { isWorkerName } from '../fleet/files/paths.ts';

const texts = v.pipe(v.array(v.string()), v.readonly());
const branchName = v.pipe(v.string(), v.check(isBranchName, 'no name for a branch'));
const variableName = v.pipe(v.string(), v.check(isPassable, 'a variable that loops cannot set'));
/** An option of `ralph run` that a submitter may give. Those for the sandbox are ignored: the machine has its own. */
const runWord = v.pipe(
  v.string(),
  v.regex(
    /^--(?:no-)?sandbox(?:=|$)|^--(?:completion-(?:promise|response)|done-pattern|verify|permissions|max-(?:time|cost|tokens)|stuck-after)=/,
  ),
);

/** A branch of a repository that any machine can reach. */
const workSource = v.object({
  repo: v.pipe(v.string(), v.regex(/^[^-]/)),
  /** Branch that the iterations are pushed to. */
  branch: branchName,
  /** Branch that a new one starts from; null is the default branch. */
  base: v.nullable(branchName),
  /** Text of the prompt, whose file is on the machine that submitted the loop. */
  prompt: v.string(),
  /** Names of variables that the machine passes to the agent: no secret is stored. */
  pass: v.pipe(v.array(variableName), v.readonly()),
});
export type WorkSource = Readonly<v.InferOutput<typeof workSource>>;

/** A loop as it is submitted. The name is its identity: submitted twice, it runs once. */
export const loopOrder = v.object({
  name: v.pipe(v.string(), v.check(isWorkerName)),
  command: v.pipe(texts, v.minLength(1)),
  cwd: v.pipe(v.string(), v.check(isInside, 'no folder inside a repository')),
  env: v.pipe(v.record(variableName, v.string()), v.readonly()),
  tags: texts,
  settings: loopSettings,
  options: v.object({
    ...loopOptions.entries,
    run: v.exactOptional(v.pipe(v.array(runWord), v.readonly())),
  }),
  /** Repository and branch of the work. */
  source: v.exactOptional(workSource),
  /** Labels that a machine needs to run it. */
  labels: v.exactOptional(texts),
});
export type LoopOrder = Readonly<v.InferOutput<typeof loopOrder>>;

/** A loop as a machine gets it to run. */
export const loopJob = v.object({
  ...v.omit(loopOrder, ['source', 'tags', 'labels']).entries,
  ...workSource.entries,
  /** Id of this submission: a loop that is submitted again under its old name begins anew. */
  id: v.pipe(v.string(), v.regex(/^\d+$/)),
  /** State of its run on the machine that had it before. */
  runState: v.exactOptional(v.string()),
});
export type LoopJob = Readonly<v.InferOutput<typeof loopJob>>;

// What a submitter names is checked at `swarm submit`, and again by the worker: anybody with access to the store can write
// an order.

/** True if git takes a text as the name of a branch (git-check-ref-format), and no command takes it for an option. */
export function isBranchName(name: string): boolean {
  const isForbidden = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$/u.test(name);
  const isPartBad = (part: string) => part.startsWith('.') || part.endsWith('.lock');
  return name !== '' && name !== '@' && name !== 'HEAD' && !isForbidden && !name.split('/').some(isPartBad);
}

/** True for a relative path that does not lead out of its folder. */
export function isInside(path: string): boolean {
  return !/^[/\\]|(^|[/\\])\.\.([/\\]|$)|\0/.test(path);
}

/** Variables that change how programs are found, loaded or configured: the machine's own. */
const ownVariables =
  /^(?:PATH|HOME|SHELL|IFS|ENV|BASH_ENV|TMPDIR|NODE_(?!ENV$).*|LD_.*|DYLD_.*|GIT_(?!(?:AUTHOR|COMMITTER)_).*|SSH_.*|XDG_.*|RALPH_.*|SWARM_.*)$/i;

/** True if a loop may set a variable for its agent. */
export function isPassable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !ownVariables.test(name);
}
