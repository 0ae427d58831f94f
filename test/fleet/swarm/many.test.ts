import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

/** One more than it takes to keep a client, because the first is finished before the second client comes. */
const count = 17;
/** Moves all the time, and is done when a file of its name is there. */
const spins = 'until [ -e "$SWARM_WORKER.go" ]; do i=$((i+1)); printf "\\r%s" "$i"; sleep 0.2; done';

async function spawnMany(fleet: TestFleet): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `w${index}`);
  const next = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const script = `${spins}; echo; echo "ALL FINISHED"; sleep 600`;
      expect(
        await fleet.loop(name, script, '--done-pattern', 'ALL FINISHED', '--check-done-continuous'),
      ).toMatchObject({ code: 0 });
    }
  };
  await Promise.all([next(), next(), next()]);
}

describe('a fleet of many windows', { timeout: 180_000 }, () => {
  it('is watched by a client that stays: nothing is missed with it, without it, or after it', async () => {
    // A busy machine lets a spinner stand still for a while, which must not count as calm.
    const fleet = makeFleet({}, 400);
    await spawnMany(fleet);
    const clients = () => fleet.tmux('list-clients', '-F', '#{client_control_mode}');
    await waitUntil(() => clients() === '1', { ...patience, what: 'the client' });
    const finish = async (name: string) => {
      writeFileSync(fleet.path(`${name}.go`), '');
      await fleet.until(name, 'stopped');
      expect(fleet.log(name).at(-1)).toBe('[DONE] loop complete after 1 iteration reason=done_pattern');
    };
    await finish('w0');

    // tmux has much to tell to a client that nobody listens to any more.
    const first = fleet.supervisor() ?? 0;
    process.kill(first, 'SIGSTOP');
    const session = fleet.worker('w0').tmux?.session ?? '';
    const own = fleet.tmux('new-window', '-d', '-P', '-F', '#{window_id}', '-t', `=${session}:`, 'sleep 600');
    writeFileSync(fleet.path('news'), `rename-window -t ${own} ${'n'.repeat(200)}\n`.repeat(5_000));
    fleet.tmux('source-file', fleet.path('news'));
    process.kill(first, 'SIGKILL');
    await waitUntil(() => clients() === '', { ...patience, what: 'the client to go with the supervisor' });
    await fleet.swarm('ls');
    await waitUntil(() => clients() === '1', { ...patience, what: 'the client of the next supervisor' });

    const window = fleet.tmux('list-windows', '-a', '-F', '#{window_name} #{window_id}');
    fleet.tmux('kill-window', '-t', /^w1 (@\d+)$/m.exec(window)?.[1] ?? '');
    await waitUntil(() => fleet.state('w1').current_iteration === 2, { ...patience, what: 'a new window' });

    fleet.tmux('detach-client', '-a');
    fleet.tmux('detach-client', '-s', fleet.worker('w2').tmux?.session ?? '');
    await waitUntil(() => clients() === '', { ...patience, what: 'the client to go' });
    await finish('w2');
    await finish('w3');

    expect(await fleet.swarm('kill', '--all')).toMatchObject({ code: 0 });
    await waitUntil(() => fleet.supervisor() === null, { ...patience, what: 'the end of the supervisor' });
    expect(clients()).toBe('');
  });
});
