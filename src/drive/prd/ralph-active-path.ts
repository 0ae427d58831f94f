import { join } from 'node:path';

/** The marker of a loop that works on the PRD of a project; in a file of its own, since every stop hook looks for it. */
export function activePath(projectDir: string): string {
  return join(projectDir, '.ralph-active');
}
