import { command } from '../kernel/spec.ts';
import { prdArchiveOptions, prdInitOptions, prdRunOptions, prdStatusOptions } from './options.ts';

/** `ralph prd` */
export const prdCommands = {
  'prd init': command({
    summary: 'Start a PRD: ralph/prd.md, tasks.json, progress.txt and prompt.md.',
    options: prdInitOptions,
    examples: [['ralph prd init --name login', 'on the branch ralph/login']],
    details: 'Files that are there stay as they are; --force writes over them.',
    isHere: true,
    load: async () => ({ main: (await import('./files.ts')).init }),
  }),
  'prd run': command({
    summary: 'Work off the stories of a PRD: implement, review, fix, until every story is approved.',
    options: prdRunOptions,
    examples: [
      ['ralph prd run', '15 iterations at most, each with a fresh agent'],
      ['ralph prd run -n 40 --model opus --review-cap 3', 'more iterations, fewer reviews of a story'],
      ['ralph prd run --skip-review', 'no reviews, for work of little consequence'],
      ['ralph prd run --agent codex --verify "npm test"', 'another agent, and a check at the end'],
    ],
    details: 'Exit code 0 when every story is done, 1 when the iterations ran out. See docs/prd.md.',
    load: () => import('./run.ts'),
  }),
  'prd status': command({
    summary: 'Show the stories of a PRD: where each stands, its reviews, and how many are left.',
    options: prdStatusOptions,
    examples: [
      ['ralph prd status', 'the board'],
      ['ralph prd status --json', 'the same for scripts'],
    ],
    load: async () => ({ main: (await import('./status.ts')).status }),
  }),
  'prd validate': command({
    summary: 'Check tasks.json: its fields, its dependencies and its reviews.',
    options: prdStatusOptions,
    examples: [['ralph prd validate && ralph prd run', 'exit code 1 if something is wrong']],
    load: async () => ({ main: (await import('./status.ts')).validate }),
  }),
  'prd archive': command({
    summary: 'Move a finished PRD to ralph-archive/, commit it, and start over.',
    options: prdArchiveOptions,
    examples: [['ralph prd archive --label login --include-logs', 'with the logs of its iterations']],
    load: async () => ({ main: (await import('./files.ts')).archive }),
  }),
};
