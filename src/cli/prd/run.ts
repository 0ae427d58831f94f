import { relative } from 'node:path';
import { agentNameOf, agents } from '../../agents/registry.ts';
import { runPaths } from '../../config/paths.ts';
import type { CliSetting } from '../../config/settings.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import { isRalphError, messageOf, RalphError } from '../../core/error.ts';
import { problemLine } from '../../core/review/check.ts';
import { dependencyProblems } from '../../core/review/dependencies.ts';
import { isComplete } from '../../core/review/mode.ts';
import { defaultReviewRules, type ReviewRules, type TaskList } from '../../core/review/story.ts';
import { quoteWord } from '../../core/words.ts';
import { settleLastRun } from '../../drive/prd/last-run.ts';
import { keepLogs } from '../../drive/prd/log.ts';
import {
  approvedOutside,
  keepMemory,
  memoryOf,
  outsideWarning,
  type PrdMemory,
  readMemory,
  remembered,
} from '../../drive/prd/memory.ts';
import { checkStart, openTasks, prdPlace, refuseSecondLoop } from '../../drive/prd/open.ts';
import { type PrdLoopOptions, prdFolder, prdLoop, prdRepository } from '../../drive/prd/prd-loop.ts';
import { budgetLine, closingSummary } from '../../drive/prd/summary.ts';
import type { PrdPaths } from '../../drive/prd/tasks.ts';
import { readValidTasks } from '../../drive/prd/turn-check.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { PreparedRun } from '../ralph/prepare-run.ts';
import { hasStopHook } from '../ralph/run-guard.ts';
import type { prdRunOptions } from './options.ts';

type Values = Input<typeof prdRunOptions>['values'];

const defaultMaxIterations = 15;
const token = 'COMPLETE';
/** Sandboxes that copy files between their machine and ours, a moment late. */
const syncing: readonly string[] = ['docker-sandbox', 'sbx'];
const syncMs = 2500;

/** Works off the stories of a PRD, one iteration and one fresh agent at a time. */
export async function main(shell: Context, { values }: Input<typeof prdRunOptions>): Promise<number> {
  const { projectDir, paths } = prdPlace(shell.cwd, values);
  const context = { ...shell, cwd: projectDir };
  const rules: ReviewRules = {
    skipReview: values['skip-review'] ?? defaultReviewRules.skipReview,
    reviewCap: values['review-cap'] ?? defaultReviewRules.reviewCap,
  };
  const maxIterations = values['max-iterations'] ?? defaultMaxIterations;
  refuseSecondLoop(projectDir);
  const changes = await settleLastRun({ projectDir, paths }, systemClock, context.env);
  for (const line of changes) warn(context, line);
  const opened = openTasks(paths);
  checkStart(opened.tasks, rules, paths);
  const memory = recall(context, paths, opened.tasks, rules);
  if (isComplete(opened.tasks, rules)) {
    if (!values.json) context.stdout.write('Every story is done already. Next: ralph prd archive\n');
    return 0;
  }
  const { startRun } = await import('../ralph/run.ts');
  const plan = { projectDir, paths, rules, maxIterations, memory };
  let figures = { iterations: 0, ms: 0 };
  let missing: string | null = null;
  const lastLines: string[] = [];
  return startRun(
    context,
    { values: runValues(values, paths.prompt, maxIterations), args: [] },
    {
      questions: paths.root,
      hooks: ['stop', 'context'],
      ...(values['project-dir'] === undefined ? {} : { typedIn: shell.cwd }),
      async settings(below) {
        const sandbox = await sandboxSettings(context, below, values);
        missing = sandbox.missing;
        return [...sandbox.cli, ...settingsFor(below, values)];
      },
      shape(prepared, gitTop) {
        const loop = {
          ...plan,
          gitTop,
          remember: (now: PrdMemory) => keepMemory(context.env, paths.tasks, now),
          tellAtEnd: (line: string) => void lastLines.push(line),
        };
        const intro = [budgetLine(opened.tasks, rules, maxIterations), ...stopLines(prepared, context)];
        const run = { ...shaped(prepared, loop, opened), intro };
        if (missing === null) return run;
        const { name } = prepared.agent.adapter;
        return { ...run, sandboxWarning: `${name} runs without a sandbox: ${missing}` };
      },
      closing() {
        const tasks = readValidTasks(paths)?.tasks;
        return [...(tasks ? closingSummary(tasks, figures) : []), ...lastLines.slice(-1)];
      },
      observe(redactor, id) {
        const logs = keepLogs(id, paths, redactor, (line) => warn(context, line));
        return {
          agent: logs.agent,
          journal(event) {
            if (event.type === 'run.ended') figures = event;
            logs.journal(event);
          },
        };
      },
    },
  );
}

/** Returns what loops remember of this list. Warns of stories that were approved without a loop. */
function recall(context: Context, paths: PrdPaths, tasks: TaskList, rules: ReviewRules): PrdMemory {
  const stored = memoryOf(readMemory(context.env, paths.tasks), tasks);
  const warning = rules.skipReview ? null : outsideWarning(stored, tasks);
  if (warning !== null) warn(context, warning);
  const since = stored === null ? systemClock.now() : stored.since;
  return remembered(stored, tasks, approvedOutside(stored, tasks), since);
}

