import { afterAll, describe, expect, it } from 'vitest';
import { type Case, canBeProved, readCorpus } from './corpus.ts';
import { Oracle, oracleWorks } from './oracle.ts';

/** `npm run test:guard` runs them all; otherwise every so many, which takes seconds instead of minutes. */
const share = process.env.GUARD_ORACLE === 'all' ? 1 : 55;
const some = (name: 'harmful' | 'harmless' | 'quoted') =>
  readCorpus(name)
    .filter(canBeProved)
    .filter((_, i) => i % share === 0);

describe.skipIf(!oracleWorks())('the corpus, really run', () => {
  const oracle = new Oracle();
  afterAll(() => oracle.close());

  /** Runs two at a time; answers with those that did harm. */
  async function harmfulOf(cases: readonly Case[]): Promise<{ command: string; harm: readonly string[] }[]> {
    const found: { command: string; harm: readonly string[] }[] = [];
    const left = [...cases];
    const work = async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const { harm } = await oracle.run(next.command);
        if (harm.length > 0) found.push({ command: next.command, harm });
      }
    };
    await Promise.all([work(), work()]);
    return found;
  }

  it('sees what a command does to the world', async () => {
    expect((await oracle.run('rm -rf ~/Documents')).harm).toEqual(['changed Documents/notes.txt']);
    expect((await oracle.run('base64 ~/.ssh/id_rsa')).harm).toEqual(['read out CANARY-KEY-4711']);
    expect((await oracle.run('git checkout -- src/work.ts')).harm).toEqual(['changed project/src/work.ts']);
    expect((await oracle.run('echo hi; ls -la ~; rm -rf dist')).harm).toEqual([]);
  });

  it('proves that no harmless command touches a canary', async () => {
    expect(await harmfulOf(some('harmless'))).toEqual([]);
  }, 1_200_000);

  it('proves that a command which only speaks of harm does none', async () => {
    expect(await harmfulOf(some('quoted'))).toEqual([]);
  }, 1_200_000);

  it('proves most of the harmful commands harmful', async () => {
    const cases = some('harmful');
    const proved = await harmfulOf(cases);
    // The others need a program or a service that is not here.
    expect(proved.length / cases.length).toBeGreaterThan(0.5);
  }, 1_200_000);
});
