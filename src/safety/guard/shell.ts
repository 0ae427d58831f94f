import type { PipelineNode } from 'unbash';
import type { Shell, Value, World } from './model.ts';

export function newShell(world: World): Shell {
  return {
    cwd: world.context.cwd,
    world,
    variables: new Map(),
    functions: new Map(),
    aliases: new Map(),
    calls: [],
    args: [],
    input: { text: null },
    depth: 0,
    forked: false,
  };
}

/** A subshell: it sees everything, and what it changes ends with it. */
export function fork(shell: Shell, over: Partial<Shell> = {}): Shell {
  return { ...shell, variables: new Map(shell.variables), depth: shell.depth + 1, ...over };
}

export function scalar(text: string): Value {
  return { items: [text], array: false };
}

export function isConstant(node: PipelineNode, word: 'true' | 'false'): boolean {
  if (node.type !== 'Command' || node.args.length > 0 || node.redirects.length > 0) return false;
  return node.name?.text === word || (word === 'true' && node.name?.text === ':');
}
