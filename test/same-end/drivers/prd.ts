import { installFakeAgent, type Step } from '../../../src/testkit/index.ts';
import { aStory } from '../../core/review-examples.ts';
import { allowEdits, commits, edits, prdRepo, tasksJson } from '../../drive/prd/support.ts';
import { type Driver, finish, work } from '../case.ts';
import { playProcess } from './run.ts';
import { settingsFile } from './settings.ts';

const story = 'US-001';
const tasks = 'ralph/tasks.json';

/** `ralph prd run` (seed 002) over one story, which the step `finish` finishes. */
export const prd: Driver = {
  differences: [
    {
      source: 'seed 002',
      what: 'the task list is the evidence: its completion is a claim of its own, and tool calls are not counted',
      plan: (plan) => ({
        ...plan,
        minToolCalls: 0,
        completion: { ...plan.completion, tasks },
        limits: { ...plan.limits, withoutTools: 0 },
      }),
      turn: (turn, finished) => ({ ...turn, ...(finished ? { tasksDone: true } : {}) }),
      evidence: (finished) => ({ check: 'tasks', ok: finished, detail: '' }),
    },
    {
      source: 'seed 002',
      what: 'a turn without a word is tried again and is no iteration',
      plan: (plan) => ({ ...plan, retryEmpty: true }),
      turn: (turn) =>
        turn.text.length === 0 && turn.toolCalls === 0 && turn.end === 'finished'
          ? { ...turn, end: 'empty' }
          : turn,
    },
    {
      source: 'docs/prd.md',
      what: 'only iterations without a commit are stuck: whoever commits gets on',
      plan: (plan) => ({ ...plan, limits: { ...plan.limits, sameError: 0 } }),
    },
  ],
  lacks: {
    noGoal: 'seed 002: the goal is the task list',
    response: 'seed 002: done is <promise>COMPLETE</promise>',
    pattern: 'seed 002: done is <promise>COMPLETE</promise>',
    'prompt file gone': 'seed 002: the prompt is made for each story',
    minToolCalls: 'seed 002: the task list is the evidence',
  },
  async play(played) {
    const repo = prdRepo(tasksJson(aStory(story)));
    allowEdits(repo);
    const { maximumIterations: _max, ...settings } = settingsFile(played.settings);
    repo.write('.ralph/settings.json', JSON.stringify(settings));
    const deeds = new Map<Step, Step>([
      [work, commits()],
      [finish, { shell: `${finish.shell} && ${edits(story, { passes: true, notes: 'done' }).shell}` }],
    ]);
    const turns = played.turns.map((turn) => ({
      ...turn,
      steps: turn.steps.map((step) => deeds.get(step) ?? step),
    }));
    await installFakeAgent(repo.bin, { agent: 'claude', script: { turns } });
    const count = String(played.settings.maxIterations);
    return playProcess(['prd', 'run', '--skip-review', '--no-sandbox', '-n', count], played, repo);
  },
};
