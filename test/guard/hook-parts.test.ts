import { createRequire } from 'node:module';
import { beforeAll, expect, it } from 'vitest';
import { programNames } from '../../src/safety/guard/commands/all.ts';
import { guardHook } from '../../src/safety/guard/hook.ts';
import { makeTempDir, removeTempDir } from '../../src/system/temp.ts';
import { readCorpus } from './corpus.ts';

const rules = '../../plugins/claude-code/hooks/guard-rules.cjs';
let built: { guardHook: typeof guardHook };

beforeAll(() => {
  built = createRequire(import.meta.url)(rules);
});

/** What both say to a command: the source, and the files that the hook loads part by part. */
function answers(command: string, cwd: string) {
  const input = { tool_name: 'Bash', tool_input: { command }, cwd };
  const env = { HOME: '/home/dev', RALPH_RUN_ID: 'test', RALPH_GUARD: 'always' };
  return [guardHook, built.guardHook].map((judge) => judge(input, env));
}

it('says the same of every command in parts as it does as a whole', () => {
  const cwd = makeTempDir('ralph-guard-parts-');
  try {
    const gathered = (['harmful', 'harmless', 'quoted'] as const).flatMap(readCorpus);
    const called = programNames().flatMap((name) => [`${name} -rf /etc/x`, `${name} < "$HOME/x" | ${name}`]);
    for (const command of [...gathered.map((one) => one.command), ...called]) {
      const [whole, parts] = answers(command, cwd);
      expect(parts, command).toEqual(whole);
    }
  } finally {
    removeTempDir(cwd);
  }
});
