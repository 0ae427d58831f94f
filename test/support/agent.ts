import { readFileSync, writeFileSync } from 'node:fs';
import { installFakeAgent, type Script } from '../../src/testkit/index.ts';
import { dist, readableDist, runRalph } from './ralph.ts';
import { makeRepo, type Repo } from './repo.ts';
import { actingUser } from './who.ts';

export type Turns = Script['turns'];

export const tag = '<promise>DONE</promise>';
/** A step that really changes something. */
export const work = { shell: 'echo work >> work.txt' };

export type RepoWithAgent = Repo & { readonly agent: Awaited<ReturnType<typeof installFakeAgent>> };

/** A repository whose agent is a scripted `claude`. */
export async function repoWith(
  turns: Turns,
  settings: object = {},
  options: { files?: Record<string, string>; git?: boolean } = {},
): Promise<RepoWithAgent> {
  const repo = makeRepo({
    files: { 'README.md': 'x\n', ...options.files },
    settings: { agent: { command: 'claude' }, ...settings },
    ...(options.git === undefined ? {} : { git: options.git }),
  });
  return { ...repo, agent: await installClaude(repo, turns) };
}

/** Installs a scripted `claude` that the acting user can start. */
export async function installClaude({ bin }: Repo, turns: Turns): Promise<RepoWithAgent['agent']> {
  const agent = await installFakeAgent(bin, { agent: 'claude', script: { turns } });
  if (actingUser() !== null) {
    const shim = readFileSync(agent.path, 'utf8').replace(dist, readableDist());
    writeFileSync(agent.path, shim);
  }
  return agent;
}

/** `ralph run` with the promise as its marker. */
export function runArgs(max: number, ...more: string[]): string[] {
  return ['run', '-p', 'Do the task.', '-m', String(max), '--completion-promise', 'DONE', ...more];
}

export type Shown = {
  readonly run: string;
  readonly outcome: string | null;
  readonly exitCode: number | null;
  readonly state: string;
  readonly iterations: number;
  readonly because: string | null;
  readonly next: string | null;
  readonly verdicts: readonly {
    readonly iteration: number;
    readonly accepted: boolean;
    readonly because: string;
    readonly evidence: readonly { readonly check: string; readonly ok: boolean; readonly detail: string }[];
  }[];
};

/** What `ralph show --json` says of the latest run. */
export async function show(repo: Repo): Promise<Shown> {
  const { stdout } = await runRalph(['show', 'latest', '--json'], repo);
  return JSON.parse(stdout) as Shown;
}
