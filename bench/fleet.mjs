// What a fleet costs: its commands against the start of Node, and its supervisor by the CPU and memory that it takes.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compare, interleave } from './support/measure.mjs';
import { clockProblem, time } from './support/room.mjs';

const node = process.execPath;
const swarm = fileURLToPath(new URL('../dist/swarm.cjs', import.meta.url));
const loops = 1000;
const workers = 200;
const watchMs = 20_000;
/** A screen counts as idle after ten seconds; the memory of a start is tidied up by then, too. */
const settleMs = 15_000;

export function problem() {
  if (process.platform !== 'linux') return 'reads /proc';
  if (spawnSync('tmux', ['-V']).status !== 0) return 'needs tmux';
  if (spawnSync('perl', ['-e', '1']).status !== 0) return 'needs perl, for agents that cost nothing';
  return clockProblem();
}

export async function run(room, { rounds = 21 }) {
  return [
    ...(await commands(room, rounds)),
    ...(await supervisor(room, 'alone')),
    ...(await supervisor(room, 'idle')),
    ...(await supervisor(room, 'busy')),
  ];
}

/** `swarm ls` and `status` with 1,000 running loops on the list. */
async function commands(room, rounds) {
  const place = fleetIn(room, 'many');
  writeLoops(room, place, loops, 'silent');
  // We are the supervisor, so that the commands start none.
  const identity = { pid: process.pid, startedAt: startOf(process.pid) };
  writeFileSync(
    join(place.home, 'supervisor.lock'),
    JSON.stringify({ ...identity, token: 'bench', info: {} }),
  );
  tmux(place, 'new-session', '-d', '-s', 'bench', 'sleep 600');
  const empty = room.write('empty.cjs', '');
  const inFleet = { ...room, env: { ...room.env, ...place.env } };
  const timed = (argv) => () => time(inFleet, argv);
  try {
    const samples = await interleave(
      {
        'node empty.cjs': timed([node, empty]),
        [`swarm ls, ${loops} loops`]: timed([node, swarm, 'ls']),
        [`swarm status, ${loops} loops`]: timed([node, swarm, 'status', 'w1']),
      },
      { rounds, warmups: 3 },
    );
    const { 'node empty.cjs': floor, ...ours } = samples;
    const shared = { unit: 'ms', floor, against: 'node empty.cjs', budget: { of: 'ratio', atMost: 2.2 } };
    return Object.entries(ours).map(([name, figures]) => compare(name, { ...shared, ours: figures }));
  } finally {
    tmux(place, 'kill-server');
  }
}

/** The supervisor of 200 animated windows, of 200 that stand still, or of one that does. */
async function supervisor(room, kind) {
  const place = fleetIn(room, kind);
  const count = kind === 'alone' ? 1 : workers;
  writeLoops(room, place, count, kind === 'busy' ? 'mixed' : 'silent');
  const child = spawn(node, [swarm, 'supervise'], {
    env: { ...room.env, ...place.env },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const stop = () => {
    child.kill('SIGKILL');
    tmux(place, 'kill-server');
  };
  process.prependOnceListener('exit', stop);
  try {
    const deadline = Date.now() + 180_000;
    while (started(place) < count) {
      if (Date.now() > deadline) throw new Error(`only ${started(place)} of ${count} loops were started`);
      await sleep(200);
    }
    await sleep(settleMs);
    const before = cpuMs(child.pid);
    const from = performance.now();
    await sleep(watchMs);
    const perSecond = (cpuMs(child.pid) - before) / ((performance.now() - from) / 1000);
    if (kind === 'alone') {
      const budget = { of: 'ours', atMost: 20 };
      const shared = { unit: 'ms', floor: [60_000], against: 'a minute', budget };
      return [compare('idle loop, CPU per minute', { ...shared, ours: [perSecond * 60] })];
    }
    const rssMb =
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'latin1'))[1]) / 1024;
    const cpu = { unit: 'ms', floor: [1000], against: 'a second', budget: { of: 'ours', atMost: 10 } };
    const memory = { unit: 'MB', floor: [50], against: 'Node', budget: { of: 'ours', atMost: 150 } };
    return [
      compare(`supervisor, ${count} ${kind} workers, CPU per second`, { ...cpu, ours: [perSecond] }),
      compare(`supervisor, ${count} ${kind} workers, memory`, { ...memory, ours: [rssMb] }),
    ];
  } finally {
    process.removeListener('exit', stop);
    stop();
    // The agents go with their windows.
    await sleep(500);
  }
}

