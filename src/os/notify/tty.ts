import * as fs from 'node:fs';

/** Writes to the terminal that this process belongs to, whatever its output is; null where it has none. */
export function controllingTerminal(): ((sequence: string) => void) | null {
  const write = (sequence: string): boolean => {
    try {
      const fd = fs.openSync('/dev/tty', 'w');
      try {
        fs.writeSync(fd, sequence);
      } finally {
        fs.closeSync(fd);
      }
      return true;
    } catch {
      return false;
    }
  };
  return write('') ? (sequence) => void write(sequence) : null;
}
