import { resolve } from 'node:path';
import { agentNameOf, agents } from '../../agents/registry.ts';
import { messageOf } from '../../core/error.ts';
import { compilePattern } from '../../core/pattern.ts';
import { tellsContext } from '../../fleet/context.ts';
import { setMaxParallel } from '../../fleet/files/limits.ts';
import type { NewLoop } from '../../fleet/files/loop-record.ts';
import type { LoopOptions } from '../../fleet/files/loops.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { accountOf } from '../../fleet/limits.ts';
import { lookAtWorker } from '../../fleet/live.ts';
import { isReady } from '../../fleet/screen/classify.ts';
import { type SpawnOrder, spawnWorker } from '../../fleet/spawn.ts';
import { readPrompt } from '../../fleet/start-iteration.ts';
import { ensureSupervisor } from '../../fleet/supervisor-start.ts';
import { systemClock } from '../../os/clock.ts';
import { isFolder } from '../../os/files/files.ts';
import { tmuxServer } from '../../os/terminal/tmux.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { requireTrust } from '../ralph/trust.ts';
import { fault, placeText, warn } from './context.ts';
import { type ralphSpawnOptions, type spawnOptions, supervisedRunOptions } from './options.ts';
import { followLoop } from './wait.ts';

type SpawnInput = Input<typeof spawnOptions>;
type Values = SpawnInput['values'];
type LoopValues = Omit<Values, 'tmux' | 'session' | 'tmux-socket' | 'worktree' | 'worktree-dir'>;

export async function main(context: Context, input: SpawnInput): Promise<number> {
  const order = await withTrust(context, orderOf(context, input), input.values.trust);
  if (input.values['max-parallel'] !== undefined) setMaxParallel(context.env, input.values['max-parallel']);
  const worker = await spawnWorker(context.env, order, systemClock, (text) => warn(context, text));
  if (order.loop !== null && !order.loop.held) await ensureSupervisor(context.env, programCommand('swarm'));
  if (input.values['ready-wait'])
    await waitUntilReady(context, worker, input.values['ready-timeout'] ?? 120_000);
  context.stdout.write(`spawned ${worker.name} (${placeText(worker)})${loopText(order, worker)}\n`);
  return input.values.wait && order.loop !== null ? followLoop(context, worker.name) : 0;
}

/** Asks about what came with the folder of a loop. Trust for this time goes on to the iterations. */
async function withTrust(context: Context, order: SpawnOrder, given?: boolean): Promise<SpawnOrder> {
  const { loop, cwd } = order;
  if (loop === null) return order;
  const { strangers } = await requireTrust({ ...context, cwd }, { trust: given });
  const isGiven = given === true || context.env.RALPH_TRUST === '1';
  if (!isGiven || strangers.length === 0 || loop.options.run === undefined) return order;
  return { ...order, loop: { ...loop, options: { ...loop.options, run: [...loop.options.run, '--trust'] } } };
}

/** `swarm ralph spawn`: the same for a loop. */
export function mainRalph(context: Context, input: Input<typeof ralphSpawnOptions>): Promise<number> {
  return main(context, { ...input, values: { ...input.values, ralph: true } });
}

function orderOf(context: Context, { values, args }: SpawnInput): SpawnOrder {
  const cmd = args[0] === '--' ? args.slice(1) : args;
  if (cmd.length === 0) throw fault('no command provided (use -- command...)');
  const cwd = resolve(context.cwd, values.cwd ?? '.');
  if (values.cwd !== undefined && !isFolder(cwd)) throw fault(`there is no folder ${cwd}`);
  const loop = values.ralph ? loopOf(context, values, cmd) : null;
  if (values.name === undefined) throw fault('--name is required', 'swarm spawn --name NAME -- command');
  const { branch, 'tmux-socket': socket, 'worktree-dir': dir } = values;
  const variables = variablesOf(values.env ?? []);
  // As tmux itself does with a name that it could not find again.
  const session = values.session?.replace(/[.:]/g, '_');
  return {
    name: values.name,
    cmd,
    cwd,
    env: variables,
    tags: values.tag ?? [],
    tmux: values.tmux || loop !== null ? { session, socket } : null,
    worktree: values.worktree ? { branch, dir: dir && resolve(context.cwd, dir) } : null,
    loop: loop && withAccount(context, loop, cmd, variables),
    replace: values.replace === true,
  };
}

/** Sets the account of a loop by the variables that its agent gets. */
function withAccount(
  { env }: Context,
  loop: NewLoop,
  cmd: readonly string[],
  variables: Readonly<Record<string, string>>,
): NewLoop {
  const own = agents[agentNameOf(cmd[0] ?? '')].accountVariables.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const account = accountOf(cmd, { ...Object.fromEntries(own), ...variables }, loop.options.account);
  return account === null ? loop : { ...loop, options: { ...loop.options, account } };
}

