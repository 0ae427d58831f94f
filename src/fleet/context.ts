import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { OwnSession } from '../agents/agent.ts';
import { type AgentName, agentNameOf, agents } from '../agents/registry.ts';
import { contextUse } from '../drive/hook/context.ts';
import { listDir, lstatOf } from '../os/files/files.ts';
import { tailLines } from '../os/files/tail-lines.ts';
import type { Environment } from '../os/process/program.ts';
import { deliveryFor } from './delivery.ts';
import type { LoopRecord } from './files/loops.ts';
import { workerRunId } from './files/paths.ts';
import { workerEnvironment } from './files/signal-files.ts';
import type { Worker } from './files/workers.ts';
import { compactsOnScreen, contextOnScreen } from './screen/classify.ts';

export type ContextStep =
  | { readonly kind: 'go-on' }
  | { readonly kind: 'wrap-up'; readonly percent: number }
  /** End the iteration: the next one begins with an empty context. */
  | { readonly kind: 'end'; readonly because: string };

export type ContextWatch = (lines: readonly string[]) => ContextStep;

/** Percent of the context that an agent may use to wrap up. */
const graceForWrapUp = 15;
const goOn: ContextStep = { kind: 'go-on' };

export const wrapUpText =
  'Your context is nearly full. Come to an end now: begin nothing new, write down what is left to do where the next ' +
  'iteration will find it, commit your work, and stop.';

/** Watches the context of one iteration; null if no option asks for it. */
export function watchContext(env: Environment, worker: Worker, loop: LoopRecord): ContextWatch | null {
  const { maxContext, restartOnCompact = false } = loop.options;
  if (maxContext === undefined && !restartOnCompact) return null;
  const agent = agentNameOf(worker.cmd[0] ?? '');
  const readContext = contextReader(workerEnvironment(env, worker), agent, sessionOf(env, worker, loop));
  // A program that reads its prompt from a file cannot be asked.
  let isAsked = deliveryFor(worker.cmd, '').how === 'stdin';
  return (lines) => {
    const { percent, compacted } = readContext(lines);
    if (restartOnCompact && compacted) return { kind: 'end', because: 'the context was compacted' };
    const step = contextStep(percent, maxContext, isAsked);
    isAsked ||= step.kind === 'wrap-up';
    return step;
  };
}

/** Returns the action at this use of the context; `isAsked` tells that the agent was asked to wrap up. */
export function contextStep(
  percent: number | null,
  maxContext: number | undefined,
  isAsked: boolean,
): ContextStep {
  if (percent === null || maxContext === undefined || percent < maxContext) return goOn;
  if (percent >= maxContext + graceForWrapUp) {
    return { kind: 'end', because: `the context is ${Math.round(percent)} % full` };
  }
  return isAsked ? goOn : { kind: 'wrap-up', percent: Math.round(percent) };
}

/** Returns the words that give the agent a session id of ours; none if the command names a session already. */
export function sessionWords(env: Environment, worker: Worker, loop: LoopRecord): string[] {
  const session = sessionOf(env, worker, loop);
  const option = agents[agentNameOf(worker.cmd[0] ?? '')].ownSession?.option;
  return session === null || option === undefined ? [] : [option, session];
}

/** True if the use of the context can be read for this command. */
export function tellsContext(command: readonly string[]): boolean {
  const agent = agentNameOf(command[0] ?? '');
  const { screen, ownSession } = agents[agent];
  return ownSession !== undefined || screen?.context !== undefined || screen?.contextLeft !== undefined;
}

function sessionOf(env: Environment, { name, cmd }: Worker, { launch, options }: LoopRecord): string | null {
  const isWatched = options.maxContext !== undefined || options.restartOnCompact === true;
  const { ownSession } = agents[agentNameOf(cmd[0] ?? '')];
  if (!isWatched || ownSession === undefined || options.run !== undefined) return null;
  if ([ownSession.option, ...ownSession.otherOptions].some((option) => cmd.includes(option))) return null;
  const hash = createHash('sha256')
    .update(`${workerRunId(env, name)} ${launch}`)
    .digest('hex');
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-4$3-8$4-$5');
}

type Reading = { readonly percent: number | null; readonly compacted: boolean };

/** Reads the use of the context from the transcript of the session or, without one, from the screen. */
function contextReader(env: Environment, agent: AgentName, session: string | null) {
  let path: string | null = null;
  let tail: ReturnType<typeof tailLines> | null = null;
  let reading: Reading = { percent: null, compacted: false };
  const { ownSession } = agents[agent];
  return (lines: readonly string[]): Reading => {
    path ??= session === null || !ownSession ? null : transcriptPath(env, ownSession, session);
    if (path === null || !ownSession) {
      return { percent: contextOnScreen(agent, lines), compacted: compactsOnScreen(agent, lines) };
    }
    tail ??= tailLines(path);
    const { lines: newLines } = tail.read();
    if (newLines.length === 0) return reading;
    const compacted =
      reading.compacted || newLines.some((line) => ownSession.compaction.test(line.toString('utf8')));
    reading = { percent: contextUse(path, env), compacted };
    return reading;
  };
}

function transcriptPath(env: Environment, ownSession: OwnSession, session: string): string | null {
  const top = ownSession.transcriptFolders(env, env.HOME || homedir());
  const paths = listDir(top).map((folder) => join(top, folder, ownSession.transcriptName(session)));
  return paths.find((path) => lstatOf(path) !== null) ?? null;
}
