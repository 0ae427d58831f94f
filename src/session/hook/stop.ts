import { dirname, join } from 'node:path';
import { messageOf } from '../../core/error.ts';
import { projectPaths } from '../../store/paths.ts';
import { activePath } from '../../store/ralph-active-path.ts';
import { readSessionLoop } from '../../store/session-loops.ts';
import { lstatOf } from '../../system/files.ts';
import { lockOwner } from '../../system/lock.ts';
import type { SessionContext } from '../context.ts';
import { continuationMessage } from '../messages.ts';
import { type Reply, silent } from '../reply.ts';
import { atStop, type StopEvent } from '../stop.ts';
import { readTranscript } from '../transcript.ts';
import type { HookHost } from './host.ts';
import type { HookInput } from './input.ts';

/** The hook of an agent that is about to stop: asks the loop of its session, then the PRD that is worked on here. */
export async function stopHook(
  host: HookHost,
  input: HookInput,
  context: SessionContext,
  warn: (line: string) => void,
): Promise<Reply> {
  const own = await loopReply(host, input, context, warn);
  return own.kind === 'continue' ? own : ((await prdReply(input, context, warn)) ?? own);
}

/** The answer of the loop in this session. */
async function loopReply(
  host: HookHost,
  input: HookInput,
  context: SessionContext,
  warn: (line: string) => void,
): Promise<Reply> {
  const { sessionId, subagent, planMode, backgroundTasks, transcriptPath, lastMessage } = input;
  if (sessionId === null) return silent;
  const readTurn: StopEvent['readTurn'] = (from, wantedCalls) =>
    readTranscript(host.transcript, transcriptPath, from, lastMessage, wantedCalls);
  try {
    return await atStop({ sessionId, subagent, planMode, backgroundTasks, readTurn }, context);
  } catch (error) {
    warn(`ralph: the stop hook failed: ${messageOf(error)}`);
    return subagent || planMode ? silent : afterFailure(sessionId, context);
  }
}

/** The answer of the PRD that a loop outside works on here; null where there is none, or nothing to say. */
async function prdReply(
  { subagent, cwd, lastMessage, planMode, backgroundTasks }: HookInput,
  { env }: SessionContext,
  warn: (line: string) => void,
): Promise<Reply | null> {
  if (subagent) return null;
  try {
    const folders = [env.CLAUDE_PROJECT_DIR, cwd, process.cwd()];
    const projectDir = folders.map((folder) => folder && markedFolder(folder)).find(Boolean);
    if (!projectDir || isVisitor(projectDir, env)) return null;
    const { atPrdStop } = await import('../prd/stop-check.ts');
    const unfinished = planMode || backgroundTasks.length > 0;
    const { RALPH_PRD_DIR: ralphDir, RALPH_PRD_GIT: gitTop } = env;
    const answer = await atPrdStop({ projectDir, ralphDir, gitTop, lastMessage, unfinished }, warn);
    return answer.kind === 'silent' ? null : answer;
  } catch (error) {
    const problem = `the PRD could not be checked: ${messageOf(error)}`;
    warn(`ralph: ${problem}`);
    return { kind: 'continue', message: `${problem}\nPut ralph/tasks.json right, then stop again.` };
  }
}

/** The nearest folder with the marker of a loop, up to the top of the repository; null without one. */
function markedFolder(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (lstatOf(activePath(folder))) return folder;
    if (folder === dirname(folder) || lstatOf(join(folder, '.git'))) return null;
  }
}

/** A session that a person has open beside a loop of ours: the agents of the loop know their run. */
function isVisitor(projectDir: string, env: SessionContext['env']): boolean {
  return !env.RALPH_RUN_ID && lockOwner(projectPaths(projectDir).lock) !== null;
}

/** A fault of ours must not end a loop in silence: while its state says that it is active, the work goes on. */
function afterFailure(sessionId: string, { env }: SessionContext): Reply {
  try {
    const stored = readSessionLoop(env, sessionId);
    if (stored.kind !== 'loop' || stored.state.status !== 'active') return silent;
    return { kind: 'continue', message: continuationMessage(stored.state) };
  } catch {
    return silent;
  }
}
