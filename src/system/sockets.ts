import { readFileSync } from 'node:fs';

/** Paths of the unix sockets that somebody listens on. Linux only; empty elsewhere. */
export function listeningSockets(): string[] {
  let table: string;
  try {
    table = readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return [];
  }
  const acceptsConnections = '00010000';
  const paths = table.split('\n').flatMap((line) => {
    const [, , , flags, , , , ...path] = line.split(' ').filter((part) => part !== '');
    return flags === acceptsConnections ? [path.join(' ')] : [];
  });
  // Those that begin with @ are no files.
  return [...new Set(paths.filter((path) => path.startsWith('/')))];
}
