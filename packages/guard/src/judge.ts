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
  const seen = new Set<string>();
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
      // Loops repeat effects on files; each is judged once.
      const key = effect.kind === 'act' ? '' : fileKey(effect);
      if (seen.has(key)) return;
      if (key !== '') seen.add(key);
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

function fileKey({ kind, how, recursive, path }: FileEffect): string {
  return `${kind} ${how} ${recursive} ${path}`;
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
    if (!(error instanceof Unparsable || error instanceof RangeError)) throw error;
    const reason =
      error instanceof Unparsable
        ? `this is no valid shell command (${error.message}). Write it in a simpler way.`
        : 'this takes too many steps to follow. Split it into several commands.';
    return { verdict, category: 'unparsable', reason };
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
  const later = start === -1 ? [] : steps.slice(start);
  return later.flatMap(({ words }) => words).join(' ');
}
