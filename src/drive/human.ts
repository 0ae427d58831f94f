import { dirname, join, resolve } from 'node:path';
import { answerPath, answersFolder, projectPaths, runPaths } from '../config/paths.ts';
import type { Outcome } from '../core/outcome.ts';
import { lastEvent } from '../journal/journal.ts';
import type { RunView } from '../journal/run-view.ts';
import { listRuns, readRun } from '../journal/runs.ts';
import { ensureDir, isFolder, readText, removeIfThere, writeAtomic } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';

type Question = { readonly kind: 'blocked' | 'decide'; readonly text: string };

const kinds: Partial<Record<Outcome, Question['kind']>> = { BLOCKED: 'blocked', NEEDS_DECISION: 'decide' };

/** Returns the question that the last run ended with, and that run; null if there is none. */
export function openQuestion(cwd: string): (Question & { readonly view: RunView }) | null {
  const run = listRuns(cwd).at(-1);
  // The last event is enough to see that most runs ask nothing.
  if (run === undefined || questionKind(cwd, run) === null) return null;
  const { view } = readRun(cwd, run);
  const folder = view.tasks === null ? projectPaths(cwd).root : dirname(resolve(cwd, view.tasks));
  const question = questionIn(cwd, folder);
  return question === null ? null : { ...question, view };
}

/** True if the last run ended with a question that nobody has answered. */
export function isQuestionOpen(env: Environment, cwd: string): boolean {
  return openQuestion(cwd) !== null && !readText(answerPath(env, cwd))?.trim();
}

/** Writes the agent's question to a human to a file named after its kind. */
export function keepQuestion(cwd: string, outcome: Outcome, text: string, folder = projectPaths(cwd).root) {
  const kind = kinds[outcome];
  if (kind === undefined) return null;
  ensureDir(folder, 0o755);
  const path = questionPath(folder, kind);
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

/** Reads question and answer for the first prompt of a run. Call `forget` once they are in its journal. */
export function readAnswer(
  env: Environment,
  cwd: string,
  folder = projectPaths(cwd).root,
): { words: string[]; forget(): void } {
  // Most runs have no answer.
  const path = isFolder(answersFolder(env)) ? answerPath(env, cwd) : null;
  const answer = path === null ? undefined : readText(path)?.trim();
  const none = { words: [], forget: () => {} };
  if (!answer && folder === projectPaths(cwd).root) return none;
  const question = questionIn(cwd, folder);
  // People write their answer into the files of a PRD, so their text is passed on as it is.
  if (!answer && !question) return none;
  return {
    words: [wordsOf(question, answer)],
    forget() {
      if (path !== null) removeIfThere(path);
      for (const kind of Object.values(kinds)) removeIfThere(questionPath(folder, kind));
    },
  };
}

function wordsOf(question: Question | null, answer: string | undefined): string {
  if (!question) return answer ?? '';
  const intro = `You asked: ${question.text}`;
  return answer ? `${intro}\nThe answer: ${answer}` : `${intro}\nThe loop was started again since.`;
}

/** Returns the question in a folder. An agent may write such a file: it counts only if the last run ended with a question. */
function questionIn(cwd: string, folder: string): Question | null {
  const run = listRuns(cwd).at(-1);
  const kind = run === undefined ? null : questionKind(cwd, run);
  const text = kind === null ? null : readText(questionPath(folder, kind))?.trim();
  return kind !== null && text ? { kind, text } : null;
}

function questionKind(cwd: string, run: string): Question['kind'] | null {
  const end = lastEvent(runPaths(cwd, run).journal);
  return (end?.type === 'run.ended' && kinds[end.outcome]) || null;
}

function questionPath(folder: string, kind: Question['kind']): string {
  return join(folder, `${kind}.txt`);
}
