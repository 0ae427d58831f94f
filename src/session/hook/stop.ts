import { dirname, join } from 'node:path';
import { messageOf } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { projectPaths } from '../../store/paths.ts';
import { activePath } from '../../store/ralph-active-path.ts';
import { readSessionLoop } from '../../store/session-loops.ts';
import { lstatOf } from '../../system/files.ts';
import { lockOwner } from '../../system/lock.ts';
import type { SessionContext } from '../context.ts';
import { continuationMessage } from '../messages.ts';
import { type Reply, silent } from '../reply.ts';
import { atStop } from '../stop.ts';
import { readTranscript } from '../transcript.ts';
import type { HookHost } from './host.ts';
import { type HookInput, readHookInput } from './input.ts';

/** The hook of an agent that is about to stop: what it prints for what it reads. Never throws. */
export async function stopHook(
  host: HookHost,
  input: string,
  context: SessionContext,
  warn: (line: string) => void,
): Promise<string> {
  const read = readHookInput(input);
  const own = read === null ? silent : await ownReply(host, read, context, warn);
  const answer = own.kind === 'continue' ? own : ((await prdReply(input, read, context, warn)) ?? own);
  return host.print(read?.event || 'Stop', answer);
}

/** The answer of the loop in this session. */
async function ownReply(
  host: HookHost,
  read: HookInput,
  context: SessionContext,
  warn: (line: string) => void,
): Promise<Reply> {
  try {
    return await reply(host, read, context);
  } catch (error) {
    warn(`ralph: the stop hook failed: ${messageOf(error)}`);
    return afterFailure(read, context);
  }
}

/** The answer of the PRD that a loop outside works on here; null where there is none, or nothing to say. */
async function prdReply(
  input: string,
  read: HookInput | null,
  { env }: SessionContext,
  warn: (line: string) => void,
): Promise<Reply | null> {
  if (read?.subagent) return null;
  try {
    const folders = [env.CLAUDE_PROJECT_DIR, cwdIn(input), process.cwd()];
    const projectDir = folders.map((folder) => folder && markedFolder(folder)).find(Boolean);
    if (!projectDir || isVisitor(projectDir, env)) return null;
    const { atPrdStop } = await import('../prd/stop-check.ts');
    const lastMessage = read?.lastMessage ?? null;
    const unfinished = read !== null && (read.planMode || read.backgroundTasks.length > 0);
    const { RALPH_PRD_DIR: ralphDir, RALPH_PRD_GIT: gitTop } = env;
    const stop = { projectDir, ralphDir, gitTop, lastMessage, unfinished };
    const answer = await atPrdStop(stop, warn);
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

/** Where the agent is, even where the host tells nothing else. */
function cwdIn(input: string): string | undefined {
  try {
    const value: unknown = JSON.parse(input);
    return isObject(value) && typeof value.cwd === 'string' ? value.cwd : undefined;
  } catch {
    return undefined;
  }
}

function reply(host: HookHost, read: HookInput, context: SessionContext): Promise<Reply> {
  const { sessionId, subagent, planMode, backgroundTasks, transcriptPath, lastMessage } = read;
  return atStop(
    {
      sessionId,
      subagent,
      planMode,
      backgroundTasks,
      readTurn: (from, wantedCalls) =>
        readTranscript(host.transcript, transcriptPath, from, lastMessage, wantedCalls),
    },
    context,
  );
}

/** A fault of ours must not end a loop in silence: while its state says that it is active, the work goes on. */
function afterFailure(read: HookInput, { env }: SessionContext): Reply {
  try {
    const found = readSessionLoop(env, read.sessionId);
    if (found.kind !== 'loop' || found.state.status !== 'active' || read.subagent || read.planMode)
      return silent;
    return { kind: 'continue', message: continuationMessage(found.state) };
  } catch {
    return silent;
  }
}
