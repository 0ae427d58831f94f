import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFailure, writing } from './file-error.ts';
import { ensureDir, refuseLinkedFolders } from './files.ts';

/** Makes a folder with this name, with a number after it if the name is taken. */
export function makeNewFolder(root: string, name: string): string {
  refuseLinkedFolders(join(root, name), dirname(root));
  ensureDir(root, 0o755);
  for (let n = 1; ; n++) {
    const folder = join(root, n === 1 ? name : `${name}-${n}`);
    try {
      fs.mkdirSync(folder, { mode: 0o755 });
      return folder;
    } catch (error) {
      if (fs.existsSync(folder)) continue;
      throw writeFailure(folder, error);
    }
  }
}

export function moveFolder(from: string, to: string): boolean {
  if (!fs.existsSync(from)) return false;
  writing(to, () => fs.renameSync(from, to));
  return true;
}

export function removeFolder(path: string): void {
  fs.rmSync(path, { recursive: true, force: true });
}
