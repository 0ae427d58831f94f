import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openNetwork } from './network.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'network-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Variables = { readonly env?: Record<string, string>; readonly agentEnv?: Record<string, string> };

const cases: readonly [string, Variables, readonly string[]][] = [
  ['of the user', { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:8123/v1' } }, ['127.0.0.1:8123']],
  ['of the settings', { agentEnv: { ANTHROPIC_BASE_URL: 'http://localhost:8124' } }, ['localhost:8124']],
  ['that does not pass', { env: { OPENAI_BASE_URL: 'http://127.0.0.1:8123' } }, []],
  ['that is none', { env: { ANTHROPIC_BASE_URL: 'nowhere' } }, []],
];

it.each(cases)(
  'an address of a provider %s decides what is reached',
  async (_name, { env = {}, agentEnv = {} }, places) => {
    const network = await openNetwork({
      cwd: folder,
      env: { HOME: folder, ...env },
      agentEnv,
      agent: 'claude',
    });
    expect(network.forwards).toEqual(places);
    await network.close();
  },
);
