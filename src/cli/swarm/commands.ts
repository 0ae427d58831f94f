import { type Argument, type CommandSpec, command, type Options, type Program } from '../kernel/spec.ts';
import { start } from '../kernel/start.ts';
import { noOptions } from '../ralph/options.ts';
import { loopCommands } from './loop-commands.ts';
import * as options from './options.ts';

const words: Argument = { name: 'COMMAND', help: 'after --, the command and its words', many: true };
const worker: Argument = { name: 'NAME', help: 'the worker' };

function onWorker<const O extends Options>(spec: Omit<CommandSpec<O>, 'args'>): CommandSpec<O> {
  return { ...spec, args: [worker] };
}

export const swarm: Program = {
  name: 'swarm',
  summary: 'many agents and loops at once, in tmux or on many machines',
  errorStart: 'swarm: error:',
  groups: { ralph: 'loops: pause, resume, status, stop, ls, logs, init, template' },
  commands: {
    spawn: command({
      summary: 'Start a worker: any command, in a tmux window or in the background; with --ralph, a loop.',
      args: [words],
      options: options.spawnOptions,
      examples: [
        ['swarm spawn --name a --ralph --prompt-file PROMPT.md --max-iterations 20 -- claude', 'a loop'],
        ['swarm spawn --name b --tmux --worktree -- codex', 'an agent on a branch of its own'],
        ['swarm spawn --name c -- npm run dev', 'a process in the background, with log files'],
      ],
      load: () => import('./spawn.ts'),
    }),
    ls: command({
      summary: 'List the workers.',
      options: options.lsOptions,
      examples: [
        ['swarm ls', 'all of them'],
        ['swarm ls --format json --status running', 'for scripts'],
      ],
      load: () => import('./ls.ts'),
    }),
    dashboard: command({
      summary: 'Serve a local web page with all workers and their charts, live.',
      options: options.swarmDashboardOptions,
      examples: [['swarm dashboard --control', 'with buttons to pause, resume, stop and talk to them']],
      load: async () => ({ main: (await import('../ralph/dashboard.ts')).mainSwarm }),
    }),
    status: onWorker({
      summary: 'Tell whether a worker runs: exit code 0 running, 1 stopped, 2 not found.',
      options: options.clusterOptions,
      examples: [['swarm status agent', 'one line']],
      load: async () => ({ main: (await import('./why.ts')).status }),
    }),
    logs: onWorker({
      summary: "Show a worker's screen, or the log of one in the background.",
      options: options.logsOptions,
      examples: [
        ['swarm logs agent --follow', 'and go on'],
        ['swarm logs agent --history --lines 500', 'what has scrolled off, too'],
      ],
      load: () => import('./logs.ts'),
    }),
    peek: onWorker({
      summary: 'Show the last lines of a worker without attaching.',
      options: options.peekOptions,
      examples: [['swarm peek --all -n 5', 'five lines of each']],
      load: async () => ({ main: (await import('./logs.ts')).peek }),
    }),
    top: command({
      summary: 'Watch all loops, those that wait for you first; keys attach, log, pause, resume and kill.',
      options: options.topOptions,
      examples: [
        ['swarm top', 'until q'],
        ['swarm top --once', 'the table once, as plain text'],
      ],
      load: () => import('./top.ts'),
    }),
    why: onWorker({
      summary: 'Tell what a worker is doing, and what happened before: its timeline.',
      options: options.whyOptions,
      examples: [['swarm why agent', 'and the next command to type, where there is one']],
      load: () => import('./why.ts'),
    }),
    attach: onWorker({
      summary: "Go to a worker's window (Ctrl-B D comes back).",
      options: noOptions,
      examples: [['swarm attach agent', 'watch it and type into it']],
      load: async () => ({ main: (await import('./keys.ts')).mainAttach }),
    }),
    send: command({
      summary: 'Type a text into a worker and press Enter.',
      args: [worker, { name: 'TEXT', help: 'what to type' }],
      options: options.sendOptions,
      examples: [['swarm send agent "try the other way"', 'as if you had typed it']],
      load: async () => ({ main: (await import('./keys.ts')).mainSend }),
    }),
    interrupt: onWorker({
      summary: 'Press Ctrl-C in a worker.',
      options: options.allOptions,
      examples: [['swarm interrupt --all', 'in all of them']],
      load: async () => (await import('./keys.ts')).pressKey('C-c', 'interrupted'),
    }),
    eof: onWorker({
      summary: 'Press Ctrl-D in a worker.',
      options: noOptions,
      examples: [['swarm eof agent', 'the end of its input']],
      load: async () => (await import('./keys.ts')).pressKey('C-d', 'sent eof to'),
    }),
    wait: onWorker({
      summary: 'Wait until a worker has ended; of a loop, the exit code is that of ralph run.',
      options: options.waitOptions,
      examples: [
        ['swarm wait agent', 'exit code 0 if its loop is done'],
        ['swarm wait --all --timeout 2h', '0 if all are done, 1 if some still run then'],
      ],
      load: () => import('./wait.ts'),
    }),
    kill: onWorker({
      summary: 'End a worker and its loop. It stays on the list until it is cleaned.',
      options: options.killOptions,
      examples: [['swarm kill agent --rm-worktree', 'and its worktree, unless work would be lost']],
      load: async () => ({ main: (await import('./end.ts')).mainKill }),
    }),
    respawn: onWorker({
      summary: 'Start a worker anew, with all that it was spawned with.',
      options: options.respawnOptions,
      examples: [['swarm respawn agent', 'a loop begins at its first iteration']],
      load: () => import('./respawn.ts'),
    }),
    clean: onWorker({
      summary: 'Take stopped workers off the list, with their files.',
      options: options.cleanOptions,
      examples: [['swarm clean --all', 'worktrees that hold work are kept']],
      load: async () => ({ main: (await import('./end.ts')).mainClean }),
    }),
    supervise: command({
      summary: 'Drive the loops. Started by itself when it is needed, once for a machine.',
      options: noOptions,
      examples: [['swarm supervise', 'here in the foreground, where none runs']],
      load: () => import('./supervise.ts'),
    }),
    merge: onWorker({
      summary: "Merge the work of a worker's worktree into the branch of its repository.",
      options: noOptions,
      examples: [['swarm merge agent', 'a fast-forward or a merge commit; on conflicts nothing changes']],
      load: () => import('./merge.ts'),
    }),
    limits: command({
      summary: 'Show or set the limits over all loops.',
      options: options.limitsOptions,
      examples: [
        ['swarm limits', 'and which accounts are at their usage limit'],
        ['swarm limits --max-parallel 4', 'four iterations at the same time'],
      ],
      load: () => import('./limits.ts'),
    }),
    doctor: command({
      summary: 'Look for orphans, stale locks, missing worktrees and dead windows.',
      options: options.doctorOptions,
      examples: [
        ['swarm doctor', 'only tells; exit code 1 where something is wrong'],
        ['swarm doctor --fix', 'puts right what can be put right without losing work'],
      ],
      load: () => import('./doctor.ts'),
    }),
    worker: command({
      summary: 'Run loops of a cluster on this machine.',
      options: options.workerCommandOptions,
      examples: [
        ['swarm worker --cluster redis://store:6379 --slots 4', 'four loops at a time, each in a sandbox'],
        ['swarm worker --cluster redis://store:6379 --labels gpu,big', 'loops with these labels, too'],
      ],
      details:
        'The first SIGTERM or Ctrl-C lets the iterations come to their end and gives the loops back; a second one ends ' +
        'the agents at once. docs/cluster.md has the rest.',
      load: () => import('./worker.ts'),
    }),
    submit: command({
      summary: 'Hand a loop to a cluster: a machine that is free runs it, and pushes each iteration.',
      args: [words],
      options: options.submitOptions,
      examples: [
        [
          'swarm submit --cluster redis://store:6379 --name a --repo git@host:me/app.git --branch ralph/a --prompt-file PROMPT.md --max-iterations 20 -- claude',
          'any machine with swarm worker takes it',
        ],
      ],
      load: () => import('./submit.ts'),
    }),
    hosts: command({
      summary: 'List the machines of a cluster.',
      options: options.hostsOptions,
      examples: [['swarm hosts --cluster redis://store:6379', 'each with its labels and its loops']],
      load: async () => ({ main: (await import('./drain.ts')).mainHosts }),
    }),
    reconcile: onWorker({
      summary: 'Count the iterations of the loops of a cluster anew, by what is on their branches.',
      options: options.reconcileOptions,
      examples: [
        ['swarm reconcile', 'all loops that no machine runs just now'],
        ['swarm reconcile agent --lost', 'after the store was lost and the loop submitted again'],
      ],
      load: () => import('./reconcile.ts'),
    }),
    drain: command({
      summary: 'Let a machine of a cluster finish its iterations and take nothing new: its loops move.',
      args: [{ name: 'HOST', help: 'the machine' }],
      options: options.drainOptions,
      examples: [
        ['swarm drain laptop', 'before it is switched off'],
        ['swarm drain laptop --undo', 'it takes loops again'],
      ],
      load: () => import('./drain.ts'),
    }),
    ...loopCommands,
  },
  topics: {},
};

export function startSwarm(words: readonly string[]): Promise<void> {
  return start(swarm, words);
}
