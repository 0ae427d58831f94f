import type { PipelineNode } from 'unbash';
import type { Shell, Value, Variables, World } from './model.ts';

/** What a step and a word cost, where a character costs one. */
export const stepCost = 100;
export const wordCost = 20;

/** The work that may go into a command: honest ones take a small part of it. */
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

/** A subshell: it sees everything, and what it changes ends with it. */
export function fork(shell: Shell, over: Partial<Pick<Shell, 'cwd' | 'input' | 'forked'>> = {}): Shell {
  return {
    cwd: over.cwd ?? shell.cwd,
    world: shell.world,
    variables: shell.variables.over(),
    functions: shell.functions,
    aliases: shell.aliases,
    calls: shell.calls,
    args: shell.args,
    input: over.input ?? shell.input,
    depth: shell.depth + 1,
    forked: over.forked ?? shell.forked,
    loads: shell.loads,
  };
}

/** Copying all variables for each subshell would cost more than all that it does. */
class Scope implements Variables {
  readonly #below: Variables | undefined;
  /** Most subshells set nothing. */
  #own: Map<string, Value | undefined> | undefined;

  constructor(below?: Variables) {
    this.#below = below;
  }

  get(name: string): Value | undefined {
    const value = this.#own?.get(name);
    return value !== undefined || this.#own?.has(name) ? value : this.#below?.get(name);
  }

  set(name: string, value: Value | undefined): void {
    this.#own ??= new Map();
    this.#own.set(name, value);
  }

  delete(name: string): void {
    this.set(name, undefined);
  }

  *own(): Generator<[string, Value]> {
    for (const [name, value] of this.#own ?? []) if (value !== undefined) yield [name, value];
  }

  over(): Variables {
    return new Scope(this);
  }
}

export function scalar(text: string): Value {
  return { items: [text], array: false };
}

export function isConstant(node: PipelineNode, word: 'true' | 'false'): boolean {
  if (node.type !== 'Command' || node.args.length > 0 || node.redirects.length > 0) return false;
  return node.name?.text === word || (word === 'true' && node.name?.text === ':');
}

/** What `declare -n` says is kept under a name that no variable can have. */
export const reference = '-n ';

/** Set where a shell prints each command before it runs it; no variable can have this name. */
export const tracing = '-x ';
