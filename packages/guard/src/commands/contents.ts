import { readArgs } from '../argv.ts';
import type { Call, Handler } from '../call.ts';
import { mentionSecrets } from '../feed.ts';
import { ENDLESS, isPlain } from '../marks.ts';

export function contents(call: Call, paths: readonly string[], recursive = false): string {
  if (paths.length === 0) return call.stdin ?? '';
  return paths
    .map((path) => {
      if (path === '-' || path === '/dev/stdin') return call.stdin ?? '';
      call.file('read', path, { recursive });
      return /^\/dev\/(zero|u?random)$/.test(path) ? ENDLESS : call.content(path);
    })
    .join('');
}

/** True if all files are lists of variables whose values the change removes. */
export function leavesNames(call: Call, paths: readonly string[], change: (line: string) => string): boolean {
  if (paths.length === 0 || !paths.every((path) => /\/\.env(\.[\w.-]+)?$/.test(call.path(path))))
    return false;
  const left = change('NAME=v4#v4#v4#v4#');
  return isPlain(left) && !/[v4#]/.test(left);
}

/** Prints what it reads, perhaps changed; marks in the text stay. */
export function shows(
  letters: string,
  change: (text: string, words: readonly string[]) => string = (text) => text,
): Handler {
  return (call) => {
    mentionSecrets(call, call.words);
    return change(contents(call, readArgs(call.words, letters).rest), call.words);
  };
}
