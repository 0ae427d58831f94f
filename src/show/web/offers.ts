import type { LoopSource } from './sources.ts';
import type { Offer, Status } from './summary.ts';

/** Returns the actions that fit the state of a loop, each with the question to confirm it. */
export function offersFor(source: LoopSource, status: Status): Offer[] {
  if (source.kind === 'session') return sessionOffers(source.name, status);
  return source.worker === null ? runOffers(source.name, status) : workerOffers(source, status);
}

function runOffers(name: string, status: Status): Offer[] {
  const stop: Offer = { action: 'stop', ask: `Stop ${name} after the iteration that runs?` };
  const note: Offer = { action: 'note', ask: `Tell ${name} something, in its next prompt:` };
  switch (status) {
    case 'running':
    case 'waiting':
      return [note, pause(name), stop];
    case 'paused':
      return [note, resume(name), stop];
    case 'needs-you':
      return [{ action: 'answer', ask: `Answer what ${name} asks; the next run starts with it:` }];
    default:
      return [];
  }
}

/** A session can only be resumed from its own prompt. */
function sessionOffers(name: string, status: Status): Offer[] {
  const stop: Offer = { action: 'stop', ask: `End the loop ${name}? Its session stays as it is.` };
  if (status === 'paused') return [stop];
  const hold: Offer = { action: 'pause', ask: `Pause ${name}? Its session stays as it is.` };
  return status === 'running' || status === 'waiting' ? [hold, stop] : [];
}

function workerOffers(source: LoopSource, status: Status): Offer[] {
  const { name, worker } = source;
  const loop = worker?.loop ?? null;
  const stop: Offer = {
    action: 'stop',
    ask: `Stop ${name} at once? What runs in it is ended, its iteration is not finished.`,
  };
  if (status === 'done' || status === 'stopped' || status === 'failed') return [];
  const typing = `Type this into the terminal of ${name}, and Enter after it:`;
  const talks = talk(source, typing);
  if (loop === null) return [...talks, stop];
  if (status === 'needs-you') {
    const asks = loop.options.run === undefined ? typing : `Answer what ${name} asks; it goes on with it:`;
    const answer: Offer[] = talks.length === 0 ? [] : [{ action: 'answer', ask: asks }];
    return [...answer, ...(loop.status === 'running' ? [pause(name)] : []), stop];
  }
  return [...talks, status === 'paused' ? resume(name) : pause(name), stop];
}

/** Into a loop on another machine nobody can type, and one with a journal takes word only once it has begun. */
function talk({ name, worker, run, hasTerminal }: LoopSource, typing: string): Offer[] {
  if (worker?.told !== undefined) return [];
  if (worker?.loop?.options.run === undefined) return hasTerminal ? [{ action: 'note', ask: typing }] : [];
  return run === null ? [] : [{ action: 'note', ask: `Tell ${name} something, in its next prompt:` }];
}

function pause(name: string): Offer {
  return { action: 'pause', ask: `Pause ${name} after the iteration that runs?` };
}

function resume(name: string): Offer {
  return { action: 'resume', ask: `Let ${name} go on?` };
}
