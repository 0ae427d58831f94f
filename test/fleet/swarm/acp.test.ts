import { describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { work } from '../../support/agent.ts';
import { makeFleet } from './fleet.ts';

describe('a worker whose agent speaks the Agent Client Protocol', { timeout: 120_000 }, () => {
  it.each([
    ['by its name', ['--acp'], ['goose']],
    ['by its own words', ['--acp'], ['goose', 'acp']],
    ['by the command of --acp', ['--acp=goose acp'], ['goose']],
  ])('is one of ralph run, %s', async (_, options, command) => {
    const fleet = makeFleet();
    const turns = [{ steps: [{ text: 'more' }] }, { steps: [work, { text: '<promise>DONE</promise>' }] }];
    const agent = await installFakeAgent(fleet.bin, { agent: 'custom', name: 'goose', script: { turns } });
    const words = ['--name', 'agent', '--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '3'];
    const run = ['--run', '--completion-promise', 'DONE', '--permissions', 'full', ...options];
    const place = ['--tmux-socket', fleet.socket, '--wait', '--'];
    const { code, stdout } = await fleet.swarm('spawn', ...words, ...run, ...place, ...command);
    expect(code, stdout).toBe(0);
    expect((await agent.calls()).map(({ argv }) => argv)).toEqual([['acp'], ['acp']]);
  });
});
