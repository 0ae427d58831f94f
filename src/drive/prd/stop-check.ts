import { join } from 'node:path';
import type { Claim } from '../../core/completion.ts';
import { checkTasks, problemLine } from '../../core/review/check.ts';
import { type CommitQuery, uncommittedChanges } from '../../os/git/uncommitted.ts';
import { type Reply, silent } from '../session/hook-reply.ts';
import { type ActiveMarker, readActive } from './ralph-active.ts';
import { commitWords, ownFiles, type PrdPaths, prdPaths, readTasksFile } from './tasks.ts';

export type PrdStop = {
  readonly projectDir: string;
  /** Folder of the PRD, if it is not `ralph`. */
  readonly ralphDir?: string | undefined;
  /** Top of the repository, if the loop started in one. */
  readonly gitTop?: string | undefined;
  readonly claim: Claim;
  /** True while background work goes on or in plan mode: then nothing need be committed yet. */
  readonly unfinished: boolean;
};

const mostLines = 20;

/** Decides whether an agent that works on a PRD may stop: the task list must be legal and everything committed. */
export async function atPrdStop(stop: PrdStop, warn: (line: string) => void): Promise<Reply> {
  const marker = readActive(stop.projectDir);
  if (marker === null) return silent;
  if (marker.warning && !marker.rules.skipReview) warn(`ralph: ${marker.warning}`);
  const paths = prdPaths(stop.ralphDir ?? join(stop.projectDir, 'ralph'), stop.projectDir);
  const query = {
    own: ownFiles(stop.projectDir, paths),
    since: marker.since,
    top: stop.gitTop ?? null,
  };
  const parts = [
    ...taskParts(stop, paths, marker),
    ...(stop.unfinished ? [] : await commitParts(stop.projectDir, query)),
  ];
  if (parts.length === 0) return silent;
  return { kind: 'continue', message: [...parts, 'Then stop again.'].join('\n\n') };
}

function taskParts({ claim }: PrdStop, paths: PrdPaths, { rules, problem: damage }: ActiveMarker): string[] {
  const file = readTasksFile(paths);
  if (!file.ok) return [`ralph/tasks.json cannot be used: ${file.problem.replace(/\.$/, '')}. Put it right.`];
  const { tasks, problems } = checkTasks(file.value, rules);
  // An agent that asks for a human may leave its step unfinished.
  const asks = claim.kind === 'blocked' || claim.kind === 'decide';
  const lines = [
    ...(damage === null || rules.skipReview || asks
      ? []
      : [`${damage}. Ask a human: <promise>BLOCKED: …</promise>`]),
    ...problems.filter(({ omission }) => !(omission && asks)).map(problemLine),
  ];
  if (lines.length === 0) return [];
  const list = lines.slice(0, mostLines).map((line) => `- ${line}`);
  if (lines.length > mostLines) list.push(`- and ${lines.length - mostLines} more`);
  const what = tasks === null ? 'is not a valid task list' : 'breaks the rules of the review cycle';
  const mode =
    rules.iteration === null || rules.skipReview
      ? ''
      : ` The mode of this iteration is ${rules.iteration.mode}.`;
  return [`ralph/tasks.json ${what}.${mode} Put it right:\n${list.join('\n')}`];
}

async function commitParts(projectDir: string, query: CommitQuery): Promise<string[]> {
  const { changes, failure } = await uncommittedChanges(projectDir, query);
  if (failure !== null) return [`${failure}. Put the repository right, and commit ALL changes.`];
  return changes.length === 0 ? [] : [commitWords('There are uncommitted changes:', changes)];
}
