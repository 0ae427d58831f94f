import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Outcome } from '../core/outcome.ts';
import { ensureDir, readText, writeAtomic } from '../system/files.ts';
import { answerPath, projectPaths } from './paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the last run asked a human, if it did. */
export function openQuestion(cwd: string): { kind: 'blocked' | 'decide'; text: string } | null {
  const paths = projectPaths(cwd);
  const decide = readText(paths.decide)?.trim();
  if (decide) return { kind: 'decide', text: decide };
  const blocked = readText(paths.blocked)?.trim();
  return blocked ? { kind: 'blocked', text: blocked } : null;
}

/** Keeps what the agent needs from a human; the file's name tells which kind it is. */
export function keepQuestion(cwd: string, outcome: Outcome, text: string): string | null {
  const paths = projectPaths(cwd);
  if (outcome !== 'BLOCKED' && outcome !== 'NEEDS_DECISION') return null;
  ensureDir(paths.root, 0o755);
  const path = outcome === 'BLOCKED' ? paths.blocked : paths.decide;
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

/** Question and answer for the first prompt of a run; `forget` is called once they are in its journal. */
export function readAnswer(env: Environment, cwd: string): { words: string[]; forget(): void } {
  const paths = projectPaths(cwd);
  const path = answerPath(env, cwd);
  const answer = readText(path)?.trim();
  const question = openQuestion(cwd);
  if (!answer) return { words: [], forget: () => {} };
  return {
    words: [question ? `You asked: ${question.text}\nThe answer: ${answer}` : answer],
    forget() {
      for (const file of [path, paths.blocked, paths.decide]) rmSync(file, { force: true });
    },
  };
}
