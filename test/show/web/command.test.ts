import { existsSync, readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunView } from '../../../src/journal/run-view.ts';
import { repoWith, runArgs, tag, work } from '../../support/agent.ts';
import { waitUntil } from '../../support/processes.ts';
import { type RunningRalph, runRalph, startRalph } from '../../support/ralph.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';
import { openBrowser, openTab } from './browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

const patient = { timeoutMs: 60_000 };

async function startServer(repo: Repo, ...more: string[]): Promise<{ server: RunningRalph; url: string }> {
  const server = startRalph(['dashboard', '--no-open', ...more], repo);
  const url = await waitUntil(() => /http:\S+\n/.exec(server.output.stdout)?.[0].trim() ?? '', patient);
  return { server, url };
}

/** The latest run as the API tells it. */
async function latest(url: string): Promise<{ id: string; status: string; view: RunView } | null> {
  const { origin, hash } = new URL(url);
  const headers = { Authorization: `Bearer ${hash.replace('#token=', '')}` };
  const { loops } = (await (await fetch(`${origin}/api/loops`, { headers })).json()) as {
    loops: { id: string; status: string }[];
  };
  const [loop] = loops;
  if (loop === undefined) return null;
  const view = (await (await fetch(`${origin}/api/loops/${loop.id}`, { headers })).json()) as RunView;
  return { ...loop, view };
}

describe('ralph dashboard', () => {
  it('shows a loop while it runs, pauses it, lets it go on, and says how it ended', async () => {
    const repo = await repoWith(
      [
        { steps: [{ shell: 'while [ ! -f go.txt ]; do sleep 0.2; done' }, work, { text: 'Working.' }] },
        { steps: [work, { text: 'Still working.' }] },
        { steps: [work, { text: tag }] },
      ],
      { guardrails: [{ command: 'test -f work.txt', failAction: 'APPEND' }] },
    );
    const { server, url } = await startServer(repo, '--control');
    const loop = startRalph(runArgs(5), repo);
    const { page, problems } = await openTab(browser, url);
    await page.locator('.loop .pill.running').waitFor();
    await page.locator('.loop').click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('dialog button.primary').click();
    await page.getByText('it waits after this iteration').waitFor();
    repo.write('go.txt', 'x');
    await page.locator('.loop-title .pill.paused').waitFor();
    await waitUntil(
      async () => (await latest(url))?.view.notices.some(({ text }) => text.startsWith('paused')),
      patient,
    );
    expect((await latest(url))?.view.iterations).toHaveLength(1);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('dialog button.primary').click();
    expect((await loop.done).code).toBe(0);
    await page.getByRole('heading', { name: 'Done: the claim was accepted' }).waitFor();
    expect(await page.locator('.columns .mark').count()).toBe(3);
    const view = (await latest(url))?.view;
    expect(view?.outcome).toBe('PROMISE_ACCEPTED');
    expect(view?.iterations.every((one) => one.guardrails.every(({ ok }) => ok))).toBe(true);
    expect(problems).toEqual([]);
    server.child.kill('SIGTERM');
    expect((await server.done).code).toBe(0);
  }, 120_000);
});

describe('ralph report', () => {
  it('writes one file for a run, which stands alone', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    expect((await runRalph(runArgs(3), repo)).code).toBe(0);
    const { code, stdout } = await runRalph(['report', '-o', 'out.html'], repo);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'out.html\n' });
    const html = readFileSync(repo.path('out.html'), 'utf8');
    const markup = html.replaceAll(/<script\b[^>]*>[\s\S]*?<\/script>/g, (script) =>
      script.slice(0, script.indexOf('>')),
    );
    expect(markup).not.toMatch(/(src|href)="(?!data:)/);
    const { page, problems } = await openTab(browser, `file://${encodeURI(repo.path('out.html'))}`, {
      offline: true,
    });
    await page.getByRole('heading', { name: 'Done: the claim was accepted' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('writes Markdown for a pull request', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    await runRalph(runArgs(3), repo);
    const { code, stdout } = await runRalph(['report', '--md'], repo);
    expect(code).toBe(0);
    expect(stdout).toContain('PROMISE_ACCEPTED');
    expect(existsSync(repo.path('report.html'))).toBe(false);
  });

  it('says in one sentence that it cannot be written there, and what to type', async () => {
    const repo = await repoWith([{ steps: [work, { text: tag }] }]);
    await runRalph(runArgs(3), repo);
    const { code, stderr } = await runRalph(['report', '-o', 'nowhere/x.html'], repo);
    expect(code).toBe(2);
    expect(stderr).toContain('nowhere/x.html cannot be written: its folder is not there.');
    expect(stderr).toContain("mkdir -p '");
    expect(stderr).not.toContain('.tmp');
  });

  it('says in one sentence that there is no run', async () => {
    const repo = makeRepo();
    const { code, stderr } = await runRalph(['report'], repo);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no run in this folder yet');
  });
});
