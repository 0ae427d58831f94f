import { type Argument, type CommandSpec, command } from '../kernel/spec.ts';
import { noOptions } from '../ralph/options.ts';
import * as options from './options.ts';

const worker: Argument = { name: 'NAME', help: 'the worker' };
const spawnExample = 'swarm ralph spawn --name a --prompt-file PROMPT.md --max-iterations 20 -- claude';

type Loops = typeof import('./ralph.ts');

/** A command about one loop; the example is the command itself, and what it does. */
function onLoop(
  summary: string,
  example: readonly [command: string, meaning: string],
  pick: (loops: Loops) => Loops['mainPause' | 'mainRun'],
): CommandSpec<typeof options.clusterOptions> {
  const load = async () => ({ main: pick(await import('./ralph.ts')) });
  return { summary, args: [worker], options: options.clusterOptions, examples: [example], load };
}

/** `swarm ralph` */
export const loopCommands = {
  'ralph spawn': command({
    summary: 'Start a loop: the same as swarm spawn --ralph.',
    args: [{ name: 'COMMAND', help: 'after --, the command and its words', many: true }],
    options: options.ralphSpawnOptions,
    examples: [[spawnExample, 'claude is started anew 20 times at most']],
    load: async () => ({ main: (await import('./spawn.ts')).mainRalph }),
  }),
  'ralph pause': onLoop(
    'Pause a loop: its agent goes on, and is not started again.',
    ['swarm ralph pause agent', 'until swarm ralph resume'],
    (loops) => loops.mainPause,
  ),
  'ralph resume': onLoop(
    'Go on with a paused loop where it was.',
    ['swarm ralph resume agent', 'the count goes on'],
    (loops) => loops.mainResume,
  ),
  'ralph status': onLoop(
    'Show how far a loop is.',
    ['swarm ralph status agent', 'iteration, failures, settings'],
    (loops) => loops.mainStatus,
  ),
  'ralph stop': onLoop(
    'End a loop and its agent.',
    ['swarm ralph stop agent', 'for good'],
    (loops) => loops.mainStop,
  ),
  'ralph run': onLoop(
    'Follow a loop until it ends; the exit code is that of ralph run.',
    ['swarm ralph run agent', 'starts it where it was spawned with --no-run'],
    (loops) => loops.mainRun,
  ),
  'ralph ls': command({
    summary: 'List the loops.',
    options: options.ralphLsOptions,
    examples: [['swarm ralph ls', 'each with its iteration and what it is doing']],
    load: async () => ({ main: (await import('./ralph.ts')).mainLs }),
  }),
  'ralph logs': command({
    summary: 'Show the iterations of a loop.',
    args: [worker],
    options: options.ralphLogsOptions,
    examples: [['swarm ralph logs agent --live', 'and go on']],
    load: async () => ({ main: (await import('./ralph.ts')).mainLogs }),
  }),
  'ralph init': command({
    summary: 'Write a PROMPT.md to begin with.',
    options: options.ralphInitOptions,
    examples: [['swarm ralph init', 'in this folder']],
    load: async () => ({ main: (await import('./ralph.ts')).mainInit }),
  }),
  'ralph template': command({
    summary: 'Print that prompt.',
    options: noOptions,
    examples: [['swarm ralph template > BUILD.md', 'under another name']],
    load: async () => ({ main: (await import('./ralph.ts')).mainTemplate }),
  }),
};
