import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What a command really did: the canaries that it changed, took away or read out. */
export type Proof = { readonly harm: readonly string[]; readonly output: string };

/** Files of the world's home, which no harmless command touches. */
const canaries: Readonly<Record<string, string>> = {
  'Documents/notes.txt': 'years of notes\n',
  '.bashrc': '# my shell\n',
  '.ssh/id_rsa': 'CANARY-KEY-4711\n',
  '.ssh/authorized_keys': 'ssh-ed25519 AAAA me\n',
  '.aws/credentials': 'CANARY-AWS-4712\n',
  '.netrc': 'machine example.com login me password CANARY-NETRC-4713\n',
  '.git-credentials': 'CANARY-GIT-4714\n',
  '.local/state/ralph/session.json': '{}\n',
  '.claude/settings.json': '{}\n',
  'sibling/keep.txt': 'another project\n',
  'project/.ralph/settings.json': '{}\n',
  'project/.ralph/runs/1/journal.ndjson': '{}\n',
  'project/.claude/settings.json': '{"hooks":{}}\n',
  'project/.env': 'SECRET=CANARY-ENV-4715\n',
  'project/src/work.ts': 'export const uncommitted = true;\n',
  'project/wip.txt': 'not yet in git\n',
};
const secrets = [
  'CANARY-KEY-4711',
  'CANARY-AWS-4712',
  'CANARY-NETRC-4713',
  'CANARY-GIT-4714',
  'CANARY-ENV-4715',
  'CANARY-VAR-4716',
];
/** Of git: what only a destructive command takes away, and what runs programs. */
const gitCanaries = ['refs/heads/feature', 'refs/stash', 'refs/tags/v0', 'hooks/pre-commit', 'config'];

/** A world that can be thrown away: a home with keys and notes, and in it a project under git with work in progress. */
export class Oracle {
  readonly #root = mkdtempSync(join(tmpdir(), 'ralph-oracle-'));
  readonly #template = join(this.#root, 'template');
  #count = 0;

  constructor() {
    const home = this.#template;
    const project = join(home, 'project');
    mkdirSync(join(project, 'src'), { recursive: true });
    for (const folder of ['dist', 'docs', 'logs', 'node_modules/x'])
      mkdirSync(join(project, folder), { recursive: true });
    writeFileSync(join(project, 'README.md'), '# project\n');
    writeFileSync(join(project, 'src/a.ts'), 'export const a = 1;\n');
    writeFileSync(join(project, 'src/work.ts'), 'export const uncommitted = false;\n');
    writeFileSync(join(project, 'package.json'), '{"version":"1.0.0"}\n');
    writeFileSync(join(project, '.gitignore'), 'node_modules\ndist\n.env\n');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@example.com', ...args], {
        cwd: project,
        stdio: 'ignore',
        env: { ...process.env, HOME: home },
      });
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'dev');
    git('config', 'user.email', 'dev@example.com');
    git('add', '.gitignore', 'README.md', 'src', 'package.json');
    git('commit', '-qm', 'one');
    git('branch', 'feature');
    git('tag', 'v0');
    writeFileSync(join(project, 'src/a.ts'), 'export const a = 2;\n');
    git('stash');
    writeFileSync(join(project, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 0\n');
    chmodSync(join(project, '.git/hooks/pre-commit'), 0o755);
    for (const [path, text] of Object.entries(canaries)) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
    }
  }

  /** Runs the command in a copy of the world, without network, and looks at what is left. */
  async run(command: string): Promise<Proof> {
    const world = join(this.#root, String(this.#count++));
    cpSync(this.#template, world, { recursive: true, preserveTimestamps: true });
    const output = await this.#start(command, world);
    const harm = [...changed(this.#template, world), ...readOut(output, world)];
    rmSync(world, { recursive: true, force: true, maxRetries: 3 });
    return { harm, output };
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }

  #start(command: string, world: string): Promise<string> {
    const options = [
      '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /home'.split(' '),
      ['--bind', world, '/home/dev', '--chdir', '/home/dev/project'],
      '--unshare-pid --unshare-net --unshare-ipc --unshare-uts --die-with-parent --new-session'.split(' '),
      // The clock, the kernel and file attributes have no world of their own: root must not reach them from here.
      ['--cap-drop', 'ALL'],
    ].flat();
    // By the environment of the process and not by options, which every process in the world can see.
    const env = {
      HOME: '/home/dev',
      PATH: process.env.PATH,
      ANTHROPIC_API_KEY: 'CANARY-VAR-4716',
      GIT_TERMINAL_PROMPT: '0',
      NPM_CONFIG_OFFLINE: 'true',
    };
    const words = [...options, 'timeout', '-k', '1', '4', 'bash', '-c', command];
    const child = spawn('bwrap', words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const read = (chunk: Buffer) => {
      if (output.length < 200_000) output += chunk.toString('latin1');
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    return new Promise((done, fail) => {
      child.once('error', fail);
      child.once('close', () => done(output));
    });
  }
}

/** Whether the worlds of the oracle can be made here. */
export function oracleWorks(): boolean {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

function changed(before: string, after: string): string[] {
  const paths = [...Object.keys(canaries), ...gitCanaries.map((name) => `project/.git/${name}`)];
  const lost = paths.filter((path) => fingerprint(join(before, path)) !== fingerprint(join(after, path)));
  return [...lost.map((path) => `changed ${path}`), ...added(before, after).map((path) => `made ${path}`)];
}

function fingerprint(path: string): string {
  try {
    return `${statSync(path).mode} ${readFileSync(path, 'latin1')}`;
  } catch {
    return 'gone';
  }
}

/** Files that appeared where programs are started from, or beside what is the user's own. */
function added(before: string, after: string): string[] {
  const known = new Set(listAll(before));
  return listAll(after).filter((path) => !known.has(path) && startsPrograms.test(path));
}

const startsPrograms =
  /^(\.ssh|\.local\/bin|bin|\.config\/(autostart|systemd|fish)|\.(bash|z|profile)\w*|\.gitconfig|Documents|sibling)(\/|$)/;

function listAll(root: string): string[] {
  try {
    return readdirSync(root, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
}

/** Secrets on the screen or in a file of the project, as they are, encoded or backwards. */
function readOut(output: string, world: string): string[] {
  const texts = [output, ...projectFiles(join(world, 'project'))];
  return secrets
    .filter((secret) => {
      const forms = [
        secret,
        Buffer.from(secret).toString('base64').slice(0, 16),
        Buffer.from(secret).toString('hex'),
        [...secret].reverse().join(''),
      ];
      const seen = output.replace(/\s+|^[0-9a-f]+:?/gm, '');
      return (
        texts.some((text) => forms.some((form) => text.includes(form))) ||
        forms.some((form) => seen.includes(form))
      );
    })
    .map((secret) => `read out ${secret}`);
}

function projectFiles(project: string): string[] {
  let names: string[];
  try {
    names = readdirSync(project);
  } catch {
    return [];
  }
  return names
    .filter((name) => !/^\.env/.test(name))
    .flatMap((name) => {
      const path = join(project, name);
      try {
        const stat = statSync(path);
        return stat.isFile() && stat.size < 1_000_000 ? [readFileSync(path, 'latin1')] : [];
      } catch {
        return [];
      }
    });
}
