import type { PipelineNode } from 'unbash';
import type { Shell, World } from './model.ts';
import { Scope } from './scope.ts';

export const stepCost = 100;
export const wordCost = 20;

export function workFor(command: string): number {
  return 20_000 * stepCost + 40 * command.length;
}

export function spend(world: World, cost: number): void {
  world.work -= cost;
  if (world.work < 0) throw new RangeError('this takes more work than any honest command needs');
}

export function newShell(world: World): Shell {
  return {
    cwd: world.context.cwd,
    world,
    variables: new Scope(),
    functions: new Map(),
    aliases: new Map(),
    calls: [],
    args: [],
    input: { text: null },
    depth: 0,
    forked: false,
    loads: false,
  };
}

/** Makes a subshell: it sees everything, and its changes end with it. */
export function fork(shell: Shell, over: Partial<Pick<Shell, 'cwd' | 'input' | 'forked'>> = {}): Shell {
  return { ...shell, ...over, variables: shell.variables.over(), depth: shell.depth + 1 };
}

export function isConstant(node: PipelineNode, word: 'true' | 'false'): boolean {
  if (node.type !== 'Command' || node.args.length > 0 || node.redirects.length > 0) return false;
  return node.name?.text === word || (word === 'true' && node.name?.text === ':');
}

/** Stores the target of `declare -n` under a name that no variable can have. */
export const reference = '-n ';

/** Set where a shell prints each command before it runs it; no variable can have this name. */
export const tracing = '-x ';
