import { formatDuration } from '../../core/duration.ts';
import type { Style } from './style.ts';

type Output = { write(text: string): unknown; readonly isTTY?: boolean };

/** A line that counts down while the loop waits; only on a terminal. */
export function createCountdown(output: Output, now: () => number, style: Style) {
  let timer: NodeJS.Timeout | undefined;

  function stop(): void {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    output.write('\r\x1b[K');
  }

  return {
    start(ms: number): void {
      if (!output.isTTY) return;
      const until = now() + ms;
      const show = () => {
        const left = Math.max(0, Math.ceil((until - now()) / 1000) * 1000);
        const clock = new Date(until).toTimeString().slice(0, 8);
        output.write(`\r\x1b[K${style.dim(`${formatDuration(left)} left, until ${clock}`)}`);
      };
      show();
      timer = setInterval(show, 1000);
    },
    stop,
  };
}
