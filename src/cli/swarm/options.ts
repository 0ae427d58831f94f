import type { Options } from '../kernel/spec.ts';
import { dashboardOptions, runOptions } from '../ralph/options.ts';

const all = { type: 'boolean', help: 'all workers' } as const;
const forceDirty = { type: 'boolean', help: 'remove the worktree even if its work is nowhere else' } as const;

export const clusterOptions = {
  cluster: {
    type: 'string',
    value: 'URL',
    help: 'the cluster there: redis:// or rediss:// (SWARM_CLUSTER), or local',
  },
} as const satisfies Options;

const workerOptions = {
  name: { type: 'string', value: 'NAME', help: 'what the worker is called; no two have the same name' },
  tmux: { type: 'boolean', help: 'in a tmux window (a loop always is)' },
  session: { type: 'string', value: 'NAME', help: 'the tmux session (one for each SWARM_HOME)' },
  'tmux-socket': { type: 'string', value: 'NAME', help: 'another tmux server, as tmux -L NAME' },
  worktree: { type: 'boolean', negatable: true, help: 'in a git worktree of its own' },
  branch: { type: 'string', help: 'the branch of the worktree (the name of the worker)' },
  'worktree-dir': { type: 'string', value: 'DIR', help: 'where worktrees go (REPOSITORY-worktrees)' },
  tag: { type: 'strings', help: 'a tag, to find it with ls --tag; may be given several times' },
  env: { type: 'strings', value: 'K=V', help: 'a variable for the command; may be given several times' },
  cwd: { type: 'string', value: 'DIR', help: 'where the command runs (here)' },
  'ready-wait': { type: 'boolean', help: 'come back when the agent is ready for input' },
  'ready-timeout': { type: 'duration', help: 'wait that long for it (120)' },
} as const satisfies Options;

/** Any of these makes each iteration one of `ralph run`. */
export const supervisedRunOptions = {
  run: { type: 'boolean', help: 'each iteration is one of ralph run, with verdicts, budgets and a journal' },
  'completion-promise': runOptions['completion-promise'],
  'completion-response': runOptions['completion-response'],
  acp: runOptions.acp,
  verify: runOptions.verify,
  permissions: runOptions.permissions,
  sandbox: runOptions.sandbox,
  'max-time': runOptions['max-time'],
  'max-cost': runOptions['max-cost'],
  'max-tokens': runOptions['max-tokens'],
} as const satisfies Options;

const loopOptions = {
  'prompt-file': { type: 'string', value: 'FILE', help: 'the prompt, read anew for each iteration' },
  'max-iterations': { type: 'count', help: 'stop after N iterations' },
  'inactivity-timeout': {
    type: 'duration',
    help: 'restart an agent whose screen stays the same so long (60)',
  },
  'done-pattern': { type: 'string', value: 'REGEX', help: 'what the agent prints when all is done' },
  'check-done-continuous': { type: 'boolean', help: 'end the agent at the first match of the pattern' },
  'no-run': { type: 'boolean', help: 'start the agent, but not the loop: swarm ralph run NAME does that' },
  replace: { type: 'boolean', help: 'end and remove a worker that has the name already' },
  'max-parallel': { type: 'count', help: 'from now on, at most N loops of this machine have an agent' },
  account: { type: 'string', value: 'NAME', help: 'loops of one account wait together at a usage limit' },
  'max-context': {
    type: 'count',
    help: 'tell the agent to wrap up at N % of its context, restart it at N+15 %',
  },
  'restart-on-compact': { type: 'boolean', help: 'start it anew when it has compacted its context' },
  ...supervisedRunOptions,
  trust: runOptions.trust,
  wait: { type: 'boolean', help: 'stay until the loop ends, and end with its exit code, as ralph run does' },
} as const satisfies Options;

export const spawnOptions = {
  ...workerOptions,
  ralph: { type: 'boolean', help: 'a loop: start the agent again and again' },
  ...loopOptions,
} as const satisfies Options;

export const ralphSpawnOptions = { ...workerOptions, ...loopOptions } as const satisfies Options;

/** As for a loop of this machine, and where any machine finds the work. */
export const submitOptions = {
  ...clusterOptions,
  name: workerOptions.name,
  repo: { type: 'string', value: 'GIT_URL', help: 'the repository, as every machine can reach it' },
  branch: { type: 'string', help: 'where the iterations are pushed to; made where it does not exist' },
  base: { type: 'string', value: 'BRANCH', help: 'what a new branch starts from (the default branch)' },
  label: { type: 'strings', help: 'only machines with this label run it; may be given several times' },
  tag: workerOptions.tag,
  env: {
    type: 'strings',
    value: 'K[=V]',
    help: 'a variable for the command; without V, that of the machine that runs it (for secrets)',
  },
  cwd: { type: 'string', value: 'DIR', help: 'a folder inside the repository where the command runs' },
  'prompt-file': { type: 'string', value: 'FILE', help: 'the prompt; its text is handed in now' },
  'max-iterations': loopOptions['max-iterations'],
  'inactivity-timeout': { type: 'duration', help: 'restart the agent when it prints nothing so long (60)' },
  'done-pattern': loopOptions['done-pattern'],
  'check-done-continuous': loopOptions['check-done-continuous'],
  replace: { type: 'boolean', help: 'end a loop that has the name already' },
  account: loopOptions.account,
  ...supervisedRunOptions,
  wait: loopOptions.wait,
} as const satisfies Options;

