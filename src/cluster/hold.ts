import { isRalphError, messageOf } from '../core/error.ts';
import type { SealedEnd } from '../fleet/iteration-end.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import type { LoopEnd } from '../store/fleet-loops.ts';
import type { Clock } from '../system/clock.ts';
import { type Argv, type Partner, startPartner, sweepRun } from '../system/process.ts';
import { withoutMarks } from '../system/process-table.ts';
import type { Environment } from '../system/program.ts';
import type { Claim, Cluster, News, Next } from './cluster.ts';
import type { LoopJob } from './job.ts';
import type { FromRunner, MachineRules, ToRunner } from './messages.ts';
import { runIdOf } from './places.ts';

export type HoldSpec = {
  readonly cluster: Cluster;
  readonly rules: MachineRules;
  /** The program that runs a loop. */
  readonly runner: Argv;
  readonly env: Environment;
  readonly clock: Clock;
  /** No further iteration after the one that runs. */
  readonly leaving: AbortSignal;
  /** End the agent now. */
  readonly stop: AbortSignal;
  say(line: string): void;
};

/** How a machine and a loop parted. */
export type Parted = {
  readonly how: 'ended' | 'given-back' | 'lost';
  /** Another try here would not do better just now. */
  readonly rest: boolean;
};

const newsMs = 1000;
const retryMs = 500;
/** A runner that was told to end gets this long. */
const endMs = 20_000;

/**
 * Holds a loop from its claim to its end here. This process only talks, to the store and to the process that runs the
 * loop, so that the lease is renewed whatever that one does.
 */
export async function holdLoop(spec: HoldSpec, first: Claim): Promise<Parted> {
  const { cluster, clock, rules, say } = spec;
  const job = await jobOf(cluster, first);
  if (job === null) return { how: 'lost', rest: true };
  const { name } = first;
  const runId = runIdOf(rules.folder, name);
  let claim = first;
  let booking = false;
  let isOver = false;
  const news = collectNews(spec, () => claim);
  const words = wordsFrom(spec, runId, (message) => {
    if (message.type === 'shows') news.add({ tail: message.tail });
    if (message.type === 'tells') tell(message.event);
  });
  const { runner } = words;
  const tell = (event: FleetEvent) => {
    say(`${name}: ${event.text}`);
    news.add({ events: [event] });
  };
  const stop = () => runner.send(toRunner({ type: 'stop', why: 'the machine was told to end' }));
  spec.stop.addEventListener('abort', stop);
  // While an end is booked, the claim may be over in the store before we hear of it.
  const lease = keepLease(
    spec,
    () => (booking ? null : claim),
    words,
    () => {
      isOver = true;
    },
  );
  try {
    runner.send(toRunner({ type: 'begin', job, rules }));
    for (;;) {
      const { iteration, maxIterations } = claim;
      say(`${name}: iteration ${iteration}/${maxIterations}`);
      news.add({ why: { state: 'working', since: clock.now() } });
      runner.send(toRunner({ type: 'run', iteration }));
      if (spec.stop.aborted) stop();
      const answer = await words.answer();
      if (answer.type === 'gave-up') return await giveUp(answer);
      if (answer.found) tell(note(clock, `iteration ${iteration} was on the branch already`));
      const { head, carried } = answer;
      news.add(carried === undefined ? { head } : { head, carried });
      await news.flush();
      booking = true;
      const next = await book(answer.end);
      if (next === null) return { how: 'lost', rest: false };
      if (next.kind !== 'continue') {
        isOver = next.kind === 'ended';
        say(`${name}: ${next.kind === 'ended' ? endText(next.exitCode) : next.kind}`);
        return { how: 'ended', rest: false };
      }
      if (next.claim === null) return { how: 'given-back', rest: false };
      claim = next.claim;
      booking = false;
      if (spec.leaving.aborted) {
        await giveBack();
        return { how: 'given-back', rest: false };
      }
    }
  } finally {
    lease.end();
    spec.stop.removeEventListener('abort', stop);
    await news.close();
    // What has ended it may have been somebody else.
    const view = isOver ? await cluster.status(name).catch(() => null) : null;
    await words.close(view?.end ?? null);
  }

  /** A store that is away for a while does not lose what was done. */
  async function book(end: SealedEnd): Promise<Next | null> {
    const whole = { ...end, at: clock.now() };
    for (;;) {
      try {
        return await cluster.finishIteration(claim, whole);
      } catch (error) {
        if (isLost(error)) {
          tell(note(clock, `another machine has the loop: it books iteration ${claim.iteration}`));
          return null;
        }
        if (spec.stop.aborted) return null;
        await clock.sleep(retryMs, spec.stop);
      }
    }
  }

  async function giveUp(answer: Extract<FromRunner, { type: 'gave-up' }>): Promise<Parted> {
    const { because, why, kept } = answer;
    tell(note(clock, `iteration ${claim.iteration} did not come to its end here: ${why}`));
    if (kept !== null) tell({ at: clock.now(), type: 'kept', text: `its work is kept in ${kept}` });
    await news.flush();
    // A person has to put it right: nobody runs it in the meantime.
    if (because === 'impossible') await cluster.pause(name).catch(() => {});
    await giveBack();
    return { how: 'given-back', rest: because === 'unreachable' };
  }

  /** Where the store cannot be reached, the lease runs out by itself. */
  async function giveBack(): Promise<void> {
    await cluster
      .giveBack(claim)
      .catch((error) => say(`${name}: could not be given back: ${messageOf(error)}`));
  }
}