function shaped(
  prepared: PreparedRun,
  loop: Omit<PrdLoopOptions, 'mode' | 'rejectedFolder' | 'agentCommits' | 'now' | 'settle'>,
  opened: ReturnType<typeof openTasks>,
): PreparedRun {
  const { sandbox, settings } = prepared;
  const { projectDir, paths } = loop;
  const options: PrdLoopOptions = {
    ...loop,
    mode: sandbox === null ? 'direct' : 'sandbox',
    rejectedFolder: runPaths(projectDir, prepared.run).iterations,
    agentCommits: !settings.scm?.tasks.length,
    now: systemClock.now(),
    ...(sandbox && syncing.includes(sandbox) ? { settle: () => systemClock.sleep(syncMs) } : {}),
  };
  return {
    ...prepared,
    plan: {
      ...prepared.plan,
      // Only iterations without a new commit are stuck, whatever the agent says or uses.
      limits: { ...prepared.plan.limits, withoutTools: 0, sameError: 0 },
      completion: {
        promise: { token, match: settings.promiseMatch },
        tasks: relative(projectDir, paths.tasks),
      },
      retryEmpty: true,
    },
    kind: prdLoop(options, opened),
    warnings: [...prepared.warnings, ...dependencyProblems(opened.tasks).map(problemLine)],
  };
}

function warn({ stderr }: Context, line: string): void {
  stderr.write(`warning: ${cleanTerminal(line)}\n`);
}

/** The options of a plain run that a PRD has, too. */
function runValues(values: Values, promptFile: string, maxIterations: number) {
  const {
    'max-iterations': _n,
    'ralph-dir': _r,
    'project-dir': _d,
    model: _m,
    'skip-review': _s,
    'review-cap': _c,
    ...shared
  } = values;
  return {
    ...shared,
    'prompt-file': promptFile,
    'maximum-iterations': maxIterations,
    'completion-promise': token,
    // The task list is the evidence here.
    'min-tool-calls': 0,
  };
}

/** Chooses the sandbox that there is, unless somebody has decided; `missing` says why there is none. */
async function sandboxSettings(
  { cwd, env }: Context,
  { sandbox, sandboxImage }: ResolvedSettings,
  values: Values,
): Promise<{ readonly cli: readonly CliSetting[]; readonly missing: string | null }> {
  if ((values.sandbox ?? sandbox) !== undefined) return { cli: [], missing: null };
  const { chooseProvider } = await import('../../sandbox/open-sandbox.ts');
  const image = sandboxImage === undefined ? {} : { image: sandboxImage };
  try {
    const value = await chooseProvider('auto', { cwd, env, ...image }, '');
    return { cli: [{ key: 'sandbox', value, flag: '--sandbox' }], missing: null };
  } catch (error) {
    if (!isRalphError(error)) throw error;
    const remedy = `${error.remedy}; or --no-sandbox, if that is what you want`;
    return { cli: [], missing: `${messageOf(error)}. Try: ${remedy}` };
  }
}

/** Says where an agent's stops are not checked, because it cannot be given hooks. */
function stopLines({ agent: { adapter, guard } }: PreparedRun, place: Context): string[] {
  if (guard.checksStops || hasStopHook(adapter.name, place)) return [];
  const way =
    agents[agentNameOf(adapter.name)].hooks === null ? '' : `; ralph install ${adapter.name} adds them`;
  return [`${adapter.name}: no checks at its stops, only after each turn${way}`];
}

/** Without settings the agent is Claude, which may do everything: it has to run checks and to commit. */
function settingsFor({ agent, sandboxEnv }: ResolvedSettings, values: Values): CliSetting[] {
  const command = values.agent ?? agent.command ?? 'claude';
  const isAgentSet = (values.agent ?? agent.command) !== undefined;
  const isModeSet = (values.permissions ?? agent.permissions) !== undefined;
  const variables = [...sandboxEnv, prdFolder, prdRepository];
  const flags = values.model === undefined ? [] : modelFlags(command, values.model);
  const cli: (CliSetting | false)[] = [
    { key: 'sandboxEnv', value: variables, flag: '--ralph-dir' },
    !isAgentSet && { key: 'agent.command', value: command, flag: '--agent' },
    !isModeSet && { key: 'agent.permissions', value: 'full', flag: '--permissions' },
    flags.length > 0 && {
      key: 'agent.flags',
      value: [...agent.flags, ...flags].map(quoteWord),
      flag: '--model',
    },
  ];
  return cli.filter((setting) => setting !== false);
}

function modelFlags(command: string, model: string): string[] {
  const { modelOption } = agents[agentNameOf(command)];
  if (modelOption !== null) return [modelOption, model];
  throw new RalphError('no-model', `${command} does not take a model on its command line`, {
    remedy: 'leave out --model, and choose the model in the settings of the agent',
  });
}
