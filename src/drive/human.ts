import { dirname, join, relative, resolve } from 'node:path';
import { answerPath, answersFolder, projectPaths, runPaths } from '../config/paths.ts';
import type { Outcome } from '../core/outcome.ts';
import { quoteWord } from '../core/words.ts';
import { lastEvent } from '../journal/journal.ts';
import { listRuns, readRun } from '../journal/runs.ts';
import { ensureDir, isFolder, readText, removeIfThere, writeAtomic } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';

type Question = { readonly kind: 'blocked' | 'decide'; readonly text: string };

/** Returns the question of the last run to a human, by a plain run or one over a PRD in this folder; null if there is none. */
export function openQuestion(cwd: string, prd = join(cwd, 'ralph')): Question | null {
  return questionIn(projectPaths(cwd).root) ?? prdQuestion(prd, cwd);
}

/** Returns the folder of the PRD of the last run; null if it was a plain one. */
export function lastPrd(cwd: string): string | null {
  const run = listRuns(cwd).at(-1);
  const tasks = run === undefined ? null : readRun(cwd, run).view.tasks;
  return tasks === null ? null : dirname(resolve(cwd, tasks));
}

/** Returns the command that continues the loop; `prd` is the folder of its PRD, if it has one. */
export function goOnCommand(cwd: string, prd: string | null): string {
  if (prd === null) return 'ralph run --resume';
  const folder = relative(cwd, prd);
  if (folder === 'ralph') return 'ralph prd run';
  const word = /^[\w./-]+$/.test(folder) ? folder : quoteWord(folder);
  return `ralph prd run --ralph-dir ${word}`;
}

/** Writes the agent's question to a human to a file named after its kind. */
export function keepQuestion(
  cwd: string,
  outcome: Outcome,
  text: string,
  folder = projectPaths(cwd).root,
): string | null {
  if (outcome !== 'BLOCKED' && outcome !== 'NEEDS_DECISION') return null;
  ensureDir(folder, 0o755);
  const path = questionPath(folder, outcome === 'BLOCKED' ? 'blocked' : 'decide');
  writeAtomic(path, `${text.trim()}\n`, { mode: 0o644 });
  return path;
}

/** Stores an answer for the next run. */
export function keepAnswer(env: Environment, cwd: string, text: string): void {
  const path = answerPath(env, cwd);
  ensureDir(dirname(path));
  const before = readText(path);
  writeAtomic(path, `${before ?? ''}${text.trim()}\n`);
}

/** True if an answer waits for the next run. */
export function hasAnswer(env: Environment, cwd: string): boolean {
  return Boolean(readText(answerPath(env, cwd))?.trim());
}

/** Reads question and answer for the first prompt of a run. Call `forget` once they are in its journal. */
export function readAnswer(
  env: Environment,
  cwd: string,
  folder = projectPaths(cwd).root,
): { words: string[]; forget(): void } {
  // Most runs have no answer.
  const path = isFolder(answersFolder(env)) ? answerPath(env, cwd) : null;
  const answer = path === null ? undefined : readText(path)?.trim();
  const own = folder === projectPaths(cwd).root;
  const question = own ? questionIn(folder) : prdQuestion(folder, cwd);
  // People write their answer into the files of a PRD, so their text is passed on as it is.
  if (!answer && (own || !question)) return { words: [], forget: () => {} };
  return {
    words: [wordsOf(question, answer)],
    forget() {
      const files = [
        ...(path === null ? [] : [path]),
        questionPath(folder, 'blocked'),
        questionPath(folder, 'decide'),
      ];
      for (const file of files) removeIfThere(file);
    },
  };
}

function wordsOf(question: Question | null, answer: string | undefined): string {
  if (!question) return answer ?? '';
  const intro = `You asked: ${question.text}`;
  return answer ? `${intro}\nThe answer: ${answer}` : `${intro}\nThe loop was started again since.`;
}

/** Returns the question of a PRD's folder. An agent may write such a file: it counts only if the last run ended with a question. */
function prdQuestion(folder: string, cwd: string): Question | null {
  const outcome = lastOutcome(cwd);
  if (outcome !== 'BLOCKED' && outcome !== 'NEEDS_DECISION') return null;
  const kind = outcome === 'BLOCKED' ? 'blocked' : 'decide';
  const text = readText(questionPath(folder, kind))?.trim();
  return text ? { kind, text } : null;
}

function lastOutcome(cwd: string): Outcome | null {
  const run = listRuns(cwd).at(-1);
  const end = run === undefined ? null : lastEvent(runPaths(cwd, run).journal);
  return end?.type === 'run.ended' ? end.outcome : null;
}

function questionIn(folder: string): Question | null {
  for (const kind of ['decide', 'blocked'] as const) {
    const text = readText(questionPath(folder, kind))?.trim();
    if (text) return { kind, text };
  }
  return null;
}

function questionPath(folder: string, kind: Question['kind']): string {
  return join(folder, `${kind}.txt`);
}
