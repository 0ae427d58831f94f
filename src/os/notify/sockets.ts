import { readFileSync } from 'node:fs';

/** Paths of the unix sockets at which somebody takes connections or messages. Linux only; empty elsewhere. */
export function listeningSockets(): string[] {
  let table: string;
  try {
    table = readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return [];
  }
  const acceptsConnections = '00010000';
  const takesMessages = '0002';
  const paths = table.split('\n').flatMap((line) => {
    const [, , , flags, type, , , ...path] = line.split(' ').filter((part) => part !== '');
    return flags === acceptsConnections || type === takesMessages ? [path.join(' ')] : [];
  });
  // Those that begin with @ are no files.
  return [...new Set(paths.filter((path) => path.startsWith('/')))];
}
