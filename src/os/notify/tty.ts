import * as fs from 'node:fs';

/** Returns a function that writes to the terminal of this process, wherever its output goes; null if it has none. */
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
