import { closeSync } from 'node:fs';
import { listDir, tryReadText } from '../files/files.ts';

const closesOnExec = 0o2000000;

/**
 * Closes the files that whoever started us left open (`ralph run 200<file`), for every process that we start would have
 * them as well. Those of Node close by themselves, as do the first sixteen.
 */
export function closeInherited(): void {
  if (process.platform !== 'linux') return;
  for (const fd of listDir('/proc/self/fd').map(Number)) {
    // The listing itself has one that is gone already.
    const info = tryReadText(`/proc/self/fdinfo/${fd}`) ?? '';
    const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1];
    if (fd > 2 && flags !== undefined && (Number.parseInt(flags, 8) & closesOnExec) === 0) closeSync(fd);
  }
}
