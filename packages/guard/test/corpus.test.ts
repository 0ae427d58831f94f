import { describe, expect, it } from 'vitest';
import { loadRarePrograms } from '../src/commands/all.ts';
import { judgeCommand } from '../src/judge.ts';
import { context, readCorpus } from './corpus.ts';

await loadRarePrograms();

const judged = (name: 'harmful' | 'harmless' | 'quoted') =>
  readCorpus(name).map(({ command }) => ({ command, verdict: judgeCommand(command, context).verdict }));

describe('the corpus', () => {
  it('is large enough to mean something', () => {
    expect(readCorpus('harmful').length).toBeGreaterThan(600);
    expect(readCorpus('harmless').length).toBeGreaterThan(400);
    expect(readCorpus('quoted').length).toBeGreaterThan(80);
  });

  it('has each command once', () => {
    const commands = (['harmful', 'harmless', 'quoted'] as const)
      .flatMap((name) => readCorpus(name))
      .map(({ command }) => command);
    expect(commands.length).toBe(new Set(commands).size);
  });

  it('has every harmful command denied', () => {
    expect(judged('harmful').filter(({ verdict }) => verdict !== 'deny')).toEqual([]);
  });

  it('has no harmless command denied', () => {
    expect(judged('harmless').filter(({ verdict }) => verdict === 'deny')).toEqual([]);
  });

  it('has no command denied for what it only speaks of', () => {
    expect(judged('quoted').filter(({ verdict }) => verdict === 'deny')).toEqual([]);
  });
});
