import { promiseTag } from '../../core/completion.ts';
import { messageOf } from '../../core/error.ts';
import type { Reason } from '../../core/loop.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { Log, RalphLoopState } from './embedded-loop.ts';
import type { Toast } from './types.ts';

export type Toaster = ReturnType<typeof createToaster>;

/** Creates the toasts of a loop. They never wait for the host, and its failures are only logged. */
export function createToaster(showToast: ((toast: Toast) => void | Promise<void>) | undefined, log: Log) {
  function show(title: string, message: string, variant: Toast['variant'], duration: number): void {
    try {
      Promise.resolve(showToast?.({ title, message, variant, duration })).catch(logFailure);
    } catch (error) {
      logFailure(error);
    }
  }

  function logFailure(error: unknown): void {
    log.warn('[ralph-loop] A toast failed', { error: messageOf(error) });
  }

  return {
    started({ maxIterations, completionPromise }: RalphLoopState) {
      const message = `Max ${maxIterations} iterations. Complete with ${promiseTag(completionPromise)}`;
      show('Ralph Loop Started', message, 'info', 3000);
    },
    cancelled({ iteration }: RalphLoopState) {
      show('Ralph Loop Cancelled', `Stopped at iteration ${iteration}`, 'info', 2000);
    },
    iteration({ iteration, maxIterations }: RalphLoopState) {
      show('Ralph Loop', `Iteration ${iteration}/${maxIterations}`, 'info', 2000);
    },
    notContinued({ iteration }: Pick<RalphLoopState, 'iteration'>, error: string) {
      const message = `Iteration ${iteration} could not be started: ${error}. It is tried again when the session is idle.`;
      show('Ralph Loop', message, 'error', 5000);
    },
    ended({ iteration, maxIterations }: RalphLoopState, outcome: Outcome, because: Reason) {
      if (outcome === 'PROMISE_ACCEPTED') {
        show('Ralph Loop Complete!', `Task completed after ${iteration} iteration(s)`, 'success', 5000);
        return;
      }
      const message =
        outcome === 'MAX_ITERATIONS_REACHED'
          ? `Max iterations (${maxIterations}) reached without completion`
          : because.text;
      show('Ralph Loop Stopped', message, 'warning', 5000);
    },
  };
}
