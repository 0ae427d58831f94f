import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repoWith, runArgs } from '../support/agent.ts';
import { waitUntil } from '../support/processes.ts';
import { runRalph, startRalph } from '../support/ralph.ts';
import { openBrowser, openTab } from './web/browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

const inEightHours = Math.floor(Date.now() / 1000) + 27_585;
const kinds = [
  {
    word: 'usage limit',
    error: { status: 429, message: 'You have hit your limit', resetsAt: inEightHours },
    end: 'USAGE_LIMIT',
    symbol: '⌛',
    headline: 'The usage limit is reached',
  },
  {
    word: 'overload',
    error: { status: 529, message: 'Overloaded' },
    end: 'USAGE_LIMIT: overload',
    symbol: '🐌',
    headline: 'The provider is overloaded',
  },
  {
    word: 'login',
    error: { status: 401, message: 'Invalid API key' },
    end: 'AGENT_FAILED: login',
    symbol: '🔑',
    headline: 'The agent is not logged in',
  },
  {
    word: 'no credit',
    error: { status: 400, message: 'Your credit balance is too low' },
    end: 'AGENT_FAILED: no credit',
    symbol: '💳',
    headline: 'The account has no credit left',
  },
  {
    word: 'context full',
    error: { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    end: 'MAX_ITERATIONS_REACHED: context full',
    symbol: '📚',
    headline: 'The context of the agent is full',
  },
] as const;

describe('a limit of the provider', () => {
  it.each(kinds)('is called $word in every view, and told once', async (kind) => {
    const { word, error, end, symbol, headline } = kind;
    const repo = await repoWith([{ steps: [{ error }] }]);
    const { stdout } = await runRalph(runArgs(1, '--max-wait', '1ms'), repo);
    expect(stdout).toContain(`\n${end} (1 iteration, `);
    const [before = '', last = ''] = stdout.split(`\n${end} (`);
    expect(last).toContain(`\n${symbol} ${headline.charAt(0).toLowerCase()}${headline.slice(1)}`);
    // The agent itself tries again after an overload, and says so.
    expect(before.includes(error.message)).toBe(word === 'overload');

    const shown = (await runRalph(['show'], repo)).stdout;
    expect(shown).toMatch(new RegExp(`^Outcome +${end} \\(exit code \\d\\)$`, 'm'));
    expect((await runRalph(['runs'], repo)).stdout).toContain(` ${end} `);
    const markdown = (await runRalph(['report', '--md'], repo)).stdout;
    expect(markdown).toContain(`## ralph: ${end}\n`);
    expect(markdown).toMatch(new RegExp(`^\\| 1 \\| ${word} \\|`, 'm'));

    await runRalph(['report', '-o', 'report.html'], repo);
    const { page, problems } = await openTab(browser, `${pathToFileURL(repo.path('report.html'))}`);
    await page.getByRole('heading', { name: headline }).waitFor();
    expect(await page.locator('.stop .mark-icon').getAttribute('aria-label')).toBe(word);
    expect((await page.locator('.pill').first().innerText()).toLowerCase()).toBe(word);
    expect(await page.locator('.legend .key').allInnerTexts()).toContain(word);
    expect(problems).toEqual([]);
  });

  it('that is waited for is told with its time of day, by show and runs too', async () => {
    const [{ error }] = kinds;
    const repo = await repoWith([{ steps: [{ error }] }]);
    const loop = startRalph(runArgs(1, '--max-wait', '9h'), repo);
    await waitUntil(() => loop.output.stdout.includes('Waiting'), { timeoutMs: 60_000 });
    expect(loop.output.stdout).toMatch(/Waiting 7h[^,]*, until \d\d:\d\d:\d\d: the usage limit is reached/);
    const until = /waits until \d{4}-\d\d-\d\d \d\d:\d\d UTC\S*: the usage limit is reached/;
    const shown = (await runRalph(['show'], repo)).stdout;
    expect(shown).toMatch(new RegExp(`^Now +${until.source}`, 'm'));
    expect(shown.match(/the usage limit is reached/g)).toHaveLength(1);
    expect((await runRalph(['runs'], repo)).stdout).toMatch(
      new RegExp(` waiting .* Do the task\\. +now: ${until.source}`),
    );
    await runRalph(['stop', '--now'], repo);
    expect((await loop.done).code).toBe(130);
  });
});
