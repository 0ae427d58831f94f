import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockOwner } from '../../../src/os/files/lock.ts';
import { waitUntil } from '../../support/processes.ts';
import { run } from '../fault.ts';
import { type Case, outputProblems, placesWith } from '../place.ts';

/** Writes down its iteration, once the test lets it. */
const agent = `#!/bin/sh
until [ -e go ]; do sleep 0.05; done
echo "$RALPH_ITERATION" >> ran.txt
`;

const openPlace = placesWith({ 'bin/agent': agent, 'repo/PROMPT.md': 'Do it.\n' });

/** The supervisor of a loop whose last one was killed: it picks the loop up and brings it to its end. */
export async function supervisorCase(): Promise<Case> {
  const place = openPlace();
  const env = { ...place.env, SWARM_TICK_MS: '60' };
  const socket = `fault-${randomUUID().slice(0, 8)}`;
  const swarm = (...words: string[]) => ({ ...place.command('swarm', ...words), env });
  const lock = join(place.home, '.swarm/supervisor.lock');
  const words = ['--name', 'a', '--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '2'];
  const spawned = await run(
    swarm('spawn', ...words, '--tmux-socket', socket, '--', join(place.root, 'bin/agent')),
  );
  if (spawned.code !== 0) throw new Error(spawned.stderr);
  process.kill((await waitUntil(() => lockOwner(lock)?.pid)) ?? 0, 'SIGKILL');
  writeFileSync(join(place.cwd, 'go'), '');
  const stateOf = () => JSON.parse(readFileSync(join(place.home, '.swarm/ralph/a/state.json'), 'utf8'));
  return {
    ...place,
    command: swarm('supervise'),
    close() {
      try {
        execFileSync('tmux', ['-L', socket, 'kill-server'], { stdio: 'ignore' });
      } catch {
        // Its last window was closed.
      }
      place.close();
    },
    async problems({ code, signal, stdout, stderr }, fault) {
      const problems = outputProblems(`${stdout}${stderr}`);
      if (fault === null && code !== 0) problems.push(`ended with ${code ?? signal}: ${stderr}`);
      await waitUntil(async () => (await run(swarm('ls'))).code === 0 && stateOf().status === 'stopped');
      const ran = existsSync(join(place.cwd, 'ran.txt'))
        ? readFileSync(join(place.cwd, 'ran.txt'), 'utf8')
        : '';
      if (ran !== '1\n2\n') problems.push(`iterations that ran: ${ran.split('\n').join(' ')}`);
      const { current_iteration: last, total_failures: failures } = stateOf();
      if (last !== 2 || failures !== 0) problems.push(`${last} iterations, ${failures} failures`);
      return problems;
    },
  };
}