/** A SWARM_HOME and a tmux server of its own. */
function fleetIn(room, name) {
  const home = join(room.folder, `swarm-${name}`);
  mkdirSync(join(home, 'ralph'), { recursive: true });
  const socket = `ralph-bench-${process.pid}-${name}`;
  return { home, socket, env: { SWARM_HOME: home } };
}

function tmux({ socket }, ...words) {
  spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], { stdio: 'ignore' });
}

/** Loops as a spawn leaves them, before their first iteration. Perl, because it sleeps without a process of its own. */
function writeLoops(room, { home, socket }, count, mix) {
  const prompt = room.write('prompt.md', 'Do it.\n');
  const spinner =
    '$|=1; while (1) { printf "\\r%s working (%ds)", substr("|/-\\\\", $i++ % 4, 1), $i / 4; select(undef, undef, undef, 0.25) }';
  const printer = '$|=1; while (1) { print "line ", $i++, "\\n" for 1..4; sleep 5 }';
  const silent = 'print "ready\\n"; sleep 100000';
  const scripts =
    mix === 'silent' ? [silent] : [...Array(6).fill(spinner), ...Array(3).fill(printer), silent];
  const names = Array.from({ length: count }, (_, index) => `w${index}`);
  const list = names.map((name, index) => ({
    name,
    status: 'running',
    cmd: ['perl', '-e', scripts[index % scripts.length]],
    started: '2026-01-01T00:00:00.000000',
    cwd: room.repo,
    env: {},
    tags: [],
    tmux: { session: 'bench', window: name, socket },
    worktree: null,
    pid: null,
    metadata: { ralph: true, ralph_iteration: 0 },
  }));
  for (const name of names) {
    mkdirSync(join(home, 'ralph', name));
    const settings = {
      prompt_file: prompt,
      max_iterations: 9,
      done_pattern: 'ALL DONE',
      inactivity_timeout: 3600,
    };
    const state = {
      worker_name: name,
      current_iteration: 0,
      status: 'running',
      started: '2026-01-01T00:00:00.000000',
      last_iteration_started: '',
      consecutive_failures: 0,
      total_failures: 0,
      ...settings,
    };
    writeFileSync(join(home, 'ralph', name, 'state.json'), JSON.stringify(state));
  }
  writeFileSync(join(home, 'state.json'), JSON.stringify({ workers: list }, null, 2));
}

/** How many loops have an agent. */
function started({ home, socket }) {
  if (!existsSync(join(home, 'marks'))) return 0;
  try {
    const words = ['-L', socket, 'list-panes', '-a', '-F', '#{pane_dead}'];
    return execFileSync('tmux', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter((dead) => dead === '0').length;
  } catch {
    return 0;
  }
}

/** CPU of a process, to the nanosecond, and of the children that it has waited for, to 10 ms. */
function cpuMs(pid) {
  const own = readdirSync(`/proc/${pid}/task`).map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'latin1').split(' ')[0]),
  );
  const fields = fieldsOf(pid);
  return own.reduce((sum, ns) => sum + ns / 1e6, 0) + (Number(fields[13]) + Number(fields[14])) * 10;
}

function startOf(pid) {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot}/${fieldsOf(pid)[19]}`;
}

/** What stands after the name in /proc/PID/stat, which may hold anything. */
function fieldsOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
