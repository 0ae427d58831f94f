import { cpSync } from 'node:fs';
import { basename } from 'node:path';

/** Copies a built folder without the compiled code in it, which others write and rename at the same time. */
export function copyBuilt(from: string, to: string, isWanted = (_name: string) => true): void {
  const filter = (path: string) => !basename(path).startsWith('.code-') && isWanted(basename(path));
  cpSync(from, to, { recursive: true, filter });
}
