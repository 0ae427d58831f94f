import { judgeEffect } from './classify.ts';
import { PRIVATE, secretsIn, unmarked } from './marks.ts';
import type { Effect, FileEffect, Finding, GuardContext, Step, World } from './model.ts';
import { OwnFiles } from './own-files.ts';
import { resolvePath } from './paths.ts';
import { denial, wholeEnvironment } from './private.ts';
import { runSource, Unparsable, walk } from './run.ts';
import { newShell, workFor } from './shell.ts';
import { worst } from './verdicts.ts';

export type Judgement = Finding & { readonly effects: readonly Effect[]; readonly steps: readonly Step[] };

/** Ends the walk at the first denial. */
class Settled extends Error {}

/** Says whether a shell command may run: follows what it would do, up to the first effect that must not be. */
export function judgeCommand(command: string, context: GuardContext): Finding {
  const { verdict, category, reason } = follow(command, context, true);
  return { verdict, ...(category && { category }), ...(reason !== undefined && { reason }) };
}

export function followCommand(command: string, context: GuardContext): Judgement {
  return follow(command, context, false);
}

function follow(command: string, context: GuardContext, untilDenied: boolean): Judgement {
  const seen = new Seen();
  let finding: Finding = { verdict: 'allow' };
  const world: World = {
    context,
    walk,
    effects: [],
    steps: [],
    files: new OwnFiles(),
    fetched: new Map(),
    links: new Map(),
    gitAliases: new Map(),
    atExit: [],
    hasLoaded: false,
    work: workFor(command),
    note: (effect, step) => {
      world.effects.push(effect);
      step?.effects.push(effect);
      if (effect.kind !== 'act' && !seen.isNew(effect)) return;
      const judged = judgeEffect(effect, context);
      if (judged.verdict === 'allow') return;
      finding = worst([finding, judged]);
      if (untilDenied && finding.verdict === 'deny') throw new Settled();
    },
  };
  const trouble = walkCommand(unmarked(command), world);
  if (trouble) finding = worst([finding, trouble]);
  return { ...finding, effects: world.effects, steps: world.steps };
}

const kinds: readonly FileEffect['kind'][] = ['delete', 'write', 'read'];
const ways: readonly FileEffect['how'][] = ['create', 'append', 'overwrite', 'mode'];

/** Remembers file effects, so that loops judge each of them once. */
class Seen {
  readonly #done = new Map<string, number>();

  isNew({ kind, how, recursive, path }: FileEffect): boolean {
    const bit = 1 << (kinds.indexOf(kind) * 8 + ways.indexOf(how) * 2 + (recursive ? 1 : 0));
    const done = this.#done.get(path) ?? 0;
    if ((done & bit) !== 0) return false;
    this.#done.set(path, done | bit);
    return true;
  }
}

/** Says whether a file tool may do this to a path; a search reads all below it. */
export function judgeFile(
  kind: FileEffect['kind'],
  path: string,
  context: GuardContext,
  recursive = false,
): Finding {
  const full = resolvePath(unmarked(path).replace(/^~(?=\/|$)/, context.home), context.cwd);
  return judgeEffect({ kind, path: full, recursive, how: 'overwrite' }, context);
}

function walkCommand(command: string, world: World): Finding | null {
  const verdict = world.context.unattended ? 'deny' : 'warn';
  try {
    const output = runSource(command, newShell(world));
    judgeOutput(output + world.atExit.map((run) => run()).join(''), world);
    return null;
  } catch (error) {
    if (error instanceof Settled) return null;
    const category = 'unparsable';
    if (error instanceof Unparsable) {
      const reason = `this is no valid shell command (${error.message}). Write it in a simpler way.`;
      return { verdict, category, reason };
    }
    if (!(error instanceof RangeError)) throw error;
    const reason = 'this takes too many steps to follow. Split it into several commands.';
    return { verdict, category, reason };
  }
}

/** Denies secrets in the output, since the output ends up in the transcript. */
function judgeOutput(output: string, world: World): void {
  for (const name of new Set(secretsIn(output + traced(world))))
    world.note(denial('credentials', `prints the secret ${name}`, 'Use the variable without printing it.'));
  if (output.includes(PRIVATE)) world.note(wholeEnvironment(world, 'prints the whole environment'));
}

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
