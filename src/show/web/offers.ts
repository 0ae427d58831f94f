import type { Action } from './actions.ts';
import type { LoopSource } from './sources.ts';
import { isLive, type Status } from './summary.ts';

/** An action that fits the state of a loop, with the question to confirm it. */
export type Offer = { readonly action: Action['action']; readonly ask: string };

export function offersFor(source: LoopSource, status: Status): Offer[] {
  if (!isLive(status)) return [];
  const { name, kind, worker } = source;
  const hold: Offer =
    status === 'paused'
      ? { action: 'resume', ask: `Let ${name} go on?` }
      : { action: 'pause', ask: `Pause ${name} after the iteration that runs?` };
  if (kind === 'session') return sessionOffers(name, status);
  if (worker === null) {
    if (status === 'needs-you')
      return [{ action: 'answer', ask: `Answer what ${name} asks; the next run starts with it:` }];
    return [note(name), hold, { action: 'stop', ask: `Stop ${name} after the iteration that runs?` }];
  }
  const ask = `Stop ${name} at once? What runs in it is ended, its iteration is not finished.`;
  const stop: Offer = { action: 'stop', ask };
  const talk = talkOffer(source, status);
  if (worker.loop === null) return [...talk, stop];
  const canHold = status !== 'needs-you' || worker.loop.status === 'running';
  return [...talk, ...(canHold ? [hold] : []), stop];
}

/** A session can only be resumed from its own prompt. */
function sessionOffers(name: string, status: Status): Offer[] {
  const stop: Offer = { action: 'stop', ask: `End the loop ${name}? Its session stays as it is.` };
  if (status === 'paused') return [stop];
  const pause: Offer = { action: 'pause', ask: `Pause ${name}? Its session stays as it is.` };
  return status === 'needs-you' ? [] : [pause, stop];
}

/** Into a loop on another machine nobody can type, and one with a journal takes word only once it has begun. */
function talkOffer({ name, worker, run, hasTerminal }: LoopSource, status: Status): Offer[] {
  const isRun = worker?.loop?.options.run !== undefined;
  if (worker?.told !== undefined || (isRun ? run === null : !hasTerminal)) return [];
  const typing = `Type this into the terminal of ${name}, and Enter after it:`;
  if (status !== 'needs-you' || worker?.loop === null)
    return [isRun ? note(name) : { action: 'note', ask: typing }];
  return [{ action: 'answer', ask: isRun ? `Answer what ${name} asks; it goes on with it:` : typing }];
}

function note(name: string): Offer {
  return { action: 'note', ask: `Tell ${name} something, in its next prompt:` };
}
