import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runRalph } from '../../support/ralph.ts';
import { openBrowser, openLoop, openTab, serve, shots } from './browser.ts';
import { hostile, realRun, secret } from './real-run.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

/** The page of a real run, on one of the tabs of its first iteration. */
async function openFirst(name: string, width = 1440): Promise<{ page: Page; problems: string[] }> {
  const world = await realRun();
  const { url } = await serve(world);
  const tab = await openTab(browser, url, { viewport: { width, height: 1000 } });
  await openLoop(tab.page, world.run);
  await tab.page.keyboard.press('ArrowLeft');
  await tab.page.getByRole('tab', { name }).click();
  return tab;
}

describe('the changes of an iteration', () => {
  it('have line numbers, marks and a tree, side by side or in one column', async () => {
    const { page, problems } = await openFirst('Changes');
    await page.locator('.code.split').first().waitFor();
    expect(await page.locator('.tree-file').allInnerTexts()).toEqual(
      [/^A\s*tax\.js\s*\+1 −0$/, /^M\s*cart\.js\s*\+2 −2$/].map((text) => expect.stringMatching(text)),
    );
    await page.screenshot({ path: join(shots, 'changes.png'), fullPage: true });
    const cart = page.locator('.diff-file', { hasText: 'src/cart.js' });
    expect((await cart.locator('.plus .changed-part').allInnerTexts()).join('')).toBe(
      ' * (item.count ?? 1) // in cents',
    );
    expect(await cart.locator('.syntax-word').allInnerTexts()).toContain('for');
    const numbers = await cart.locator('tr:not(.gap) .line-number').allInnerTexts();
    expect(numbers.slice(0, 4)).toEqual(['4', '4', '5', '5']);
    await page.getByRole('button', { name: 'Unified' }).click();
    expect(await cart.locator('tr.plus .line-code').allInnerTexts()).toEqual([
      '    sum += item.price * (item.count ?? 1);',
      '  return round(sum); // in cents',
    ]);
    await cart.getByRole('button', { name: 'Open at iteration 1' }).click();
    await cart.locator('.code.whole').waitFor();
    expect(await cart.locator('tr').count()).toBe(14);
    await page.keyboard.press('Escape');
    await cart.locator('.code.whole').waitFor({ state: 'detached' });
    expect(page.url()).toContain('/1/changes');
    expect(problems).toEqual([]);
  });

  it('of the whole run name what was renamed and deleted, and fold by the keyboard', async () => {
    const { page, problems } = await openFirst('Changes');
    await page.getByRole('button', { name: 'Whole run' }).click();
    await page.locator('.file-mark.renamed').first().waitFor();
    const heads = await page.locator('.diff-file > header code').allInnerTexts();
    expect(heads).toEqual([
      'src/added/tax.js',
      'src/cart.js',
      'src/old.js',
      'src/money.js → src/rounding.js',
    ]);
    expect(await page.locator('.diff-file .file-mark.deleted').count()).toBe(1);
    const fold = page.locator('.diff-file', { hasText: 'src/cart.js' }).locator('.fold');
    await fold.focus();
    await page.keyboard.press('Enter');
    expect(await fold.getAttribute('aria-expanded')).toBe('false');
    expect(problems).toEqual([]);
  });
});

describe('the card of a run that is done', () => {
  it('has changes, cost, time and the command, and the evidence once on the page', async () => {
    const world = await realRun();
    const { url } = await serve(world);
    const { page, problems } = await openTab(browser, url);
    await openLoop(page, world.run);
    const card = page.getByRole('region', { name: 'How it ended' });
    await card.getByText(/^5 files changed, 9 insertions\(\+\), 9 deletions\(-\)/).waitFor();
    await card.getByText(/^git diff \w+\.\.\w+$/).waitFor();
    const text = await page.locator('main').innerText();
    expect(text.match(/tool-calls/g)).toHaveLength(1);
    expect(text.match(/check-files/g)).toHaveLength(1);
    expect(problems).toEqual([]);
  });
});

describe('ralph show', () => {
  it('begins with the task and its project, and tells the evidence once', async () => {
    const world = await realRun();
    const { stdout } = await runRalph(['show'], world);
    expect(stdout).toMatch(/^Task +Do the task\.\nProject +the repo · main\nRun +\d/);
    expect(stdout).toMatch(
      /\nChanges +5 files changed, 9 insertions.*\nDiff +git diff \w+\.\.\w+\nCost.*\nTime/,
    );
    expect(stdout.match(/tool-calls/g)).toHaveLength(1);
  });
});

describe('the transcript of an iteration', () => {
  it('has words, tool calls with input, output and duration, checks and the decision in order', async () => {
    const { page, problems } = await openFirst('Transcript');
    await page.locator('.entry').first().waitFor();
    const kinds = await page.locator('.entry').evaluateAll((all) => all.map((one) => one.classList[1]));
    expect(kinds).toEqual(
      ['text', ...Array(5).fill('tool'), 'text', 'check', 'decision'].map((kind) => `entry-${kind}`),
    );
    const printed = page.locator('.entry-tool', { hasText: 'printf' });
    await printed.locator('summary').click();
    expect(await printed.locator('.terminal .f2').innerText()).toBe('✓ passes');
    expect(await printed.locator('.terminal').last().innerText()).not.toContain('\n80\n');
    await printed.getByRole('button', { name: /Show \d+ more lines/ }).click();
    expect(await printed.locator('.terminal').last().innerText()).toContain('\n80\n');
    expect(await printed.locator('summary .note').innerText()).toMatch(/^[\d.]+ ?(ms|s)$/);
    expect(await page.content()).not.toContain(secret);
    await page.screenshot({ path: join(shots, 'transcript.png'), fullPage: true });
    expect(problems).toEqual([]);
  });

  it('shows what an agent wrote as text: no markup, no scripts, no odd links, no hidden order', async () => {
    const { page, problems } = await openFirst('Transcript');
    const words = page.locator('.markdown').first();
    await words.waitFor();
    expect(await words.locator('strong').innerText()).toBe('count');
    expect(await words.locator('ol li').count()).toBe(3);
    expect(await words.locator('table td').count()).toBe(4);
    expect(await words.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))).toEqual(
      ['https://example.com/docs'],
    );
    expect(await words.innerText()).toContain(hostile.markup);
    expect(await words.innerText()).toContain('safe⟨U+202E⟩txt.exe');
    expect(await words.locator('img, script').count()).toBe(0);
    expect(await page.title()).not.toBe('1');
    expect(problems).toEqual([]);
  });

  it('is searched, and each entry has an address of its own', async () => {
    const { page, problems } = await openFirst('Transcript');
    await page.locator('.entry').first().waitFor();
    await page.getByLabel('Search the transcript').fill('tax.js');
    await expect.poll(() => page.locator('.entry').count()).toBe(1);
    const href = await page.locator('.entry-link').getAttribute('href');
    expect(href).toMatch(/^#\/loop\/[^/]+\/1\/transcript\/3$/);
    await page.evaluate(`location.hash = ${JSON.stringify(href)}`);
    await page.reload();
    await page.locator('.entry.named', { hasText: 'tax.js' }).waitFor();
    expect(problems).toEqual([]);
  });
});
