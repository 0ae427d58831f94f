import { dirname, join } from 'node:path';
import type { HookHost } from '../../agents/host.ts';
import { projectPaths } from '../../config/paths.ts';
import { type Claim, readClaim } from '../../core/completion.ts';
import { messageOf } from '../../core/error.ts';
import { lstatOf } from '../../os/files/files.ts';
import { lockOwner } from '../../os/files/lock.ts';
import { activePath } from '../prd/ralph-active-path.ts';
import { type HookContext, type Reply, type SessionContext, silent } from '../session/hook-reply.ts';
import { hasSessionLoop } from '../session/session-paths.ts';
import { atStop, type StopReply } from '../session/stop.ts';
import { type HookInput, turnReader } from './input.ts';

/** Answers an agent that is about to stop: by the loop of its session, then by the PRD that is worked on here. */
export async function stopHook(host: HookHost, input: HookInput, context: HookContext): Promise<Reply> {
  const reply = await loopReply(host, input, context);
  if (reply.kind === 'continue' || reply.servesUser) return reply;
  return (await prdReply(input, reply.claim, context)) ?? reply;
}

async function loopReply(host: HookHost, input: HookInput, context: HookContext): Promise<StopReply> {
  const { sessionId, subagent, planMode, backgroundTasks, transcriptPath, lastMessage } = input;
  if (sessionId === null) return silent;
  const readTurn = turnReader(host, { transcriptPath, lastMessage });
  try {
    return await atStop({ sessionId, subagent, planMode, backgroundTasks, readTurn }, context);
  } catch (error) {
    context.warn(`ralph: the stop hook failed: ${messageOf(error)}`);
    return subagent || planMode ? silent : afterFailure(sessionId, messageOf(error), context);
  }
}

/** Returns the reply for the PRD that a loop outside works on; null if there is none, or no problem. */
async function prdReply(
  { subagent, cwd, lastMessage, planMode, backgroundTasks }: HookInput,
  loopClaim: Claim | undefined,
  { env, warn }: HookContext,
): Promise<Reply | null> {
  if (subagent) return null;
  try {
    const folders = [env.CLAUDE_PROJECT_DIR, cwd, process.cwd()];
    const projectDir = folders.map((folder) => folder && markedFolder(folder)).find(Boolean);
    if (!projectDir || isVisitor(projectDir, env)) return null;
    const { atPrdStop } = await import('../prd/stop-check.ts');
    const claim = loopClaim ?? readClaim([lastMessage ?? ''], {});
    const unfinished = planMode || backgroundTasks.length > 0;
    const { RALPH_PRD_DIR: ralphDir, RALPH_PRD_GIT: gitTop } = env;
    const answer = await atPrdStop({ projectDir, ralphDir, gitTop, claim, unfinished }, warn);
    return answer.kind === 'silent' ? null : answer;
  } catch (error) {
    const problem = `the PRD could not be checked: ${messageOf(error)}`;
    warn(`ralph: ${problem}`);
    return { kind: 'continue', message: `${problem}\nPut ralph/tasks.json right, then stop again.` };
  }
}

/** Returns the nearest folder with the marker of a loop, up to the top of the repository; null without one. */
function markedFolder(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (lstatOf(activePath(folder))) return folder;
    if (folder === dirname(folder) || lstatOf(join(folder, '.git'))) return null;
  }
}

/** True for a session that a person has open beside a loop of ours, whose agents know their run. */
function isVisitor(projectDir: string, env: SessionContext['env']): boolean {
  return !env.RALPH_RUN_ID && lockOwner(projectPaths(projectDir).lock) !== null;
}

/** Returns the reply after a failure of ours: without a count, an agent that is sent back would never come to an end. */
function afterFailure(sessionId: string, why: string, { env }: SessionContext): Reply {
  if (!hasSessionLoop(env, sessionId)) return silent;
  return { kind: 'notice', notice: `Ralph loop rests: its hook failed (${why}). /ralph-resume goes on.` };
}
