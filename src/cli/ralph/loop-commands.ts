import { command } from '../kernel/spec.ts';
import * as options from './options.ts';

/** Commands around a running loop. */
export const loopCommands = {
  run: command({
    summary: 'Run the agent loop.',
    options: options.runOptions,
    examples: [
      ['ralph run -p "Fix the failing tests"', 'until the agent is done, 10 iterations at most'],
      ['ralph run -f PROMPT.md -m 30', 'the task from a file that you may edit meanwhile'],
      ['ralph run -p "Port to ESM" --completion-promise PORTED', 'done is <promise>PORTED</promise>'],
      ['ralph run -f PROMPT.md --verify "npm test" --max-cost 20', 'done only if the tests pass, for $20'],
      ['ralph run --resume', 'go on where the last run was stopped or killed'],
    ],
    details: 'The agent and the guardrails come from .ralph/settings.json (ralph init writes one).',
    load: () => import('./run.ts'),
  }),
  init: command({
    summary: 'Write .ralph/settings.json by asking a few questions.',
    options: options.initOptions,
    examples: [
      ['ralph init', 'answer a few questions'],
      ['ralph init --yes', 'take what is found in this folder'],
    ],
    isHere: true,
    load: () => import('./init.ts'),
  }),
  note: command({
    summary: 'Tell the agent of the running loop something, in its next prompt.',
    args: [{ name: 'TEXT', help: 'what to tell it', required: true, many: true }],
    options: options.noOptions,
    examples: [['ralph note "The API key is in .env.test"', 'from another terminal']],
    load: async () => ({ main: (await import('./control.ts')).note }),
  }),
  answer: command({
    summary: 'Answer what the last run asked; the next run starts with it.',
    args: [{ name: 'TEXT', help: 'the answer', required: true, many: true }],
    options: options.noOptions,
    examples: [['ralph answer "Use tabs" && ralph run --resume', 'after exit code 4']],
    load: async () => ({ main: (await import('./control.ts')).answer }),
  }),
  restore: command({
    summary: 'Put the files back to what they were after an iteration, without touching the branch.',
    args: [
      { name: 'RUN', help: 'a run id or its beginning, or latest', required: true },
      { name: 'N', help: 'the iteration; 0 is before the first', required: true },
    ],
    options: options.restoreOptions,
    examples: [
      ['ralph restore latest 3', 'asks first; git diff shows what it did'],
      ['ralph show latest --diff 4', 'what the iteration after it changed'],
    ],
    details: 'Refuses while a loop runs here and over work that is not committed: git stash -u keeps that.',
    load: () => import('./restore.ts'),
  }),
  stop: command({
    summary: 'Stop the loop that runs here, or one inside a session.',
    args: [{ name: 'RUN', help: 'a run id or its beginning; the loop of this folder if left out' }],
    options: options.stopOptions,
    examples: [
      ['ralph stop', 'when this iteration is over'],
      ['ralph stop 20260704-2315', 'a loop inside a session, which may be gone (ralph runs lists it)'],
      ['ralph stop --now', 'at once; ralph run --resume goes on later'],
    ],
    load: async () => ({ main: (await import('./control.ts')).stop }),
  }),
  pause: command({
    summary: 'Let the loop that runs here wait after this iteration.',
    options: options.noOptions,
    examples: [['ralph pause', 'ralph unpause lets it go on']],
    load: async () => ({ main: (await import('./control.ts')).pause }),
  }),
  unpause: command({
    summary: 'Let a paused loop go on.',
    options: options.noOptions,
    examples: [['ralph unpause', 'after ralph pause']],
    load: async () => ({ main: (await import('./control.ts')).unpause }),
  }),
};
