import { createHash } from 'node:crypto';
import { type AgentName, agentNameOf } from '../agents/registry.ts';
import { contextUse } from '../session/prd/context-use.ts';
import { claudeTranscript } from '../store/claude-transcripts.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import { workerRunId } from '../store/fleet-paths.ts';
import type { Worker } from '../store/fleet-workers.ts';
import type { Environment } from '../system/program.ts';
import { tailLines } from '../system/tail-lines.ts';
import { deliveryFor } from './delivery.ts';
import { compactsOnScreen, contextOnScreen } from './screen/classify.ts';
import { knowledge } from './screen/knowledge.ts';

/** What the context of an agent asks for. */
export type ContextStep =
  | { readonly kind: 'go-on' }
  /** Once in an iteration: tell the agent to come to an end. */
  | { readonly kind: 'wrap-up'; readonly percent: number }
  /** End the iteration: the next one begins with an empty context. */
  | { readonly kind: 'end'; readonly because: string };

export type ContextWatch = { look(lines: readonly string[]): ContextStep };

/** So many percent an agent gets to come to an end. */
const graceForWrapUp = 15;
const goOn: ContextStep = { kind: 'go-on' };
const compaction = /"subtype":\s?"compact_boundary"|"isCompactSummary":\s?true/;
const sessionFlags = ['--session-id', '--resume', '-r', '--continue', '-c', '--fork-session'];

export const wrapUpText =
  'Your context is nearly full. Come to an end now: begin nothing new, write down what is left to do where the next ' +
  'iteration will find it, commit your work, and stop.';

/** Watches the context of one iteration; null where nobody asked for it. */
export function watchContext(env: Environment, worker: Worker, loop: LoopRecord): ContextWatch | null {
  const { maxContext, restartOnCompact = false } = loop.options;
  if (maxContext === undefined && !restartOnCompact) return null;
  const agent = agentNameOf(worker.cmd[0] ?? '');
  const read = contextReader({ ...env, ...worker.env }, agent, sessionOf(env, worker, loop));
  // A program that reads a file instead of the keyboard cannot be told.
  let asked = deliveryFor(worker.cmd, '').how === 'stdin';
  return {
    look(lines) {
      const { percent, compacted } = read(lines);
      if (restartOnCompact && compacted) return { kind: 'end', because: 'the context was compacted' };
      const step = contextStep(percent, maxContext, asked);
      asked ||= step.kind === 'wrap-up';
      return step;
    },
  };
}

/** What to do at so many percent; `asked` where the agent was told before. */
export function contextStep(
  percent: number | null,
  maxContext: number | undefined,
  asked: boolean,
): ContextStep {
  if (percent === null || maxContext === undefined || percent < maxContext) return goOn;
  if (percent >= maxContext + graceForWrapUp) {
    return { kind: 'end', because: `the context is ${Math.round(percent)} % full` };
  }
  return asked ? goOn : { kind: 'wrap-up', percent: Math.round(percent) };
}

/** Words that make Claude Code keep its record under a name that we know; nothing where it has a session already. */
export function sessionWords(env: Environment, worker: Worker, loop: LoopRecord): string[] {
  const session = sessionOf(env, worker, loop);
  return session === null ? [] : ['--session-id', session];
}

/** Whether anything tells how full the context of this command is. */
export function tellsContext(command: readonly string[]): boolean {
  const agent = agentNameOf(command[0] ?? '');
  const known = knowledge[agent];
  return agent === 'claude' || known?.context !== undefined || known?.contextLeft !== undefined;
}

function sessionOf(env: Environment, { name, cmd }: Worker, { launch, options }: LoopRecord): string | null {
  const wanted = options.maxContext !== undefined || options.restartOnCompact === true;
  const isOurs = agentNameOf(cmd[0] ?? '') === 'claude' && !cmd.some((word) => sessionFlags.includes(word));
  if (!wanted || !isOurs || options.run !== undefined) return null;
  const hash = createHash('sha256')
    .update(`${workerRunId(env, name)} ${launch}`)
    .digest('hex');
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `4${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join('-');
}

type Reading = { readonly percent: number | null; readonly compacted: boolean };

/** The record of the session is certain; the screen is what there is without one. */
function contextReader(
  env: Environment,
  agent: AgentName,
  session: string | null,
): (lines: readonly string[]) => Reading {
  let path: string | null = null;
  let tail: ReturnType<typeof tailLines> | null = null;
  let reading: Reading = { percent: null, compacted: false };
  return (lines) => {
    path ??= session === null ? null : claudeTranscript(env, session);
    if (path === null) {
      return { percent: contextOnScreen(agent, lines), compacted: compactsOnScreen(agent, lines) };
    }
    tail ??= tailLines(path);
    const { lines: added } = tail.read();
    if (added.length === 0) return reading;
    const compacted = reading.compacted || added.some((line) => compaction.test(line.toString('utf8')));
    reading = { percent: contextUse(path, env)?.use ?? null, compacted };
    return reading;
  };
}
