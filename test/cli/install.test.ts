import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';

it.each([[], ['--dry-run']])('ralph install codex %j says that its hooks need trust', async (...flags) => {
  const repo = makeRepo({ files: { 'README.md': 'x\n' } });
  const { code, stdout } = await runRalph(['install', 'codex', ...flags.flat()], {
    cwd: repo.cwd,
    env: repo.env,
  });
  expect(code).toBe(0);
  expect(stdout).toContain('Codex skips hooks without a word until you trust them');
  expect(existsSync(repo.path('.codex/hooks.json'))).toBe(flags.flat().length === 0);
});
