// Stands in for `sbx` and for `docker sandbox` on the PATH. It really keeps what it runs apart, with bubblewrap, and
// replays the defects that their users report: DEFECTS is a list of their names.
const { spawnSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const { basename, join } = require('node:path');

const root = process.env.STAND_IN;
const defects = (process.env.DEFECTS ?? '').split(',');
// Where the images of Docker Sandboxes have the home of their user.
const agentHome = join('/home', 'agent');
const isDocker = basename(process.argv[2]) === 'docker';
const words = process.argv.slice(3);
fs.appendFileSync(join(root, 'calls'), `${JSON.stringify([basename(process.argv[2]), ...words])}\n`);
if (isDocker && words.shift() !== 'sandbox') fail('docker: this is only a stand-in for docker sandbox');
if (defects.includes('hangs')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600_000);
if (defects.includes('logged-out')) fail('ERROR: not logged in, run `sbx login`');
// Version 0.39 asked something on standard input, and waited.
if (defects.includes('asks')) fs.readFileSync(0);

const commands = { ls, create, exec, run, stop, rm, policy };
const [command, ...rest] = words;
(commands[command] ?? (() => fail(`unknown command ${command}`)))(rest);

function ls([option]) {
  if (defects.includes('garbage')) return print('Segmentation fault (core dumped)');
  // The daemon was stopped, and tells that it starts before it answers.
  if (defects.includes('banner')) print('Starting sandbox daemon {pid 12}...\ndone.');
  if (option !== '--json')
    return print(['SANDBOX  AGENT', ...names().map((name) => `${name}  claude`)].join('\n'));
  print(JSON.stringify({ sandboxes: names().map((name) => ({ name, status: 'running' })) }, null, 2));
}

function create(args) {
  const [name, , ...workspaces] = args.slice(1);
  if (args[0] !== '--name' || workspaces.length === 0) fail('usage: create --name NAME AGENT PATH...');
  for (const folder of ['home', 'shadow']) fs.mkdirSync(join(root, name, folder), { recursive: true });
  fs.writeFileSync(join(root, name, 'state.json'), JSON.stringify({ workspaces, synced: false }));
}

function exec(args) {
  const env = {};
  let cwd;
  for (;;) {
    if (args[0] === '-i') args.shift();
    else if (args[0] === '-w') cwd = args.splice(0, 2)[1];
    else if (args[0] === '-u') args.splice(0, 2);
    else if (args[0] === '-e') {
      const [key, value] = args.splice(0, 2)[1].split(/=(.*)/s);
      env[key] = value ?? process.env[key];
    } else break;
  }
  const [name, ...argv] = args;
  inside(name, argv, { cwd, env, stdio: 'inherit' });
}

function run([name, dashes, ...agentArgs]) {
  if (dashes !== '--') fail('usage: run NAME -- AGENT_ARGS');
  // Nobody has seen it read its input.
  inside(name, ['claude', ...agentArgs], { env: {}, stdio: ['ignore', 'inherit', 'inherit'] });
}

function stop([name]) {
  const state = stateOf(name);
  fs.writeFileSync(join(root, name, 'state.json'), JSON.stringify({ ...state, synced: false }));
}

function rm(args) {
  fs.rmSync(join(root, args.at(-1)), { recursive: true });
}

function policy() {}

function inside(name, argv, { cwd, env, stdio }) {
  if (defects.includes('vanishes')) fs.rmSync(join(root, name), { recursive: true, force: true });
  const { workspaces, synced } = stateOf(name);
  const [workspace] = workspaces;
  const shadow = join(root, name, 'shadow');
  // Docker Desktop copies: what it has once taken over is not taken over again until it is stopped.
  if (isDocker && !synced) {
    fs.cpSync(workspace, shadow, { recursive: true, force: true, preserveTimestamps: true });
    fs.writeFileSync(join(root, name, 'state.json'), JSON.stringify({ workspaces, synced: true }));
  }
  fs.writeFileSync(join(root, name, 'passwd'), `agent:x:0:0::${agentHome}:/bin/sh\n`);
  const mounts = workspaces.flatMap((path) => {
    const from = isDocker && path === workspace ? shadow : path.replace(/:ro$/, '');
    return [path.endsWith(':ro') ? '--ro-bind' : '--bind', from, path.replace(/:ro$/, '')];
  });
  const options = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/home'],
    ...[
      '--bind',
      join(root, name, 'home'),
      agentHome,
      '--ro-bind',
      join(root, name, 'passwd'),
      '/etc/passwd',
    ],
    ...[
      '--bind',
      process.env.TEMPLATE,
      process.env.TEMPLATE,
      '--ro-bind',
      process.env.DIST,
      process.env.DIST,
    ],
    ...mounts,
    ...['--unshare-pid', '--unshare-net', '--die-with-parent', '--chdir', cwd ?? workspace],
  ];
  const PATH = `${process.env.TEMPLATE}:${process.env.PATH}`;
  const { status } = spawnSync('bwrap', [...options, ...argv], {
    stdio,
    env: { PATH, HOME: agentHome, ...env },
  });
  if (isDocker) {
    // And it brings back what changed, a moment later.
    spawn('sh', ['-c', 'sleep 0.3; cp -au "$1/." "$2/"', 'sh', shadow, workspace], {
      detached: true,
      stdio: 'ignore',
      env: { PATH: process.env.PATH },
    }).unref();
  }
  process.exit(status ?? 1);
}

function stateOf(name) {
  try {
    return JSON.parse(fs.readFileSync(join(root, name, 'state.json'), 'utf8'));
  } catch {
    fail(`ERROR: no sandbox named '${name}'`);
  }
}

function names() {
  return fs.readdirSync(root).filter((name) => fs.existsSync(join(root, name, 'state.json')));
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