function endText(exitCode: number): string {
  return exitCode === 0 ? 'done' : `ended, not done (exit code ${exitCode})`;
}

async function jobOf(cluster: Cluster, { name }: Claim): Promise<LoopJob | null> {
  const [order, view, carried] = await Promise.all([
    cluster.order(name),
    cluster.status(name),
    cluster.carried(name),
  ]);
  if (order?.source === undefined || view === null) return null;
  const { command, cwd, env, settings, options, source } = order;
  const { max_iterations, done_pattern, inactivity_timeout } = settings;
  return {
    name,
    id: String(view.startedAt),
    ...source,
    command,
    cwd,
    env,
    settings: { max_iterations, done_pattern, inactivity_timeout },
    options,
    ...(carried === null ? {} : { carried }),
  };
}

type Answer = Extract<FromRunner, { type: 'ended' | 'gave-up' }>;

/** Starts the process that runs the loop. Its death is an answer, too. */
function wordsFrom(spec: HoldSpec, runId: string, hear: (message: FromRunner) => void) {
  const { clock, rules, say } = spec;
  const waiting: ((answer: Answer) => void)[] = [];
  const answers: Answer[] = [];
  let heardAt = clock.monotonic();
  const arrive = (answer: Answer) => {
    const next = waiting.shift();
    if (next) next(answer);
    else answers.push(answer);
  };
  const runner: Partner = startPartner(spec.runner, {
    cwd: '/',
    env: { ...forAgents(spec.env), RALPH_RUN_ID: runId },
    onMessage(message) {
      heardAt = clock.monotonic();
      const told = message as FromRunner;
      if (told.type === 'ended' || told.type === 'gave-up') arrive(told);
      else hear(told);
    },
    onStderr: (text) => say(text.trimEnd()),
  });
  const gone = runner.exited.then(async () => {
    await sweepRun(runId);
    arrive({ type: 'gave-up', because: 'stopped', why: 'the process that ran it has died', kept: null });
  });
  return {
    runner,
    answer: () => {
      const ready = answers.shift();
      return ready === undefined ? new Promise<Answer>((resolve) => waiting.push(resolve)) : ready;
    },
    /** It answers every renewal: one that is silent for the whole lease is frozen. */
    endIfSilent() {
      if (clock.monotonic() - heardAt > rules.leaseMs) runner.kill();
    },
    async close(end: LoopEnd | null) {
      runner.send(toRunner({ type: 'leave', end }));
      const cancel = clock.timer(endMs, () => runner.kill());
      await gone;
      cancel();
    },
  };
}

/** Renews four times in the time of a lease, and lets the runner know, which ends the agent where that stops. */
function keepLease(
  spec: HoldSpec,
  claim: () => Claim | null,
  words: ReturnType<typeof wordsFrom>,
  cancelled: () => void,
) {
  const { cluster, clock, rules } = spec;
  const over = new AbortController();
  const { runner } = words;
  void (async () => {
    while (!over.signal.aborted) {
      const asked = clock.monotonic();
      const current = claim();
      const answer = current === null ? null : await cluster.heartbeat(current).catch(() => null);
      if (over.signal.aborted) return;
      // An answer to what is over by now says nothing.
      const beat = claim() === current ? answer : null;
      if (beat?.kind === 'go-on') {
        runner.send(toRunner({ type: 'renewed', age: clock.monotonic() - asked }));
        words.endIfSilent();
      }
      if (beat?.kind === 'cancelled') {
        cancelled();
        runner.send(toRunner({ type: 'stop', why: 'somebody cancelled the loop' }));
      }
      if (beat?.kind === 'lost') runner.send(toRunner({ type: 'stop', why: 'another machine has the loop' }));
      await clock.sleep(Math.max(0, rules.leaseMs / 4 - (clock.monotonic() - asked)), over.signal);
    }
  })();
  return { end: () => over.abort() };
}

/** What the store is told, at most once in a while. */
function collectNews(spec: HoldSpec, claim: () => Claim) {
  const { cluster, clock } = spec;
  let waiting: News = {};
  let sending: Promise<void> = Promise.resolve();
  let cancel: (() => void) | null = null;

  async function send(): Promise<void> {
    const news = waiting;
    if (Object.keys(news).length === 0) return;
    waiting = {};
    await cluster.report(claim(), news).catch(() => {
      // The next one tells it, too.
      waiting = {
        ...news,
        ...waiting,
        events: [...(news.events ?? []), ...(waiting.events ?? [])].slice(-100),
      };
    });
  }

  const flush = () => {
    cancel?.();
    cancel = null;
    sending = sending.then(send);
    return sending;
  };
  return {
    add(news: News): void {
      waiting = { ...waiting, ...news, events: [...(waiting.events ?? []), ...(news.events ?? [])] };
      cancel ??= clock.timer(newsMs, () => void flush());
    },
    flush,
    close: flush,
  };
}

/** The address of the store, and its password, are none of an agent's business. */
function forAgents(env: Environment): Environment {
  const own = Object.entries(withoutMarks(env)).filter(([name]) => !name.startsWith('SWARM_ENGINE'));
  return Object.fromEntries(own);
}

function note(clock: Clock, text: string): FleetEvent {
  return { at: clock.now(), type: 'notice', text };
}

function isLost(error: unknown): boolean {
  return isRalphError(error) && error.code === 'claim-lost';
}

function toRunner(message: ToRunner): ToRunner {
  return message;
}