/** Checks the options of a loop, and returns what it has to do. */
export function loopOf(context: Context, values: LoopValues, cmd: readonly string[]): NewLoop {
  const { 'prompt-file': path, 'max-iterations': max } = values;
  if (path === undefined) throw fault('--ralph requires --prompt-file');
  if (max === undefined) throw fault('--ralph requires --max-iterations');
  const file = resolve(context.cwd, path);
  const prompt = readPrompt(file);
  if ('problem' in prompt) throw fault(prompt.problem.replace(file, path));
  const pattern = values['done-pattern'] ?? null;
  if (pattern !== null) checkPattern(pattern);
  if (max > 50) warn(context, 'high iteration count (>50) may consume significant resources');
  const timeout = values['inactivity-timeout'] ?? 60_000;
  if (timeout === 0) throw fault('--inactivity-timeout takes a time of one second or more');
  return {
    settings: {
      prompt_file: file,
      max_iterations: max,
      done_pattern: pattern,
      inactivity_timeout: Math.max(1, Math.round(timeout / 1000)),
    },
    options: {
      ...(values.account === undefined ? {} : { account: values.account }),
      ...(values['check-done-continuous'] ? { checkDoneContinuous: true } : {}),
      ...contextOf(context, values, cmd),
      ...supervisedRunOf(values, cmd),
    },
    held: values['no-run'] === true,
  };
}

function checkPattern(pattern: string): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    throw fault(messageOf(error), 'swarm help spawn');
  }
}

function contextOf(context: Context, values: LoopValues, cmd: readonly string[]): LoopOptions {
  const { 'max-context': maxContext, 'restart-on-compact': restartOnCompact } = values;
  if (maxContext !== undefined && (maxContext < 1 || maxContext > 99)) {
    throw fault('--max-context takes a share of the context in percent, from 1 to 99');
  }
  const isUsed = maxContext !== undefined || restartOnCompact === true;
  if (isUsed && !tellsContext(cmd)) warn(context, `nothing tells how full the context of ${cmd[0]} is`);
  return {
    ...(maxContext === undefined ? {} : { maxContext }),
    ...(restartOnCompact ? { restartOnCompact } : {}),
  };
}

/** The options of `ralph run` as its command line takes them; empty if none is given. */
function supervisedRunOf(values: LoopValues, cmd: readonly string[]): LoopOptions {
  const { run: _, ...runOptions } = supervisedRunOptions;
  const words = Object.keys(runOptions).flatMap((name) => {
    const value = values[name as keyof typeof runOptions];
    const unit = name === 'max-time' ? 'ms' : '';
    const all = Array.isArray(value) ? value : value === undefined ? [] : [value];
    return all.map((one) => (one === '' ? `--${name}` : `--${name}=${one}${unit}`));
  });
  if (!values.run && words.length === 0) return {};
  const [program = ''] = cmd;
  if (agentNameOf(program) === 'custom' && values.acp === undefined) {
    throw fault(
      `${program} is no agent that ralph run knows and could check`,
      'leave out --run, or add --acp',
    );
  }
  refuseContinuous(values);
  const pattern = values['done-pattern'] === undefined ? [] : [`--done-pattern=${values['done-pattern']}`];
  return { engine: programCommand('ralph'), run: [...words, ...pattern] };
}

/** `ralph run` reads a turn after its end: there is no screen to watch. */
export function refuseContinuous(values: Pick<LoopValues, 'check-done-continuous'>): void {
  if (!values['check-done-continuous']) return;
  throw fault(
    '--check-done-continuous watches the screen of an agent, and ralph run has none: it reads each turn when it is over',
    'leave it out',
  );
}

function variablesOf(words: readonly string[]): Record<string, string> {
  const entries = words.map((text) => {
    const equals = text.indexOf('=');
    if (equals < 1) throw fault(`invalid env format '${text}' (expected KEY=VAL)`);
    return [text.slice(0, equals), text.slice(equals + 1)] as const;
  });
  return Object.fromEntries(entries);
}

function loopText({ loop }: SpawnOrder, { metadata }: Worker): string {
  if (loop === null) return '';
  return ` [ralph mode: iteration ${metadata.ralph_iteration}/${loop.settings.max_iterations}]`;
}

const lookMs = 250;
const inputPrompt = /^\s*[>❯›$] /m;
/** The prompt may have scrolled off meanwhile. */
const historyLines = 200;

/** Waits until the agent in the window takes input. After the time-out it only warns: the worker exists anyway. */
async function waitUntilReady(context: Context, worker: Worker, timeoutMs: number): Promise<void> {
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
