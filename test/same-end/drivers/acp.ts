import { installFakeAgent } from '../../../src/testkit/index.ts';
import { makeRepo } from '../../support/repo.ts';
import { type Driver, task } from '../case.ts';
import { playProcess } from './run.ts';
import { settingsFile } from './settings.ts';

/** `ralph run` with an agent that speaks the Agent Client Protocol. */
export const acp: Driver = {
  differences: [
    {
      source: 'docs/acp.md',
      what: 'a failure is told by the error of the protocol, which has a message and no HTTP status',
      end: (end) => ({
        ...end,
        text: (end.text ?? '')
          .replace('failed: <promise>COMPLETE</promise>', 'failed: Internal error: failed')
          .replace('API Error: 402 ', ''),
      }),
    },
  ],
  lacks: {
    noGoal: 'seed 001: there is always a completion response',
    'agent gone': 'the step removes a program by another name',
  },
  async play(played) {
    const agent = { command: 'goose', protocol: 'acp', permissions: 'full' };
    const repo = makeRepo({
      files: { 'README.md': 'x\n', 'PROMPT.md': task },
      settings: { ...settingsFile(played.settings), agent },
    });
    await installFakeAgent(repo.bin, { agent: 'custom', name: 'goose', script: { turns: played.turns } });
    return playProcess(['run', '-f', 'PROMPT.md'], played, repo);
  },
};
