import { join } from 'node:path';
import { RalphError } from '../core/error.ts';
import { hashText } from '../core/hash.ts';
import { fleetPaths, isWorkerName } from '../fleet/files/paths.ts';
import type { Environment } from '../os/process/program.ts';

/** The folder of a machine in a cluster without --dir. */
export function defaultFolder(env: Environment): string {
  return join(fleetPaths(env).root, 'cluster');
}

/** Returns the paths of a machine's files. */
export function placesIn(folder: string) {
  return {
    lock: join(folder, 'lock'),
    /** File with the id that tells this machine from others of the same name. */
    id: join(folder, 'id'),
    /** A bare clone for each repository. */
    repository: (url: string) => join(folder, 'repos', `${lastWord(url)}-${hashText(url)}.git`),
    worktree: (name: string) => join(folder, 'trees', name),
    /** The full record of a loop. */
    record: (name: string) => {
      const root = join(folder, 'loops', name);
      return {
        root,
        prompt: join(root, 'prompt.md'),
        log: (iteration: number) => join(root, `${String(iteration).padStart(3, '0')}.log`),
      };
    },
  };
}

export type Places = ReturnType<typeof placesIn>;

/** The run id in the environment of every process of a loop on this machine. */
export function runIdOf(folder: string, name: string): string {
  return `${runIdStart(folder)}${name}`;
}

/** Common prefix of these run ids. */
export function runIdStart(folder: string): string {
  return `cluster-${hashText(folder)}/`;
}

/** Throws if a loop has a name that cannot be a folder here. */
export function checkLoopName(name: string): void {
  if (isWorkerName(name)) return;
  throw new RalphError('loop-name', `${JSON.stringify(name)} is no name for a loop`, { exitCode: 1 });
}

function lastWord(url: string): string {
  const word =
    url
      .replace(/[/\\]+$/, '')
      .split(/[/\\:]/)
      .at(-1) ?? '';
  return (
    word
      .replace(/\.git$/, '')
      .replace(/[^\w.-]/g, '')
      .slice(0, 40) || 'repository'
  );
}
