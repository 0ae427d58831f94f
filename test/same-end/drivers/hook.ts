import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { fireHook } from '../../support/hooks.ts';
import { type CaseSettings, check, type Driver, task, token } from '../case.ts';
import { endOfRun } from './journal.ts';
import { openSession, type SessionMessage } from './session.ts';

const noFigures = 'a stop hook is told no tokens and no cost';
const ownAgent = 'the host starts the agent, and ends it';
const onlyPromise = 'seed 000: done is the promise';

/** The stop hook of the Claude Code plugin (seed 000), called as the host does. */
export const hook: Driver = {
  differences: [
    { source: 'seed 000', what: 'iterations are re-injections, counted from 0', firstIteration: 0 },
    {
      source: 'DESIGN.md section 9',
      what: 'three turns without a tool call are stalled, whatever is set; nothing else is stuck',
      plan: (plan) => ({
        ...plan,
        limits: { ...plan.limits, withoutProgress: 0, withoutTools: 3, sameError: 0 },
      }),
    },
  ],
  lacks: {
    noGoal: onlyPromise,
    maxTokens: noFigures,
    maxIterationTokens: noFigures,
    maxCost: noFigures,
    maxIterationCost: noFigures,
    idleTimeout: ownAgent,
    iterationTimeout: ownAgent,
    busy: 'seed 000: each session has a loop of its own',
    'prompt file gone': 'seed 000: the task is a part of the command',
    'agent gone': ownAgent,
    response: onlyPromise,
    pattern: onlyPromise,
    guardrail: 'seed 000: a claim is checked by --verify alone',
    maxFailures: 'Claude Code calls no stop hook after an error',
    'failed turn': 'Claude Code calls no stop hook after an error',
    'provider limit': 'Claude Code calls no stop hook after an error',
    interrupt: 'Claude Code calls no hook at an interrupt; the loop is paused at the next prompt',
  },
  async play(played) {
    const session = await openSession(played);
    const transcript_path = session.path('..', 'transcript.jsonl');
    const env = { ...session.env, PATH: process.env.PATH ?? '' };
    const fire = async (event: string, extra: object) => {
      const input = { session_id: 's', cwd: session.cwd, transcript_path, ...extra };
      const { stdout, stderr } = await fireHook(event, input, { cwd: session.cwd, env });
      if (stderr !== '') throw new Error(stderr);
      return stdout === '' ? {} : JSON.parse(stdout);
    };
    await fire('UserPromptSubmit', { prompt: `/ralph-loop ${words(played.settings).join(' ')}` });
    for (let prompt = task; prompt !== undefined; ) {
      const { messages } = await session.turn(prompt);
      const lines: object[] = messages.map(transcriptEntry);
      append(transcript_path, lines);
      const { decision, reason } = await fire('Stop', {});
      prompt = decision === 'block' ? reason : undefined;
      append(transcript_path, [feedback(reason)]);
    }
    return endOfRun(join(session.home, '.local/state/ralph/sessions/runs'));
  },
};

function words({ maxIterations, match, verify, minToolCalls, maxTime }: CaseSettings): string[] {
  return [
    JSON.stringify(task),
    `--max-iterations ${maxIterations} --completion-promise ${token}`,
    ...(match ? [`--promise-match ${match}`] : []),
    ...(verify ? [`--verify '${check}'`] : []),
    ...(minToolCalls ? [`--min-tool-calls ${minToolCalls}`] : []),
    ...(maxTime ? [`--max-time ${maxTime}ms`] : []),
  ];
}

function transcriptEntry({ parent_tool_use_id, ...entry }: SessionMessage): object {
  return { isSidechain: parent_tool_use_id !== null, ...entry };
}

/** How the host writes down what the stop hook said. */
function feedback(reason: string): object {
  const message = { role: 'user', content: `Stop hook feedback:\n${reason}` };
  return { type: 'user', isMeta: true, isSidechain: false, message };
}

function append(path: string, entries: readonly object[]): void {
  appendFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}
