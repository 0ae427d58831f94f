import type { StopRequest } from '../../drive/mailbox.ts';

/** Time from SIGTERM to the end of the agent: a service manager does not wait for hours. */
const termGraceMs = 10_000;

/** First signal: finish the iteration. Second, or ten seconds after a SIGTERM: stop the agent's tree now. */
export function listenForSignals(view: { signal(text: string): void }) {
  const finish = new AbortController();
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const onSignal = (signal: NodeJS.Signals): void => {
    if (finish.signal.aborted) {
      view.signal('Stopping the agent now...');
      stop.abort();
      return;
    }
    view.signal('Received signal, shutting down...');
    finish.abort('INTERRUPTED');
    if (signal !== 'SIGINT') timer = setTimeout(() => stop.abort(), termGraceMs);
  };

  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, onSignal);
  return {
    /** Aborts when the iteration should be the last; its reason is the outcome of the run. */
    finish: finish.signal,
    stop: stop.signal,
    /** Does the same for `ralph stop`. */
    ask(how: StopRequest) {
      if (!finish.signal.aborted) {
        view.signal(how === 'now' ? 'Asked to stop now...' : 'Asked to stop after this iteration...');
        finish.abort('CANCELLED');
      }
      if (how === 'now') stop.abort();
    },
    close() {
      clearTimeout(timer);
      for (const name of names) process.off(name, onSignal);
    },
  };
}
