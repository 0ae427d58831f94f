import { closeSync } from 'node:fs';
import { listDir, tryReadText } from '../files/files.ts';

const closesOnExec = 0o2000000;

/**
 * Closes files that our parent left open (`ralph run 200<file`), because every process that we start would inherit
 * them. Those of Node are closed on exec, as are the first sixteen.
 */
export function closeInherited(): void {
  if (process.platform !== 'linux') return;
  for (const fd of listDir('/proc/self/fd').map(Number)) {
    // The listing contains its own descriptor, which is closed already.
    const info = tryReadText(`/proc/self/fdinfo/${fd}`) ?? '';
    const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1];
    if (fd > 2 && flags !== undefined && (Number.parseInt(flags, 8) & closesOnExec) === 0) closeSync(fd);
  }
}
