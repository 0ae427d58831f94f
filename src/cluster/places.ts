import { join } from 'node:path';
import { hashText } from '../core/hash.ts';
import { fleetPaths } from '../fleet/files/paths.ts';
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

/** Returns the name of a repository for people; its folder also has a hash of the whole address. */
function lastWord(url: string): string {
  return /([\w.-]{1,40}?)(?:\.git)?[/\\]*$/.exec(url)?.[1] ?? 'repository';
}
