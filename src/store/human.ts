import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Outcome } from '../core/outcome.ts';
import { ensureDir, readText, writeAtomic } from '../system/files.ts';
import { answerPath, answersFolder, projectPaths } from './paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Question = { readonly kind: 'blocked' | 'decide'; readonly text: string };

/** What the last run asked a human, if it did: a run of its own, or one of a PRD. */
export function openQuestion(cwd: string): Question | null {
  return questionIn(projectPaths(cwd).root) ?? questionIn(join(cwd, 'ralph'));
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
  const question = questionIn(folder);
  const own = folder === projectPaths(cwd).root;
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
