import { join } from 'node:path';

/** Returns the path of the marker of a PRD loop. A file of its own, since every stop hook loads it. */
export function activePath(projectDir: string): string {
  return join(projectDir, '.ralph-active');
}
