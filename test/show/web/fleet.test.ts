import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { makeFleet, patience, type TestFleet } from '../../fleet/swarm/fleet.ts';
import { work } from '../../support/agent.ts';
import { waitUntil } from '../../support/processes.ts';
import { openBrowser, openTab } from './browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

/** The page of a worker, served by `swarm dashboard --control`. */
async function openWorker(fleet: TestFleet, name: string) {
  const server = fleet.start('dashboard', '--no-open', '--control', '--port', '0');
  const url = await waitUntil(() => /http:\S+\n/.exec(server.output.stdout)?.[0].trim() ?? '', patience);
  const { page, problems } = await openTab(browser, url);
  await page.locator(`[data-id="worker:${name}"]`).click();
  await page.locator('.loop-title .pill').waitFor();
  return { page, problems };
}

/** Presses a button, reads what it asks, and says yes. */
async function press(page: Page, name: string, asks: string, words?: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
  await page.locator('dialog').getByText(asks).waitFor();
  if (words !== undefined) await page.locator('dialog textarea').fill(words);
  await page.locator('dialog button.primary').click();
  await page.locator('dialog').waitFor({ state: 'detached' });
}

const pill = (page: Page, status: string) => page.locator(`.loop-title .pill.${status}`).waitFor();

describe('the page of a worker', { timeout: 180_000 }, () => {
  it('shows its terminal live, types into it, and pauses, resumes and stops its loop', async () => {
    const fleet = makeFleet();
    const script = [
      'echo "iteration $SWARM_ITERATION is ready for words"; read line </dev/tty; echo "heard [$line]"',
      'printf "%s\\n" "$line" >> said.txt; while [ ! -e go ]; do sleep 0.1; done',
    ];
    await fleet.loop('term', script.join('\n'));
    const { page, problems } = await openWorker(fleet, 'term');
    await page.locator('.terminal', { hasText: 'ready for words' }).waitFor();
    const words = 'use "net" $(touch owned) ; always';
    await press(page, 'Note', 'Type this into the terminal of term', words);
    await page.locator('.terminal', { hasText: `heard [${words}]` }).waitFor();
    await waitUntil(() => fleet.exists('said.txt') && fleet.read('said.txt') === `${words}\n`, patience);
    expect(fleet.exists('owned')).toBe(false);

    await press(page, 'Pause', 'Pause term after the iteration that runs?');
    await pill(page, 'paused');
    fleet.write('go', '');
    await waitUntil(() => fleet.log('term').some((line) => line.startsWith('[END] iteration 1')), patience);
    expect(fleet.state('term')).toMatchObject({ status: 'paused', current_iteration: 1 });
    await press(page, 'Resume', 'Let term go on?');
    await pill(page, 'running');
    await page.locator('.columns g[data-index="1"]').first().waitFor({ state: 'attached' });

    await press(page, 'Stop', 'Stop term at once?');
    await pill(page, 'stopped');
    expect(fleet.state('term')).toMatchObject({ status: 'stopped', current_iteration: 2 });
    expect(await page.locator('.action').count()).toBe(0);
    expect(problems).toEqual([]);
    await fleet.swarm('clean', 'term');
    await page.getByText('It is not there any more').waitFor();
    expect(await page.locator('.terminal').count()).toBe(0);
    await page.getByRole('link', { name: 'Loops', exact: true }).click();
    await page.getByText('No loop here yet').waitFor();
  });

  it('with the checks of ralph run says what its agent asks, and takes the answer to it', async () => {
    const asks = { steps: [work, { text: '<promise>DECIDE: gross or net?</promise>' }] };
    const done = { steps: [work, { text: '<promise>DONE</promise>' }] };
    const fleet = makeFleet();
    const agent = await installFakeAgent(fleet.bin, { agent: 'claude', script: { turns: [asks, done] } });
    const loop = ['--ralph', '--prompt-file', 'PROMPT.md', '--max-iterations', '5'];
    const checks = ['--tmux-socket', fleet.socket, '--completion-promise', 'DONE'];
    await fleet.swarm('spawn', '--name', 'agent', ...loop, ...checks, '--', 'claude');
    await fleet.until('agent', 'paused', 'failed');
    const { page, problems } = await openWorker(fleet, 'agent');
    await pill(page, 'needs-you');
    await page.getByRole('heading', { name: 'The agent asks a human to decide' }).waitFor();
    await press(page, 'Answer', 'Answer what agent asks', 'Net, says "$(whoami)".');
    await pill(page, 'done');
    await page.getByRole('heading', { name: 'Done: the claim was accepted' }).waitFor();
    expect(await page.locator('.columns .mark').count()).toBe(2);
    const prompts = (await agent.calls()).map(({ prompt }) => prompt);
    expect(prompts[1]).toContain('You asked: gross or net?\nThe answer: Net, says "$(whoami)".');
    // Its run is in the folder of the dashboard, too, and is counted once.
    await page.getByRole('link', { name: 'Loops', exact: true }).click();
    await page.locator('.loop').first().waitFor();
    expect(await page.locator('.loop').count()).toBe(1);
    expect(problems).toEqual([]);
  });
});

describe('a worker that only runs a command', { timeout: 120_000 }, () => {
  it('has ended as soon as its window says so, and its last screen stays to be seen', async () => {
    const fleet = makeFleet();
    const place = ['--tmux', '--tmux-socket', fleet.socket];
    await fleet.swarm('spawn', '--name', 'short', ...place, '--', 'sh', '-c', 'echo last words');
    const { page, problems } = await openWorker(fleet, 'short');
    await pill(page, 'stopped');
    await page.locator('.loop-title').getByText('its command has ended').waitFor();
    await page.locator('.terminal', { hasText: 'last words' }).waitFor();
    expect(await page.locator('.timeline, .columns, .stop').count()).toBe(0);
    expect(fleet.worker('short').status).toBe('running');
    expect(await page.locator('.action').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

describe('a worker without a window', { timeout: 120_000 }, () => {
  it('has its log and no empty charts', async () => {
    const fleet = makeFleet();
    const { code } = await fleet.swarm(
      'spawn',
      '--name',
      'quiet',
      '--',
      'sh',
      '-c',
      'echo heard; echo bad >&2',
    );
    expect(code).toBe(0);
    const { page, problems } = await openWorker(fleet, 'quiet');
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByText('heard').waitFor();
    await log.getByText('bad').waitFor();
    expect(await page.locator('.timeline, .columns, .stop').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

describe('a port that is taken', () => {
  it('is said in one sentence, with the command that was typed', async () => {
    const fleet = makeFleet();
    const server = fleet.start('dashboard', '--no-open');
    const url = await waitUntil(() => /http:\S+\n/.exec(server.output.stdout)?.[0].trim() ?? '', patience);
    const { port } = new URL(url);
    const second = await fleet.swarm('dashboard', '--no-open', '--port', port);
    expect(second.code).not.toBe(0);
    expect(second.stderr).toContain(`port ${port} is taken`);
    expect(second.stderr).toContain('swarm dashboard');
    const none = await fleet.swarm('dashboard', '--port', '70000');
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no port 70000') });
  });
});
