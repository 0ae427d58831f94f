import { existsSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Outcome } from '../core/outcome.ts';
import { quoteWord } from '../core/words.ts';
import { ensureDir, readText, writeAtomic } from '../system/files.ts';
import { lastEvent } from './journal.ts';
import { answerPath, answersFolder, projectPaths, runPaths } from './paths.ts';
import { listRuns, readRun } from './runs.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Question = { readonly kind: 'blocked' | 'decide'; readonly text: string };

/** What the last run asked a human, if it did: a run of its own, or one of a PRD in this folder. */
export function openQuestion(cwd: string, prd = join(cwd, 'ralph')): Question | null {
  return questionIn(projectPaths(cwd).root) ?? askedIn(prd, cwd);
}

/** The folder of the PRD that the last run worked on; null where it was another kind of run. */
export function lastPrd(cwd: string): string | null {
  const run = listRuns(cwd).at(-1);
  const tasks = run === undefined ? null : readRun(cwd, run).view.tasks;
  return tasks === null ? null : dirname(resolve(cwd, tasks));
}

/** What to type after an answer, and after most ends; `prd` is the folder of the PRD, if it is one. */
export function goOnCommand(cwd: string, prd: string | null): string {
  if (prd === null) return 'ralph run --resume';
  const folder = relative(cwd, prd);
  if (folder === 'ralph') return 'ralph prd run';
  const word = /^[\w./-]+$/.test(folder) ? folder : quoteWord(folder);
  return `ralph prd run --ralph-dir ${word}`;
}

/** Keeps what the agent needs from a human; the file's name tells which kind it is. */
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

/** Keeps an answer for the next run. */
export function keepAnswer(env: Environment, cwd: string, text: string): void {
  const path = answerPath(env, cwd);
  ensureDir(dirname(path));
  const before = readText(path);
  writeAtomic(path, `${before ?? ''}${text.trim()}\n`);
}

/** Whether an answer waits for the next run. */
export function hasAnswer(env: Environment, cwd: string): boolean {
  return Boolean(readText(answerPath(env, cwd))?.trim());
}

/** Question and answer for the first prompt of a run; `forget` is called once they are in its journal. */
export function readAnswer(
  env: Environment,
  cwd: string,
  folder = projectPaths(cwd).root,
): { words: string[]; forget(): void } {
  // Most often there is no answer to anything.
  const path = existsSync(answersFolder(env)) ? answerPath(env, cwd) : null;
  const answer = path === null ? undefined : readText(path)?.trim();
  const own = folder === projectPaths(cwd).root;
  const question = own ? questionIn(folder) : askedIn(folder, cwd);
  // People write their answer into the files of a PRD: what stands there is told as it is.
  if (!answer && (own || !question)) return { words: [], forget: () => {} };
  return {
    words: [wordsOf(question, answer)],
    forget() {
      const files = [
        ...(path === null ? [] : [path]),
        questionPath(folder, 'blocked'),
        questionPath(folder, 'decide'),
      ];
      for (const file of files) rmSync(file, { force: true });
    },
  };
}

function wordsOf(question: Question | null, answer: string | undefined): string {
  if (!question) return answer ?? '';
  const asked = `You asked: ${question.text}`;
  return answer ? `${asked}\nThe answer: ${answer}` : `${asked}\nThe loop was started again since.`;
}

/** An agent may write such a file itself: it is a question only where the last run ended with one. */
function askedIn(folder: string, cwd: string): Question | null {
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
