// Where a benchmark works: a temporary folder with a home, a git repository and programs of its own.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ralph = fileURLToPath(new URL('../../dist/ralph.cjs', import.meta.url));

/** Opens a room; `close` removes it with all that is in it. */
export function openRoom() {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-bench-'));
  const [home, bin, repo] = ['home', 'bin', 'repo'].map((name) => join(folder, name));
  for (const path of [home, bin, repo]) mkdirSync(path);
  const env = environment(home, bin);
  const room = {
    folder,
    repo,
    env,
    write(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    /** A script on the PATH of all that is started here. */
    install(name, script) {
      writeFileSync(join(bin, name), script);
      chmodSync(join(bin, name), 0o755);
    },
    close: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
  commitSomething(room);
  return room;
}

/** Milliseconds from the start of a program to its end. */
export function time(room, argv) {
  return launch(room, argv).ms;
}

/**
 * Runs a program to its end, its output read by a pipe: when it started, in milliseconds since 1970, and how long it
 * took. The clock is that of bash, because to start a process from Node takes 2 ms, more than some of these need.
 */
export function launch({ repo, env }, argv, { input = '/dev/null', expected = 0, extra = {} } = {}) {
  const script = 'a=$EPOCHREALTIME; o=$("$@" <"$0"); echo "$? $a $EPOCHREALTIME"';
  const options = { cwd: repo, env: { ...env, ...extra }, encoding: 'utf8' };
  const { stdout, stderr } = spawnSync('/bin/bash', ['-c', script, input, ...argv], options);
  const [code, start, end] = stdout.split(' ').map(Number);
  if (code !== expected) throw failure(argv, code, stderr);
  return { started: start * 1000, ms: (end - start) * 1000, stderr };
}

/** Why nothing can be measured here, or null. */
export function clockProblem() {
  const { stdout } = spawnSync('/bin/bash', ['-c', 'echo $EPOCHREALTIME'], { encoding: 'utf8' });
  return stdout?.trim() ? null : 'needs /bin/bash 5, for its clock';
}

/** Runs a program to its end; another exit code than the expected one (null: any) means that the benchmark is broken. */
export function run({ repo, env }, [program, ...args], { expected = 0, extra = {}, cwd = repo } = {}) {
  const result = spawnSync(program, args, {
    cwd,
    env: { ...env, ...extra },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.status === null || result.status !== (expected ?? result.status))
    throw failure([program, ...args], result.status ?? result.error, result.stderr);
}

/** Runs a program with its output thrown away, and looks at its memory on the way: time and peak RSS. */
export async function watch({ repo, env }, [program, ...args], { expected = 0, extra = {} } = {}) {
  const start = performance.now();
  const child = spawn(program, args, {
    cwd: repo,
    env: { ...env, ...extra },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = () => child.kill('SIGKILL');
  process.prependOnceListener('exit', stop); // Before the room is removed: it would write there again.
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr = `${stderr}${text}`.slice(-2000);
  });
  let rssMb = null;
  const timer = setInterval(() => {
    rssMb = peakRssMb(child.pid) ?? rssMb;
  }, 10);
  const { code, ms } = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve({ code, ms: performance.now() - start }));
  });
  clearInterval(timer);
  process.removeListener('exit', stop);
  if (code !== expected) throw failure([program, ...args], code, stderr);
  return { ms, rssMb };
}

/** The most that a living process ever had; null once it is gone, and on systems without /proc. */
function peakRssMb(pid) {
  try {
    const kb = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kb === undefined ? null : Number(kb) / 1024;
  } catch {
    return null;
  }
}

/**
 * Little of our own environment, and above all no NODE_EXTRA_CA_CERTS: with it Node 20 reads certificates at every
 * start, which takes longer than all that is measured here. The key gives redaction something to look for.
 */
function environment(home, bin) {
  const kept = ['SystemRoot', 'TEMP', 'TMP', 'TMPDIR'].filter((name) => process.env[name] !== undefined);
  return {
    ...Object.fromEntries(kept.map((name) => [name, process.env[name]])),
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    HOME: home,
    USERPROFILE: home,
    LC_ALL: 'C',
    TERM: 'xterm',
    GIT_CONFIG_NOSYSTEM: '1',
    ANTHROPIC_API_KEY: 'an-example-of-a-key-0123456789abcdef',
  };
}

function commitSomething({ repo, env }) {
  const git = (...args) => execFileSync('git', args, { cwd: repo, env });
  writeFileSync(join(repo, 'README.md'), '# An example\n');
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Bench');
  git('config', 'user.email', 'bench@example.com');
  git('add', '--all');
  git('commit', '--quiet', '--message=Start');
}

function failure(argv, code, stderr) {
  return new Error(`${argv.join(' ')} ended with ${code}\n${String(stderr ?? '').slice(-2000)}`);
}
