// The programs that the tests need besides node. Installs what is missing where it can, and otherwise only says so.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Program and the Debian package that has it. */
const needed = {
  bwrap: 'bubblewrap',
  git: 'git',
  ps: 'procps',
  python3: 'python3',
  shellcheck: 'shellcheck',
  tmux: 'tmux',
  ip: 'iproute2',
  zsh: 'zsh',
  fish: 'fish',
  chromium: 'chromium',
  openssl: 'openssl',
  'redis-server': 'redis-server',
};

const quiet = ['-qq', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20'];

export function installSystemPackages() {
  if (process.platform === 'win32' || missing().length === 0) return;
  if (process.getuid?.() === 0 && onPath('apt-get')) install(missing().map((program) => needed[program]));
  const left = missing();
  if (left.length > 0)
    process.stderr.write(`some tests need programs that are missing: ${left.join(', ')}\n`);
}

function install(packages) {
  process.stderr.write(`installing ${packages.join(', ')}...\n`);
  const words = ['install', '-y', '--no-install-recommends', ...packages];
  withoutServices(() => {
    // The list of packages may be missing or old: fetch it only if the first try fails.
    if (!aptGet(words) && aptGet(['update'])) aptGet(words);
  });
}

/** Tests start their own databases: those of the packages must not start by themselves. */
function withoutServices(act) {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return act();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return act();
  } finally {
    rmSync(policy, { force: true });
  }
}

function aptGet(words) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync('apt-get', [...quiet, ...words], { env, stdio: 'ignore', timeout: 300_000 });
  return status === 0;
}

function missing() {
  return Object.keys(needed).filter((program) => !onPath(program));
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}
