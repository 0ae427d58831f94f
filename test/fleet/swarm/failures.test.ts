import { describe, expect, it } from 'vitest';
import { makeFleet } from './fleet.ts';

describe('a loop whose agent fails', { timeout: 120_000 }, () => {
  it('consecutive failures trigger backoff: 1, 2, 4 seconds, and a success starts the count anew', async () => {
    const fleet = makeFleet();
    const script = 'cat >/dev/null; echo x >>n.txt; [ "$(wc -l <n.txt)" -gt 2 ] || exit 1';
    await fleet.loop('agent', script, '--max-iterations', '4');
    expect(await fleet.until('agent', 'stopped')).toMatchObject({
      current_iteration: 4,
      consecutive_failures: 0,
      total_failures: 2,
    });
    const events = fleet.eventTexts('agent');
    expect(events).toContain('iteration 1 failed (exit: 1), retrying in 1s (attempt 1/5)');
    expect(events).toContain('iteration 2 failed (exit: 1), retrying in 2s (attempt 2/5)');
    expect(fleet.log('agent')).toContain('[FAIL] iteration 2 exit=1 attempt=2/5 backoff=2s');
    const at = (text: string) => fleet.events('agent').find((event) => event.text === text)?.at ?? 0;
    const waited =
      at('starting iteration 3/4') - at('iteration 2 failed (exit: 1), retrying in 2s (attempt 2/5)');
    expect(waited).toBeGreaterThanOrEqual(2000);
  });
});