export const drainOptions = {
  all: { type: 'boolean', help: 'all machines' },
  undo: { type: 'boolean', help: 'let it take loops again' },
  ...clusterOptions,
} as const satisfies Options;

export const reconcileOptions = {
  lost: { type: 'boolean', help: 'the store was lost: count iterations before the last submit, too' },
  ...clusterOptions,
} as const satisfies Options;

export const hostsOptions = {
  format: { type: 'string', choices: ['table', 'json'], help: 'how to print them (table)' },
  ...clusterOptions,
} as const satisfies Options;

export const lsOptions = {
  format: { type: 'string', choices: ['table', 'json', 'names'], help: 'how to print them (table)' },
  status: { type: 'string', choices: ['running', 'stopped', 'all'], help: 'only these (all)' },
  tag: { type: 'string', help: 'only workers with this tag' },
  ...clusterOptions,
} as const satisfies Options;

export const logsOptions = {
  follow: { type: 'boolean', short: 'f', help: 'go on until Ctrl-C' },
  history: { type: 'boolean', help: 'what has scrolled off, too; of a cluster, all that its machines have' },
  lines: { type: 'count', short: 'n', help: 'so many lines of it (1000)' },
  ...clusterOptions,
} as const satisfies Options;

export const peekOptions = {
  lines: { type: 'count', short: 'n', help: 'so many lines (30)' },
  all,
} as const satisfies Options;

export const sendOptions = {
  all,
  'no-enter': { type: 'boolean', help: 'do not press Enter after it' },
  raw: { type: 'boolean', help: 'type only: do not clear what stands in the input line' },
} as const satisfies Options;

export const allOptions = { all } as const satisfies Options;

export const killOptions = {
  all,
  'rm-worktree': { type: 'boolean', help: 'remove its worktree, if all work in it is merged or pushed' },
  'force-dirty': forceDirty,
  ...clusterOptions,
} as const satisfies Options;

export const waitOptions = {
  all,
  timeout: { type: 'duration', help: 'give up after that time, with exit code 1' },
  ...clusterOptions,
} as const satisfies Options;

export const respawnOptions = {
  'clean-first': { type: 'boolean', help: 'make its worktree anew' },
  'force-dirty': forceDirty,
} as const satisfies Options;

export const cleanOptions = {
  all,
  'rm-worktree': { type: 'boolean', negatable: true, help: 'remove its worktree too (yes)' },
  'force-dirty': forceDirty,
  ...clusterOptions,
} as const satisfies Options;

export const ralphInitOptions = {
  force: { type: 'boolean', help: 'overwrite the PROMPT.md that is there' },
} as const satisfies Options;

export const ralphLsOptions = {
  format: lsOptions.format,
  status: {
    type: 'string',
    choices: ['all', 'running', 'paused', 'stopped', 'failed'],
    help: 'only these (all)',
  },
  ...clusterOptions,
} as const satisfies Options;

export const ralphLogsOptions = {
  live: { type: 'boolean', aliases: ['follow'], help: 'go on until Ctrl-C' },
  lines: { type: 'count', short: 'n', help: 'the last N lines (all)' },
  ...clusterOptions,
} as const satisfies Options;

export const whyOptions = {
  lines: { type: 'count', short: 'n', help: 'the last N entries (50)' },
  format: { type: 'string', choices: ['text', 'json'], help: 'how to print it (text)' },
  ...clusterOptions,
} as const satisfies Options;

export const limitsOptions = {
  'max-parallel': { type: 'count', help: 'so many iterations at the same time, over all loops' },
  unlimited: { type: 'boolean', help: 'take these limits away' },
  'starts-per-minute': { type: 'count', help: 'so many iterations begin in a minute, over a cluster' },
  'max-cost': { type: 'number', value: 'USD', help: 'what all loops of the cluster may cost from now on' },
  release: { type: 'string', value: 'ACCOUNT', help: 'do not wait for the usage limit of this account' },
  ...clusterOptions,
} as const satisfies Options;

export const doctorOptions = {
  fix: { type: 'boolean', help: 'put right what can be put right without losing work' },
} as const satisfies Options;

export const swarmDashboardOptions = { ...dashboardOptions, ...clusterOptions } as const satisfies Options;

export const topOptions = {
  once: { type: 'boolean', help: 'print the table once and end, as without a terminal' },
  ...clusterOptions,
} as const satisfies Options;

export const workerCommandOptions = {
  ...clusterOptions,
  slots: { type: 'count', help: 'loops at the same time (1)' },
  labels: { type: 'strings', value: 'A,B', help: 'labels of this machine, for loops that ask for them' },
  host: { type: 'string', value: 'NAME', help: 'what this machine is called (its host name)' },
  dir: { type: 'string', value: 'DIR', help: 'where clones, worktrees and records go (~/.swarm/cluster)' },
  sandbox: { ...runOptions.sandbox, help: 'what keeps the agents away from the rest of the machine (auto)' },
  'allow-host': runOptions['allow-host'],
} as const satisfies Options;
