import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { installFakeAgent } from '../../src/testkit/index.ts';
import { makeFleet } from '../fleet/swarm/fleet.ts';
import { bwrapWorks } from '../sandbox/support.ts';
import { repoWith, tag, work } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { startRalph } from '../support/ralph.ts';
import { actAs, everybody } from '../support/who.ts';

vi.setConfig({ testTimeout: 120_000 });

const task = 'Log in with PLANTED-WORD-51 and mend it.';
const waits = { shell: 'touch ready; while [ ! -e go ]; do sleep 0.05; done' };
const turn = { steps: [work, waits, { text: tag }] };
const words = ['-m', '2', '--completion-promise', 'DONE'];

/** Command lines on this machine that hold a part of the task. */
function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
    .filter((line) => line.includes('PLANTED-WORD'));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // It ended in between.
  }
}

describe.skipIf(process.platform !== 'linux')('while an agent works, no command line tells the task', () => {
  describe.each(everybody())('of a run, for $name', (who) => {
    actAs(who);

    it.each([['none'], ...(bwrapWorks(who) ? [['bwrap']] : [])])('with the sandbox %s', async (sandbox) => {
      const repo = await repoWith([turn]);
      const env = { ...repo.env, RALPH_SANDBOX_PATHS: JSON.stringify([`${repo.bin}:rw`]) };
      const run = startRalph(['run', '-p', task, '--sandbox', sandbox, ...words], { ...repo, env });
      await waitUntil(() => repo.exists('ready') || run.child.exitCode !== null);
      expect(commandLines(), run.output.stderr).toEqual([]);
      repo.write('go', '');
      expect((await run.done).code).toBe(0);
      const [call] = await repo.agent.calls();
      expect(JSON.stringify(call)).toContain('PLANTED-WORD-51');
    });

    it('that is resumed', async () => {
      const repo = await repoWith([{ steps: [work, { text: 'More.' }] }, turn]);
      await startRalph(['run', '-p', task, ...words.with(1, '1')], repo).done;
      const run = startRalph(['run', '--resume', '-m', '2'], repo);
      await waitUntil(() => repo.exists('ready') || run.child.exitCode !== null);
      expect(commandLines(), run.output.stderr).toEqual([]);
      repo.write('go', '');
      expect((await run.done).code).toBe(0);
    });
  });

  it('of a worker whose iterations are those of ralph run', async () => {
    const fleet = makeFleet({ files: { 'PROMPT.md': `${task}\n` } });
    await installFakeAgent(fleet.bin, { agent: 'claude', script: { turns: [turn] } });
    const loop = ['--name', 'a', '--ralph', '--run', '--prompt-file', 'PROMPT.md', '--max-iterations', '2'];
    const place = ['--tmux-socket', fleet.socket, '--completion-promise', 'DONE'];
    const spawned = await fleet.swarm('spawn', ...loop, ...place, '--', join(fleet.bin, 'claude'));
    expect(spawned, spawned.stderr).toMatchObject({ code: 0 });
    await waitUntil(() => fleet.exists('ready'), { timeoutMs: 60_000 });
    expect(commandLines()).toEqual([]);
    writeFileSync(fleet.path('go'), '');
    await fleet.until('a', 'stopped');
  });
});
