// Runs a command where nothing but the loopback can be reached: the words of `isolation()`, then SOCKET PORT COMMAND...
// The loopback in there is not the one outside. So a connection to PORT is carried on through SOCKET, which is a file and
// can be reached from both sides.
import { spawn, spawnSync } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const loopbackUp = ['ip', 'link', 'set', 'lo', 'up'];

/** The words that run this program in a network namespace of its own, or null where this machine has no way to do so. */
export function isolation() {
  const ways = [
    ['unshare', '--net'],
    ['unshare', '--net', '--map-root-user'],
  ];
  const way = ways.find(([command, ...words]) => run(command, [...words, ...loopbackUp]));
  return way ? [...way, process.execPath, fileURLToPath(import.meta.url)] : null;
}

function run(command, words) {
  return spawnSync(command, words, { stdio: 'ignore', timeout: 10_000 }).status === 0;
}

function runInside([socket, port, command, ...words]) {
  const [ip, ...rest] = loopbackUp;
  if (!run(ip, rest)) throw new Error('the loopback cannot be switched on');
  const bridge = createServer((inner) => {
    const outer = connect(socket);
    inner.pipe(outer).pipe(inner);
    inner.on('error', () => outer.destroy());
    outer.on('error', () => inner.destroy());
  });
  bridge.listen(Number(port), '127.0.0.1', () => {
    const child = spawn(command, words, { stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.once('error', (error) => {
      throw error;
    });
    child.once('close', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.length > 4) runInside(process.argv.slice(2));
  else process.stdout.write(`${JSON.stringify(isolation())}\n`);
}
