import { closeSync } from 'node:fs';
import { listDir, readText } from './files.ts';

const closesOnExec = 0o2000000;

/**
 * Closes the files that whoever started us left open (`ralph run 200<file`), for every process that we start would have
 * them as well. Those of Node close by themselves, as do the first sixteen.
 */
export function closeInherited(): void {
  if (process.platform !== 'linux') return;
  for (const fd of listDir('/proc/self/fd').map(Number)) {
    const flags = /^flags:\s*([0-7]+)/m.exec(infoOf(fd))?.[1];
    if (fd > 2 && flags !== undefined && (Number.parseInt(flags, 8) & closesOnExec) === 0) closeSync(fd);
  }
}

/** Empty for one that is gone already, such as that of the listing itself. */
function infoOf(fd: number): string {
  try {
    return readText(`/proc/self/fdinfo/${fd}`) ?? '';
  } catch {
    return '';
  }
}
