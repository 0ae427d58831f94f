import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundle, bundleFakeAgent } from '../../test/testkit/run-fake.ts';

let folder = '';
let installFakeAgent: typeof import('./install.ts').installFakeAgent;

/** The library as it is shipped: lib/testkit.js with fake-agent.cjs one folder up. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "it's dist-"));
  mkdirSync(join(folder, 'lib'));
  const library = join(folder, 'lib', 'testkit.mjs');
  bundle('install.ts', library, 'esm');
  ({ installFakeAgent } = await import(pathToFileURL(library).href));
});

describe('installFakeAgent', () => {
  it('says what to do when the program is not built', async () => {
    const script = { turns: [{ steps: [] }] };
    await expect(installFakeAgent(folder, { agent: 'claude', script })).rejects.toMatchObject({
      message: 'The fake agent is not built: dist/fake-agent.cjs is missing.',
      remedy: 'run npm run build',
    });
  });

  it('puts an agent on the path that plays its script and remembers its calls', async () => {
    copyFileSync(bundleFakeAgent(), join(folder, 'fake-agent.cjs'));
    const bin = join(folder, 'bin');
    const steps = [{ child: { seconds: 0 } }, { text: 'hello' }];
    const agent = await installFakeAgent(bin, { agent: 'claude', script: { turns: [{ steps }] } });
    expect(agent.turn()).toBe(0);
    expect(await agent.calls()).toEqual([]);

    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    const stdout = execFileSync('claude', ['-p', 'do it'], {
      env,
      cwd: folder,
      encoding: 'utf8',
      input: 'now',
    });
    expect(stdout).toBe('hello\n');
    expect(agent.turn()).toBe(1);
    expect(await agent.calls()).toMatchObject([
      { turn: 1, argv: ['-p', 'do it'], prompt: 'do it\nnow', cwd: folder },
    ]);
    expect(agent.children()).toHaveLength(1);
  });

  it('gives the agent another name, so that two can stand side by side', async () => {
    const script = (text: string) => ({ turns: [{ steps: [{ text }] }] });
    const one = await installFakeAgent(folder, { agent: 'custom', name: 'one', script: script('1') });
    const two = await installFakeAgent(folder, { agent: 'custom', name: 'two', script: script('2') });
    expect([one, two].map(({ path }) => execFileSync(path, { encoding: 'utf8', input: '' }))).toEqual([
      '1\n',
      '2\n',
    ]);
  });

  it('refuses a script that is wrong before it writes anything', async () => {
    const script = { turns: [] };
    await expect(installFakeAgent(folder, { agent: 'claude', script })).rejects.toThrow('at least one entry');
  });
});
