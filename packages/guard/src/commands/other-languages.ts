import type { Handler } from '../call.ts';

const starts =
  /\b\w*(?:system|[sS]hell|cmd|[cC]ommand|exec|run-program)(?:-to-string)?\s*(?:\(\s*)?(?:~c)?["'`]([^"'`]+)["'`]|["']([^"']+)["']\s*\.execute\s*\(|\brun\s*\(\s*`([^`]+)`/g;
const deletes =
  /(?<![\w.-])(?:[\w.]*\.)?(?:rm|unlink|remove|delete)[\w/*-]*!?\s*(?:\(\s*)?(?:\w+:\s*)?["']([^"']+)["']|\bFile\s*\(\s*["']([^"']+)["']\s*\)\.delete/g;

/** What code of a language does that the guard cannot read, as far as it is a plain call with a literal. */
export function otherLanguage(pattern = starts): Handler {
  return (call) => {
    const code = [...call.words, call.stdin ?? ''].join('\n');
    for (const [, ...texts] of code.matchAll(pattern)) call.script(texts.find(Boolean) ?? '');
    for (const [, ...paths] of code.matchAll(deletes))
      call.file('delete', (paths.find(Boolean) ?? '').replace(/^~(?=\/|$)/, call.shell.world.context.home), {
        recursive: true,
      });
  };
}
