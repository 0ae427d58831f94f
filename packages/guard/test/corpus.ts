import { readFileSync } from 'node:fs';
import type { GuardContext } from '../src/model.ts';

export type Case = {
  readonly command: string;
  readonly verdict: 'allow' | 'deny';
  readonly category: string;
  /** Moves a canary to where it can be had back, as `git stash` does: right, but not to be told from harm. */
  readonly keeps?: boolean;
};

/** The commands of the corpus; `quoted` only speak of something dangerous. */
export function readCorpus(name: 'harmful' | 'harmless' | 'quoted'): Case[] {
  const text = readFileSync(new URL(`corpus/${name}.jsonl`, import.meta.url), 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

/** Where the commands of the corpus are meant to run; the oracle's world looks the same. */
export const context: GuardContext = {
  cwd: '/home/dev/project',
  home: '/home/dev',
  projectRoot: '/home/dev/project',
  unattended: true,
  env: { ANTHROPIC_API_KEY: 'a secret' },
};

/** What runs in the oracle's world without a network, another machine or the machine itself. */
export function canBeProved({ category, keeps }: Case): boolean {
  return (
    !keeps &&
    /^(files|obfuscation|credentials|git|tamper|persistence|quoted-text|look-alike|everyday)$/.test(category)
  );
}
