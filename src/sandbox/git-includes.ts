import { dirname, isAbsolute, join, resolve } from 'node:path';
import { realPath } from '../os/files/real-path.ts';
import { type Environment, runCommand } from '../os/process/process.ts';
import { homeOf } from './folders.ts';

const includeKey = /^include(?:if\..*)?\.path$/is;

/** Returns the files that git's configuration includes, also those that do not exist yet. */
export async function includedSettings(root: string, env: Environment): Promise<string[]> {
  const words = ['git', 'config', '--list', '--includes', '--show-origin', '-z'] as const;
  const { stdout } = await runCommand(words, { cwd: root, env });
  const fields = stdout.split('\0');
  const paths = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [origin = '', entry = ''] = fields.slice(at, at + 2);
    if (!origin.startsWith('file:')) continue;
    const file = resolve(root, origin.slice('file:'.length));
    const key = entry.split('\n', 1)[0] ?? '';
    paths.add(file);
    if (includeKey.test(key)) paths.add(resolve(dirname(file), inHome(entry.slice(key.length + 1), env)));
  }
  return [...paths].map((path) => join(realPath(dirname(path)), path.slice(dirname(path).length)));
}

function inHome(path: string, env: Environment): string {
  return path.startsWith('~/') && !isAbsolute(path) ? join(homeOf(env), path.slice(2)) : path;
}
