import { RalphError } from '../../core/error.ts';
import { isQuestionOpen, keepAnswer, openQuestion } from '../../drive/human.ts';
import { isPaused, postNote, postPause, postStop } from '../../drive/mailbox.ts';
import { runningLoop } from '../../drive/process/ownership.ts';
import { cancelLoop } from '../../drive/session/control.ts';
import { readSessionLoop } from '../../drive/session/session-loops.ts';
import { locateRun, type SessionRun } from '../../drive/session/session-runs.ts';
import { goOnCommand } from '../../journal/next-command.ts';
import { latestRun, listRuns, readRun } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { isInsideRun } from '../../os/process/inside-run.ts';
import { ownLoop, requirePerson } from '../kernel/people.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions, stopOptions } from './options.ts';

export function note(context: Context, { args }: Input<typeof noOptions>): void {
  requirePerson(context.env);
  const { run } = loopHere(context);
  const text = args.join(' ').trim();
  if (text === '') throw new RalphError('usage', 'the note is empty', { remedy: 'ralph note "your words"' });
  postNote(context.env, run, text, systemClock.now());
  context.stdout.write(`run ${run} reads it in its next prompt\n`);
}

export function answer({ cwd, env, stdout }: Context, { args }: Input<typeof noOptions>): void {
  requirePerson(env);
  const question = openQuestion(cwd);
  if (question === null) throw nothingAsked(cwd);
  keepAnswer(env, cwd, args.join(' '));
  stdout.write(`run ${question.view.run} asked: ${question.text}\n`);
  stdout.write(`the next run starts with your answer: ${goOnCommand(question.view)}\n`);
}

function nothingAsked(cwd: string): RalphError {
  const runs = listRuns(cwd);
  const last = runs.at(-1);
  const asker = runs.findLast((run) => readRun(cwd, run).view.needs?.kind === 'answer');
  if (last === undefined || asker === undefined)
    return new RalphError('no-question', 'no run in this folder waits for an answer', {
      remedy: last === undefined ? 'ralph run -p "your task"' : `ralph show ${last}`,
    });
  const message =
    asker === last
      ? `the question of run ${asker} is gone`
      : `no run waits for an answer: run ${asker} asked, and run ${last} began since`;
  return new RalphError('no-question', message, { remedy: goOnCommand(readRun(cwd, asker).view) });
}

export async function pause(context: Context): Promise<void> {
  const { env, stdout } = context;
  const { run, isYielded } = loopHere(context);
  if (isInsideRun(env, run)) throw ownLoop('this is the loop that you work in: it does not wait for itself');
  const { pauseWorkerOf } = await import('../../fleet/control.ts');
  if ((await pauseWorkerOf(env, run, systemClock.now())) === null) {
    if (isYielded) throw notDriven(run, 'pause');
    postPause(env, run, true);
  }
  const state = isYielded ? 'is paused' : 'waits after this iteration';
  stdout.write(`run ${run} ${state}; ralph unpause lets it go on\n`);
}

export async function unpause(context: Context): Promise<void> {
  const { env, stdout } = context;
  requirePerson(env);
  const { run, isYielded } = loopHere(context);
  const { resumeWorkerOf } = await import('../../fleet/control.ts');
  const resumed = await resumeWorkerOf(env, run, systemClock.now(), programCommand('swarm'));
  if (resumed === null && isYielded) throw notDriven(run, 'resume');
  const wasPaused = resumed?.changed ?? isPaused(env, run);
  if (resumed === null) postPause(env, run, false);
  stdout.write(wasPaused ? `run ${run} goes on\n` : `run ${run} was not paused\n`);
}

const endsItself = 'this is the loop that you work in: it ends when its task is done';

export async function stop(context: Context, { values, args }: Input<typeof stopOptions>): Promise<void> {
  const wanted = args[0] === undefined ? null : locateRun(context.env, context.cwd, args[0]);
  if (wanted?.session) return stopSession(wanted.session, context);
  const { run, isYielded } = loopHere(context);
  if (wanted && wanted.run !== run) throw notRunning(wanted.run);
  if (isYielded) return stopWorker(context, run);
  if (isInsideRun(context.env, run)) throw ownLoop(endsItself);
  postStop(context.env, run, values.now ? 'now' : 'iteration');
  context.stdout.write(values.now ? `run ${run} stops now\n` : `run ${run} stops after this iteration\n`);
}

/** Between two iterations no process listens: the loop ends in the fleet. */
async function stopWorker({ env, stdout }: Context, run: string): Promise<void> {
  const { endWorkerOf } = await import('../../fleet/end-worker.ts');
  if (!(await endWorkerOf(env, run, systemClock.now()))) throw notDriven(run, 'stop');
  stdout.write(`run ${run} is stopped\n`);
}

/** A loop inside a session ends at once: its hook finds nothing any more, and lets the agent stop. */
function stopSession({ run, sessionId, status }: SessionRun, { env, stdout }: Context): void {
  if (status === 'ended') throw notRunning(run);
  if (env.CLAUDE_CODE_SESSION_ID === sessionId) throw ownLoop(endsItself);
  for (;;) {
    const read = readSessionLoop(env, sessionId);
    if (read.kind !== 'loop' || read.state.run !== run) throw notRunning(run);
    const message = cancelLoop(read.state, { env, now: systemClock.now });
    if (message === null) continue;
    stdout.write(`${message}\n`);
    return;
  }
}

function notRunning(run: string): RalphError {
  return new RalphError('no-loop', `run ${run} does not run any more, or not here`, { remedy: 'ralph runs' });
}

/** The loop of this working copy: one that runs, or one between two iterations (`isYielded`). */
function loopHere({ cwd, env }: Context): { readonly run: string; readonly isYielded: boolean } {
  const running = runningLoop(cwd);
  if (running) return { run: running.run, isYielded: false };
  const run = latestRun(cwd);
  if (run !== null && readRun(cwd, run).view.state === 'yielded') return { run, isYielded: true };
  const remedy = isQuestionOpen(env, cwd) ? 'ralph answer "your words"' : 'ralph runs';
  throw new RalphError('no-loop', 'no loop is running in this folder', { remedy });
}

/** The error for a run between two iterations whose supervisor is not on this machine, or not ours. */
function notDriven(run: string, action: 'pause' | 'resume' | 'stop'): RalphError {
  const message = `run ${run} is between two iterations: its supervisor starts the next one`;
  return new RalphError('no-loop', message, { remedy: `swarm ralph ls, then swarm ralph ${action} NAME` });
}
