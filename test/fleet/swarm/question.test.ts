import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/processes.ts';
import { makeFleet, patience, type TestFleet } from './fleet.ts';

/** Asks as an agent does at its first start, and works when it gets an answer. */
const asks =
  'printf "Trust this folder? [y/N] "; read answer </dev/tty; echo "$answer" >>answers.txt; exit 0';
const question = 'needs you: waits for your answer (Trust this folder? [y/N])';

describe('a question on the screen of a worker', { timeout: 120_000 }, () => {
  it('pauses the loop as long as it is there, however long, and the loop goes on when it is answered', async () => {
    const fleet = makeFleet({
      files: { 'PROMPT.md': 'Work.\n' },
      settings: { notify: { command: ['node', '-e', tells] } },
    });
    await fleet.loop('a', asks, '--max-iterations', '2', '--inactivity-timeout', '1');
    await fleet.until('a', 'paused');
    // Far more looks than it takes to end a silent agent: they are told by another worker that falls silent.
    await fleet.loop('silent', 'sleep 600', '--max-iterations', '3', '--inactivity-timeout', '1');
    await fleet.until('silent', 'stopped');

    expect(fleet.state('a')).toMatchObject({ status: 'paused', current_iteration: 1 });
    const say = async (...words: string[]) => (await fleet.swarm(...words)).stdout;
    await waitUntil(async () => (await say('ls')).includes(question), { ...patience, what: 'the list' });
    expect(await say('status', 'a')).toContain(`a: running (${question}, iteration 1/2, `);
    expect(await say('why', 'a')).toContain(`a: ${question}, for `);
    expect(await say('ralph', 'status', 'a')).toMatch(/^Status: paused$/m);
    expect(await say('ralph', 'status', 'a')).toContain(`Why: ${question}\n`);
    expect(await say('ralph', 'ls', '--status', 'paused')).toContain(question);
    expect(await say('top')).toContain('1 waits for you');
    expect(notices(fleet).filter((line) => line.startsWith('blocked'))).toEqual([`blocked ${question}`]);

    await fleet.swarm('send', 'a', 'y');
    await waitUntil(() => fleet.state('a').current_iteration === 2, {
      ...patience,
      what: 'the next iteration',
    });
    await fleet.until('a', 'paused');
    await fleet.swarm('send', 'a', 'n');
    await fleet.until('a', 'stopped');
    expect(fleet.read('answers.txt')).toBe('y\nn\n');
    expect(fleet.log('a').filter((line) => line.startsWith('[TIMEOUT]'))).toEqual([]);
    expect(fleet.state('a')).toMatchObject({ current_iteration: 2, total_failures: 0 });
  });

  it('is told as gone when the agent works on, which is watched for silence again', async () => {
    const fleet = makeFleet();
    const script =
      'printf "Trust this folder? [y/N] "; read answer </dev/tty; clear; echo working; sleep 600';
    await fleet.loop('a', script, '--max-iterations', '1', '--inactivity-timeout', '2');
    await fleet.until('a', 'paused');
    await fleet.swarm('send', 'a', 'y');
    await fleet.until('a', 'stopped');
    expect(fleet.eventTexts('a')).toEqual([
      'starting iteration 1/1',
      question,
      'resumed: the question is gone',
      'inactivity timeout (2s)',
      'loop complete after 1 iteration',
    ]);
    const log = fleet.log('a');
    expect(log).toContain('[PAUSE] loop paused reason=question');
    expect(log).toContain('[RESUME] loop resumed at iteration 1');
    expect(await fleet.swarm('ls')).toMatchObject({ stdout: expect.not.stringContaining('needs you') });
  });
});

const tells =
  "require('fs').appendFileSync('notices.txt', process.env.RALPH_NOTICE_KIND + ' ' + process.env.RALPH_NOTICE_BODY + '\\n')";

function notices(fleet: TestFleet): string[] {
  return fleet.exists('notices.txt') ? fleet.read('notices.txt').trimEnd().split('\n') : [];
}
