import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../support/processes.ts';
import { makeFleet, patience } from './swarm/fleet.ts';

/** Works until the file `go` is there, and notes when it began and ended. */
const work = 'echo start >>log; until [ -e go ]; do sleep 0.05; done; echo end >>log';

describe('the limits of a fleet', () => {
  it('lets no more iterations run at once than it may, and loses none', async () => {
    const fleet = makeFleet();
    expect((await fleet.swarm('limits', '--max-parallel', '2')).stdout).toBe('at the same time: at most 2\n');
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await fleet.loop(name, work, '--max-iterations', '2');
    await waitUntil(() => started(fleet) === 2, patience);
    await waitUntil(async () => (await fleet.swarm('top')).stdout.includes('2 of 2 run)'), patience);
    expect((await fleet.swarm('top')).stdout.split('\n')[0]).toContain('2 of 2 running');
    expect(started(fleet)).toBe(2);
    fleet.write('go', '');
    for (const name of names) await fleet.until(name, 'stopped');
    expect(most(fleet.read('log'))).toBeLessThanOrEqual(2);
    expect(started(fleet)).toBe(8);
  }, 120_000);

  it('lets the waiting go when the limit is lifted', async () => {
    const fleet = makeFleet();
    await fleet.swarm('limits', '--max-parallel', '1');
    await fleet.loop('a', work);
    await fleet.loop('b', work);
    await waitUntil(() => started(fleet) === 1, patience);
    const lifted = await fleet.swarm('limits', '--unlimited');
    expect(lifted).toMatchObject({ code: 0, stdout: 'at the same time: any number of iterations\n' });
    await waitUntil(() => started(fleet) === 2, { ...patience, what: 'the second to start' });
  }, 120_000);

  it('takes a usage limit that an agent prints before it exits for one, not for a failure', async () => {
    const fleet = makeFleet();
    const path = join(fleet.bin, 'codex');
    const [hour, spoken] = sixHoursAfter(new Date().getHours());
    const text = `You’ve hit your usage limit. Upgrade to Pro or try again at ${spoken}.`;
    writeFileSync(path, `#!/bin/sh\ncat >/dev/null\necho "${text}"\nexit 1\n`, { mode: 0o755 });
    const loop = ['--name', 'one', '--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '3'];
    await fleet.swarm('spawn', ...loop, '--tmux-socket', fleet.socket, '--', path, 'exec');
    const said = async () => (await fleet.swarm('why', 'one')).stdout;
    const limited = new RegExp(`^one: usage limit until .*${hour}:53`);
    await waitUntil(async () => limited.test(await said()), patience);
    expect(fleet.state('one')).toMatchObject({ status: 'running', current_iteration: 0, total_failures: 0 });
  });

  it('makes all loops of an account wait for the usage limit that one of them met', async () => {
    // Looks far apart: whoever reads of the limit between two of them has to find the account held.
    const fleet = makeFleet({}, 1000);
    // Known by its name, it prints what Claude Code prints.
    const limit = `  ⎿  You've hit your limit · resets ${sixHoursAfter(new Date().getUTCHours())[1]} (UTC)`;
    const script = `case $SWARM_WORKER in first) echo "${limit}" ;; *) echo start >>log ;; esac\nsleep 600`;
    const path = join(fleet.bin, 'claude');
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const spawn = (name: string, ...more: string[]) => {
      const loop = ['--name', name, '--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '3'];
      return fleet.swarm('spawn', ...loop, '--tmux-socket', fleet.socket, ...more, '--', path);
    };
    const says = (name: string, text: string) =>
      waitUntil(async () => (await fleet.swarm('why', name)).stdout.includes(text), {
        ...patience,
        what: `${name}: ${text}`,
      });
    await spawn('first');
    await says('first', 'first: usage limit until');
    const limits = await fleet.swarm('limits');
    expect(limits.stdout).toMatch(
      /^at the same time: any number.*\naccount claude: usage limit until \d{4}-/,
    );
    // The iteration was cut by the limit, so that it does not count.
    expect(fleet.state('first')).toMatchObject({
      status: 'running',
      current_iteration: 0,
      total_failures: 0,
    });

    await spawn('second');
    await says('second', 'second: usage limit until');
    await spawn('third', '--account', 'another');
    await waitUntil(() => started(fleet) === 1, { ...patience, what: 'a loop of another account' });
    const wrong = await fleet.swarm('limits', '--release', 'nobody');
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("the account 'nobody'") });
    await fleet.swarm('limits', '--release', 'claude');
    await waitUntil(() => started(fleet) === 2, { ...patience, what: 'the second to start' });
  }, 120_000);
});

function started({ exists, read }: { exists(path: string): boolean; read(path: string): string }): number {
  return exists('log') ? read('log').split('start').length - 1 : 0;
}

/** Minute 53 of a later hour, as `19` and `7:53 PM`: a limit that ends while a test runs is none. */
function sixHoursAfter(now: number): readonly [hour: string, spoken: string] {
  const hour = (now + 6) % 24;
  return [String(hour).padStart(2, '0'), `${hour % 12 || 12}:53 ${hour < 12 ? 'AM' : 'PM'}`];
}

/** How many ran at the same time, at most. */
function most(log: string): number {
  let running = 0;
  let highest = 0;
  for (const line of log.trim().split('\n')) {
    running += line === 'start' ? 1 : -1;
    highest = Math.max(highest, running);
  }
  return highest;
}
