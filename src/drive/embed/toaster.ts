import { promiseTag } from '../../core/completion.ts';
import { messageOf } from '../../core/error.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { Log, RalphLoopState } from './embedded-loop.ts';
import type { Toast } from './types.ts';

export type LoopFacts = Pick<RalphLoopState, 'iteration' | 'maxIterations' | 'completionPromise'>;

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
    notice: (message: string) => show('Ralph Loop', message, 'info', 8000),
    warning: (title: string, message: string) => show(title, message, 'warning', 8000),
    noLoop: () => show('No Active Loop', 'No Ralph Loop is currently running', 'info', 8000),
    started({ maxIterations, completionPromise }: LoopFacts) {
      const message = `Max ${maxIterations} iterations. Complete with ${promiseTag(completionPromise)}`;
      show('Ralph Loop Started', message, 'info', 3000);
    },
    cancelled({ iteration }: LoopFacts) {
      show('Ralph Loop Cancelled', `Stopped at iteration ${iteration}`, 'info', 2000);
    },
    iteration({ iteration, maxIterations }: LoopFacts) {
      show('Ralph Loop', `Iteration ${iteration}/${maxIterations}`, 'info', 2000);
    },
    notContinued({ iteration }: LoopFacts, error: string) {
      const message = `Iteration ${iteration} could not be started: ${error}. It is tried again when the session is idle.`;
      show('Ralph Loop', message, 'error', 5000);
    },
    ended({ iteration, maxIterations }: LoopFacts, outcome: Outcome, because: string) {
      if (outcome === 'PROMISE_ACCEPTED') {
        show('Ralph Loop Complete!', `Task completed after ${iteration} iteration(s)`, 'success', 5000);
        return;
      }
      const message =
        outcome === 'MAX_ITERATIONS_REACHED'
          ? `Max iterations (${maxIterations}) reached without completion`
          : because;
      show('Ralph Loop Stopped', message, 'warning', 5000);
    },
  };
}
