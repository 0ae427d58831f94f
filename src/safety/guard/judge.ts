import { judgeEffect } from './classify.ts';
import { PRIVATE, secretsIn, unmarked } from './marks.ts';
import type { Effect, Finding, GuardContext, Step, Verdict, World } from './model.ts';
import { resolvePath } from './paths.ts';
import { wholeEnvironment } from './private.ts';
import { runSource, TooLong, Unparsable } from './run.ts';
import { newShell } from './shell.ts';

export type Judgement = Finding & { readonly effects: readonly Effect[]; readonly steps: readonly Step[] };

const mostSteps = 20_000;
const order: readonly Verdict[] = ['allow', 'warn', 'deny'];

/** Says whether a shell command may run: follows what it would do, and judges each effect. */
export function judgeCommand(command: string, context: GuardContext): Judgement {
  const world: World = {
    context,
    effects: [],
    steps: [],
    files: new Map(),
    links: new Map(),
    gitAliases: new Map(),
    budget: mostSteps,
  };
  const trouble = walk(unmarked(command), world);
  let finding: Finding = { verdict: 'allow' };
  for (const effect of distinct(world.effects)) finding = worse(finding, judgeEffect(effect, context));
  if (trouble) finding = worse(finding, trouble);
  return { ...finding, effects: world.effects, steps: world.steps };
}

/** Loops repeat themselves: the same thing done to the same file is judged once. */
function distinct(effects: readonly Effect[]): Iterable<Effect> {
  const known = new Map<Effect | string, Effect>();
  for (const effect of effects) {
    const key =
      effect.kind === 'act' ? effect : `${effect.kind} ${effect.how} ${effect.recursive} ${effect.path}`;
    known.set(key, effect);
  }
  return known.values();
}

/** Says whether a file tool may write to a path. */
export function judgeFileWrite(path: string, context: GuardContext): Finding {
  const full = resolvePath(unmarked(path).replace(/^~(?=\/|$)/, context.home), context.cwd);
  return judgeEffect(
    { kind: 'write', path: full, recursive: false, how: 'overwrite', by: `write ${path}` },
    context,
  );
}

/** Says whether a file tool may read a path; a search reads all below it. */
export function judgeFileRead(path: string, context: GuardContext, recursive = false): Finding {
  const full = resolvePath(unmarked(path).replace(/^~(?=\/|$)/, context.home), context.cwd);
  return judgeEffect({ kind: 'read', path: full, recursive, how: 'overwrite', by: `read ${path}` }, context);
}

function walk(command: string, world: World): Finding | null {
  const verdict = world.context.unattended ? 'deny' : 'warn';
  try {
    seen(runSource(command, newShell(world)), world);
    return null;
  } catch (error) {
    if (error instanceof Unparsable) {
      return {
        verdict,
        category: 'unparsable',
        reason: `this is no valid shell command (${error.message}). Write it in a simpler way.`,
      };
    }
    if (error instanceof TooLong || error instanceof RangeError) {
      return {
        verdict,
        category: 'unparsable',
        reason: 'this takes too many steps to follow. Split it into several commands.',
      };
    }
    throw error;
  }
}

/** What ends up on the screen ends up in the transcript. */
function seen(output: string, world: World): void {
  const instead = 'Use the variable without printing it.';
  for (const name of new Set(secretsIn(output + traced(world)))) {
    world.effects.push({
      kind: 'act',
      category: 'credentials',
      verdict: 'deny',
      what: `prints the secret ${name}`,
      instead,
      by: `$${name}`,
    });
  }
  if (!output.includes(PRIVATE)) return;
  world.effects.push({
    kind: 'act',
    by: 'env',
    ...wholeEnvironment(world.context, 'prints the whole environment'),
  });
}

/** The words of all commands after `set -x`, which are printed too. */
function traced({ steps }: World): string {
  const start = steps.findIndex(
    ({ words }) => words[0] === 'set' && words.some((word) => /^-\w*x|^xtrace$/.test(word)),
  );
  return start === -1
    ? ''
    : steps
        .slice(start)
        .flatMap(({ words }) => words)
        .join(' ');
}

function worse(one: Finding, other: Finding): Finding {
  return order.indexOf(other.verdict) > order.indexOf(one.verdict) ? other : one;
}
