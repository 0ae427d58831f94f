import { command } from '../kernel/spec.ts';
import { noOptions, runOptions, stopOptions } from './options.ts';

export const run = command({
  summary: 'Run the agent loop.',
  options: runOptions,
  examples: [
    ['ralph run -p "Fix the failing tests"', 'until the agent is done, 10 iterations at most'],
    ['ralph run -f PROMPT.md -m 30', 'the task from a file that you may edit meanwhile'],
    ['ralph run -p "Port to ESM" --completion-promise PORTED', 'done is <promise>PORTED</promise>'],
    ['ralph run -f PROMPT.md --verify "npm test" --max-cost 20', 'done only if the tests pass, for $20'],
    ['ralph run --resume', 'go on where the last run was stopped or killed'],
  ],
  details: 'The agent and the guardrails come from .ralph/settings.json (ralph init writes one).',
  load: () => import('./run.ts'),
});

export const note = command({
  summary: 'Tell the agent of the running loop something, in its next prompt.',
  args: [{ name: 'TEXT', help: 'what to tell it', required: true, many: true }],
  options: noOptions,
  examples: [['ralph note "The API key is in .env.test"', 'from another terminal']],
  load: () => import('./note.ts'),
});

export const answer = command({
  summary: 'Answer what the last run asked; the next run starts with it.',
  args: [{ name: 'TEXT', help: 'the answer', required: true, many: true }],
  options: noOptions,
  examples: [['ralph answer "Use tabs" && ralph run --resume', 'after exit code 4']],
  load: () => import('./answer.ts'),
});

export const stop = command({
  summary: 'Stop the loop that runs here, or one inside a session.',
  args: [{ name: 'RUN', help: 'a run id or its beginning; the loop of this folder if left out' }],
  options: stopOptions,
  examples: [
    ['ralph stop', 'when this iteration is over'],
    ['ralph stop 20260704-2315', 'a loop inside a session, which may be gone (ralph runs lists it)'],
    ['ralph stop --now', 'at once; ralph run --resume goes on later'],
  ],
  load: () => import('./stop.ts'),
});

export const pause = command({
  summary: 'Let the loop that runs here wait after this iteration.',
  options: noOptions,
  examples: [['ralph pause', 'ralph unpause lets it go on']],
  load: async () => ({ main: (await import('./pause.ts')).pause }),
});

export const unpause = command({
  summary: 'Let a paused loop go on.',
  options: noOptions,
  examples: [['ralph unpause', 'after ralph pause']],
  load: async () => ({ main: (await import('./pause.ts')).unpause }),
});
