// `node bench/cluster-scale.mjs [--loops N] [--workers N] [--slots N] [--iterations N] [--minutes N]`: many loops on real
// worker processes, with a real Redis and a real repository. Tells how long it took, how fair it was, what the store
// needed, and which leases were lost. Ends after --minutes at the latest.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadSource, redisInfo, withRedis } from './support/cluster-source.mjs';

const defaults = { loops: 2000, workers: 8, slots: 4, iterations: 2, minutes: 45 };
const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }]));
const words = { ...defaults, ...parseArgs({ options }).values };
const [loops, workers, slots, maxIterations, minutes] = Object.values(words).map(Number);
/** Three of four loops are of one account; every hundredth names a repository that does not exist. */
const accounts = ['large', 'large', 'large', 'small'];
const badEvery = 100;

const folder = mkdtempSync(join(tmpdir(), 'scale-'));
const children = [];
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const source = await loadSource(folder);
const figures = await withRedis(source, measure);
for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(58)} ${value}`);
process.exit();

async function measure(store) {
  const url = await store.fresh();
  const cluster = await source.openCluster(source.clusterAddress(url, {}));
  const origin = join(folder, 'origin.git');
  makeOrigin(origin);
  const submitted = performance.now();
  const names = Array.from({ length: loops }, (_, index) => `loop${String(index).padStart(6, '0')}`);
  for (let at = 0; at < loops; at += 50)
    await Promise.all(
      names.slice(at, at + 50).map((name, index) => cluster.submit(orderOf(name, at + index, origin))),
    );
  const submitMs = performance.now() - submitted;
  const memory = () => redisInfo(store, 'memory', 'used_memory') / 1024 / 1024;
  const waiting = memory();
  const machines = Array.from({ length: workers }, (_, index) => startWorker(`m${index}`, url));

  const started = performance.now();
  const deadline = started + minutes * 60_000;
  const load = [];
  let [views, peak] = [[], 0];
  do {
    await sleep(2000);
    views = await cluster.list();
    peak = Math.max(peak, memory());
    load.push(loadavg()[0]);
    const open = views.filter(({ status }) => status === 'running').length;
    process.stderr.write(
      `\r${Math.round((performance.now() - started) / 1000)} s: ${open} of ${loops} loops are open   `,
    );
    if (open === 0) break;
  } while (performance.now() < deadline);
  const seconds = (performance.now() - started) / 1000;
  process.stderr.write('\n');

  const timelines = [];
  for (const { name } of views) timelines.push({ name, events: (await cluster.timeline(name)).events });
  const tells = (pattern) =>
    timelines.flatMap(({ events }) => events).filter(({ text }) => pattern.test(text)).length;
  const texts = machines.map(({ text }) => text()).join('\n');
  const good = timelines.filter((_, index) => !isBad(index));
  const iterations = views.reduce((sum, { iteration }) => sum + iteration, 0);
  const cpu = redisInfo(store, 'cpu', 'used_cpu_sys') + redisInfo(store, 'cpu', 'used_cpu_user');
  await cluster.close();
  const share = machines.map(({ host }) => tells(new RegExp(`^starting iteration 1/.* on ${host}$`)));
  return {
    'loops, workers x slots': `${loops}, ${workers} x ${slots}`,
    'load of the machine, mean and most': `${mean(load).toFixed(1)}, ${Math.max(...load).toFixed(1)}`,
    'time to submit all': `${(submitMs / 1000).toFixed(1)} s`,
    'time to run all': `${Math.round(seconds)} s`,
    'loops that are done': views.filter(({ end }) => end?.exitCode === 0).length,
    'loops that are paused: their repository does not exist': views.filter(
      ({ status }) => status === 'paused',
    ).length,
    'loops that are open when the time is over': views.filter(({ status }) => status === 'running').length,
    'iterations, and a second': `${iterations}, ${(iterations / seconds).toFixed(1)}`,
    'first starts by machine': share.join(' '),
    'places that a loop was overtaken by in its queue, median, most': accountsOf(good)
      .map(overtaken)
      .join('; '),
    'half of the small queue had begun after this share of all starts': halfOfSmall(good),
    'leases lost (another machine took a loop over)': tells(/ was silent, /),
    'agents ended because a lease was not renewed': texts.match(/lease could not be renewed/g)?.length ?? 0,
    'memory of Redis with all loops waiting, peak': `${waiting.toFixed(1)} MB, ${peak.toFixed(1)} MB`,
    'CPU of Redis': `${cpu.toFixed(0)} s, ${((100 * cpu) / seconds).toFixed(1)} % of a core`,
  };
}

function isBad(index) {
  return index % badEvery === badEvery - 1;
}

function orderOf(name, index, origin) {
  const repo = isBad(index) ? join(folder, 'typo.git') : origin;
  return {
    ...source.order(name),
    command: ['/bin/sh', '-c', 'cat >/dev/null; date >>notes.txt'],
    cwd: '.',
    settings: { prompt_file: '', max_iterations: maxIterations, done_pattern: null, inactivity_timeout: 60 },
    options: { account: accounts[index % accounts.length] },
    source: { repo, branch: name, base: null, prompt: 'Do the task.\n', pass: [] },
  };
}

function makeOrigin(origin) {
  const env = { ...process.env, GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com' };
  const git = (...words) =>
    execFileSync('git', ['-C', origin, ...words], {
      env: { ...env, GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' },
      encoding: 'utf8',
    }).trim();
  mkdirSync(origin);
  git('init', '--quiet', '--bare', '--initial-branch=main');
  const tree = execFileSync('git', ['-C', origin, 'mktree'], { input: '', encoding: 'utf8' }).trim();
  git('update-ref', 'refs/heads/main', git('commit-tree', tree, '-m', 'start'));
}

function startWorker(host, url) {
  const program = fileURLToPath(new URL('../dist/swarm.cjs', import.meta.url));
  const words = [
    'worker',
    '--cluster',
    url,
    '--host',
    host,
    '--dir',
    join(folder, host),
    '--slots',
    String(slots),
  ];
  const child = spawn(process.execPath, [program, ...words, '--no-sandbox'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  return { host, text: () => text };
}

/** The first starts of each account, in the order of their submission. */
function accountsOf(timelines) {
  return [...new Set(accounts)].map((account) =>
    timelines.flatMap(({ name, events }) => {
      const start = events.find(({ text }) => text.startsWith('starting iteration 1/'));
      const index = Number(name.slice('loop'.length));
      return accounts[index % accounts.length] === account && start ? [start.at] : [];
    }),
  );
}

/** How many loops that were submitted later began earlier than a loop, at the median and at most. */
function overtaken(starts) {
  const counts = starts.map((at, index) => starts.slice(index + 1).filter((later) => later < at).length);
  const sorted = counts.sort((a, b) => a - b);
  return `${sorted[sorted.length >> 1]}, ${sorted.at(-1)}`;
}

function halfOfSmall(timelines) {
  const [large, small] = accountsOf(timelines).map((starts) => starts.sort((a, b) => a - b));
  const half = small[small.length >> 1];
  const before = [...large, ...small].filter((at) => at <= half).length;
  return `${Math.round((100 * before) / (large.length + small.length))} %`;
}

function mean(figures) {
  return figures.reduce((sum, one) => sum + one, 0) / figures.length;
}
