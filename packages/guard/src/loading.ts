import type { Command, PipelineNode, Word } from 'unbash';
import type { Shell } from './model.ts';

/** Programs that only pass on what they read, and the words that they may have then. */
const readers: Readonly<Record<string, RegExp>> = {
  cat: /^[\w./-]+$/,
  grep: /^(-[vEiwF]+|['"]?[\^#=\w\s*|[\].$\\-]+['"]?)$/,
  egrep: /^(-[viw]+|['"]?[\^#=\w\s*|[\].$\\-]+['"]?)$/,
  sed: /^(-e|'?(\/[^/]*\/d|s\/[^/]*\/[^/]*\/g?)'?|"(\/[^/$`]*\/d|s\/[^/$`]*\/[^/$`]*\/g?)"|\.env[\w.-]*)$/,
  xargs: /^-(0|d|L1|n1|'?\\n'?)$/,
};

/** The shell in which a word of `export` is expanded: `$(grep -v '^#' .env | xargs)` is loaded and not shown. */
export function loading(word: Word, shell: Shell): Shell {
  const loads = word.parts?.every((part) => {
    if (part.type !== 'CommandExpansion') return false;
    const [only, more] = part.script?.commands ?? [];
    return only !== undefined && more === undefined && !only.background && onlyReads(only.command);
  });
  if (!loads) return shell;
  shell.world.hasLoaded = true;
  return { ...shell, loads };
}

function onlyReads(node: PipelineNode | { readonly type: 'AndOr' }): boolean {
  if (node.type === 'Pipeline')
    return node.commands.every((part) => part.type === 'Command' && isReader(part));
  return node.type === 'Command' && isReader(node);
}

function isReader({ name, args, prefix, redirects }: Command): boolean {
  const program = name?.text ?? '';
  const pattern = Object.hasOwn(readers, program) ? readers[program] : undefined;
  if (pattern === undefined || prefix.length > 0) return false;
  return (
    args.every((arg) => arg.type === 'Word' && pattern.test(arg.text)) &&
    redirects.every(
      (one) => one.type === 'Redirect' && (one.operator === '<' || one.target?.text === '/dev/null'),
    )
  );
}
