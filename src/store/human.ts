import { rmSync } from 'node:fs';
import type { Outcome } from '../core/outcome.ts';
import { ensureDir, readText, writeAtomic } from '../system/files.ts';
import { projectPaths } from './paths.ts';

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
export function keepAnswer(cwd: string, text: string): void {
  const { root, answer } = projectPaths(cwd);
  ensureDir(root, 0o755);
  const before = readText(answer);
  writeAtomic(answer, `${before ?? ''}${text.trim()}\n`, { mode: 0o644 });
}

/** Question and answer for the first prompt of a run. Both files go once it is taken. */
export function takeAnswer(cwd: string): string[] {
  const paths = projectPaths(cwd);
  const answer = readText(paths.answer)?.trim();
  const question = openQuestion(cwd);
  if (!answer) return [];
  for (const path of [paths.answer, paths.blocked, paths.decide]) rmSync(path, { force: true });
  return [question ? `You asked: ${question.text}\nThe answer: ${answer}` : answer];
}
