import { agentNameOf, agents } from '../../agents/registry.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { lookAtWorker } from '../../fleet/live.ts';
import { isReady } from '../../fleet/screen/classify.ts';
import { systemClock } from '../../os/clock.ts';
import { tmuxServer } from '../../os/terminal/tmux.ts';
import type { Context } from '../kernel/spec.ts';
import { warn } from './context.ts';

const lookMs = 250;
/** An input prompt anywhere on the screen. */
const inputPrompt = /^\s*[>❯›$] /m;
/** The prompt may have scrolled off meanwhile. */
const historyLines = 200;

/** Waits until the agent in the window takes input. After the time-out it only warns: the worker exists anyway. */
export async function waitUntilReady(context: Context, worker: Worker, timeoutMs: number): Promise<void> {
  if (worker.tmux === null) return;
  const tmux = tmuxServer(worker.tmux.socket, context.env);
  const agent = agentNameOf(worker.cmd[0] ?? '');
  const deadline = systemClock.monotonic() + timeoutMs;
  while (systemClock.monotonic() < deadline) {
    const { pane } = await lookAtWorker(context.env, worker);
    if (pane === null) return;
    const lines = await tmux.capture(pane.id, historyLines);
    if (isReady(agent, lines) || (agent === 'custom' && showsAgent(lines.join('\n')))) return;
    await systemClock.sleep(Math.min(lookMs, Math.max(1, deadline - systemClock.monotonic())));
  }
  const seconds = Math.round(timeoutMs / 1000);
  warn(context, `agent '${worker.name}' did not become ready within ${seconds}s`);
}

/** True if a program that we do not know shows the banner of an agent that it wraps, or an input prompt. */
function showsAgent(screen: string): boolean {
  return (
    inputPrompt.test(screen) || Object.values(agents).some((agent) => agent.screen?.banner?.test(screen))
  );
}
