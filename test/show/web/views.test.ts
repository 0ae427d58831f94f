import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runPaths } from '../../../src/config/paths.ts';
import {
  barriers,
  looks,
  makeWorld,
  openBrowser,
  openLoop,
  openPage,
  openTab,
  serve,
  shots,
  type World,
} from './browser.ts';
import { addIteration, endRun, journalWriter, startRun } from './journals.ts';
import { realRun } from './real-run.ts';
import { decisionRun, prdRun, shopRun, stuckRun } from './scenes.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

const run = '20261114-213000-001abc';

function runsWorld(): World {
  const world = makeWorld();
  shopRun(world.cwd, run);
  decisionRun(world.cwd);
  stuckRun(world.cwd);
  prdRun(world.cwd);
  for (const [day, cost] of [3, 1.5, 2].entries()) {
    const id = `2026111${day}-100000-00${day}xyz`;
    const writer = journalWriter(Date.parse(`2026-11-1${day}T10:00:00.000Z`));
    startRun(writer, id, `=Small task ${day}, with a comma`, { cwd: world.cwd });
    const usage = {
      inputTokens: 1000,
      outputTokens: 10,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsd: cost,
    };
    addIteration(writer, 1, {
      usage,
      claim: 'accepted',
      outcome: 'PROMISE_ACCEPTED',
      guardrails: { 'npm test': true },
    });
    endRun(writer, 'PROMISE_ACCEPTED', 'all checks passed', 1);
    writer.save(runPaths(world.cwd, id).journal);
  }
  return world;
}

async function download(page: Page, name: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name, exact: true }).click(),
  ]);
  return readFileSync(await file.path(), 'utf8');
}

describe('trends', () => {
  it('show what was accepted, what it cost, what stood in the way, and are saved as CSV and JSON', async () => {
    const { page, problems } = await openPage(browser, runsWorld());
    await page.getByRole('link', { name: 'Trends' }).click();
    await page.getByRole('heading', { name: 'Runs in detail' }).waitFor();
    const figures = await page.locator('.totals').innerText();
    expect(figures.replace(/\s+/g, ' ')).toContain('67 % of ended runs accepted');
    const rows = await page.locator('.card[aria-label="In numbers"] tbody tr').allInnerTexts();
    expect(rows[0]?.split('\t')).toEqual(['2026-11-10', '1', '100 %', '$3.00', '$3.00', expect.any(String)]);
    expect(await page.locator('.reasons').first().innerText()).toContain('guardrail: npm test');
    await page.getByRole('button', { name: 'By agent' }).click();
    expect(await page.locator('.card[aria-label="In numbers"] tbody th').allInnerTexts()).toEqual(['claude']);
    const csv = (await download(page, 'CSV')).trimEnd().split('\r\n');
    expect(csv).toHaveLength(8);
    expect(csv.find((line) => line.includes('Small task 0'))).toMatch(
      /^20261110-100000-000xyz,"'=Small task 0, with a comma",shop,,claude,,2026-11-10T10:00:01.000Z,PROMISE_ACCEPTED,1,1,/,
    );
    expect(JSON.parse(await download(page, 'JSON'))).toHaveLength(7);
    await page.getByRole('button', { name: 'By day' }).click();
    await page.screenshot({ path: join(shots, 'trends.png'), fullPage: true });
    expect(problems).toEqual([]);
  });

  it('compare two runs side by side', async () => {
    const { page, problems } = await openPage(browser, runsWorld());
    await page.getByRole('link', { name: 'Trends' }).click();
    await page.getByLabel('Compare =Small task 0, with a comma').check();
    await page.getByLabel('Compare =Small task 1, with a comma').check();
    await page.getByRole('link', { name: 'Compare these two' }).click();
    const cost = page.locator('tr', { has: page.getByRole('rowheader', { name: 'Cost', exact: true }) });
    await cost.waitFor();
    expect((await cost.innerText()).split('\t')).toEqual(['Cost', '$3.00', '$1.50', '−$1.50 (−50 %)']);
    expect(await cost.locator('td .yes').count()).toBe(1);
    await page.screenshot({ path: join(shots, 'compare.png'), fullPage: true });
    await page.keyboard.press('Escape');
    await page.locator('.loop').first().waitFor();
    expect(problems).toEqual([]);
  });
});

describe('the stories of a PRD', () => {
  it('have cost, time and iterations, an estimate of what is left, and their dependencies', async () => {
    const world = makeWorld();
    prdRun(world.cwd);
    const { page, problems } = await openPage(browser, world);
    await openLoop(page, '20261115-090000-004abc');
    const rows = await page.locator('.matrix tbody tr').allInnerTexts();
    expect(rows[0]).toMatch(/US-001[\s\S]*\t2\t5m\d*s?\t\$1\.\d\d$/);
    expect(rows[3]).toMatch(/\t–\t–\t–$/);
    expect(await page.locator('.estimate').innerText()).toMatch(
      /^About \d+m(\d+s)? and \$\d+\.\d\d left, by what 2 stories took\.$/,
    );
    expect(await page.locator('.dependencies svg').getAttribute('aria-label')).toBe('US-004 after US-003');
    const box = async (id: string) => {
      const { x = 0 } = (await page.locator('.story-node', { hasText: id }).boundingBox()) ?? {};
      return x;
    };
    expect(await box('US-004')).toBeGreaterThan(await box('US-003'));
    await page.screenshot({ path: join(shots, 'stories.png'), fullPage: true });
    expect(problems).toEqual([]);
  });
});

describe('the charts of a loop', () => {
  it('have axes, a tooltip at the pointer, a zoom and a table', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    const { page, problems } = await openPage(browser, world);
    await openLoop(page, run);
    const colour = (name: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${name}')).fill`);
    expect(await colour('.span.waiting')).toBe(await colour('.bar.waiting'));
    expect((await page.locator('.axis .tick').allTextContents()).join(' ')).toContain('$0.50');
    const costs = await page
      .locator('.bar.cost')
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().height));
    expect(Math.max(...costs)).toBeGreaterThan(60);
    await page.locator('.columns').hover({ position: { x: 100, y: 60 } });
    expect(await page.locator('.strip .tooltip').innerText()).toContain('Iteration 2: a guardrail failed');
    const line = page.locator('.timeline');
    const ticks = () => page.locator('.timeline .tick').allTextContents();
    const before = await ticks();
    const { x = 0, y = 0, width = 0 } = (await line.boundingBox()) ?? {};
    await page.mouse.move(x + width * 0.4, y + 20);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.6, y + 20, { steps: 4 });
    await page.mouse.up();
    expect(await ticks()).not.toEqual(before);
    await page.getByRole('button', { name: 'Whole run' }).press('Enter');
    expect(await ticks()).toEqual(before);
    await page.getByRole('button', { name: 'Zoom to iteration' }).press('Enter');
    expect(await ticks()).not.toEqual(before);
    await page.keyboard.press('Escape');
    expect(await ticks()).toEqual(before);
    await page.mouse.click(x + 80, y + 20);
    await page.getByRole('heading', { name: 'Iteration 1:' }).waitFor();
    await page.getByRole('button', { name: 'Table', exact: true }).press('Enter');
    await page.locator('.iteration-table tbody tr').first().waitFor();
    expect(await page.locator('.iteration-table tbody tr').count()).toBe(14);
    expect(problems).toEqual([]);
  });
});

describe('everybody can use the views of a run', () => {
  it.each([...looks, ['light', 1720] as const])('in %s at %i pixels', async (colorScheme, width) => {
    const world = await realRun();
    for (const scene of [shopRun, stuckRun, prdRun]) scene(world.cwd);
    const { url } = await serve(world);
    const { page, problems } = await openTab(browser, url, {
      colorScheme,
      viewport: { width, height: 1000 },
    });
    await page.locator('.loop').first().waitFor();
    const places = [
      ['changes', `#/loop/${world.run}/1/changes`, '.code'],
      ['transcript', `#/loop/${world.run}/1/transcript/5`, '.entry.named .terminal'],
      ['trends', '#/trends', '.reasons'],
      ['compare', `#/compare/${run}/${world.run}`, '.compare'],
    ] as const;
    for (const [name, hash, sign] of places) {
      await page.goto(`${new URL(url).origin}/${hash}`);
      await page.locator(sign).first().waitFor();
      await page.screenshot({ path: join(shots, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      expect(await barriers(page)).toEqual([]);
    }
    expect(problems).toEqual([]);
  });
});

describe('states of the page', () => {
  it('says what to type where there is no loop yet', async () => {
    const { page, problems } = await openPage(browser, makeWorld());
    await page.getByText('ralph run -p "your task"').waitFor();
    expect(problems).toEqual([]);
  });

  it('says that it waits, before the first data is there', async () => {
    const { page } = await openPage(browser, makeWorld());
    await page.route('**/api/stream*', () => {});
    await page.reload();
    await page.getByRole('heading', { name: 'One moment…' }).waitFor();
  });

  it('says that the server was ended, how to start it, and asks for the new token', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    const { page, close, port } = await openPage(browser, world);
    await page.locator('.link.on').waitFor();
    await close();
    const alert = page.getByRole('alert');
    await alert.getByText('This dashboard was ended; your loops are not.').waitFor();
    expect(await alert.innerText()).toContain('ralph dashboard');
    await page.getByRole('link', { name: 'Trends' }).click();
    await page.getByRole('heading', { name: 'The dashboard does not answer.' }).waitFor();
    await page.screenshot({ path: join(shots, 'ended.png') });
    const { url } = await serve(world, { port });
    await page.getByLabel('Address or token').fill(url);
    await page.keyboard.press('Enter');
    await page.locator('.loop').first().waitFor();
    expect(await alert.innerText()).toBe('');
  });

  it('says that there is no such loop, and leads back', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    const { page } = await openPage(browser, world);
    await page.locator('.loop').first().waitFor();
    await page.evaluate(`location.hash = '#/loop/nothing'`);
    await page.getByRole('heading', { name: 'There is no such loop' }).waitFor();
    await page.getByRole('link', { name: 'All loops' }).click();
    await page.locator('.loop').first().waitFor();
  });

  it('asks for the token if it has none, and takes the address that was printed', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    const { url } = await serve(world);
    const { page } = await openTab(browser, url.split('#')[0] ?? '');
    await page.getByLabel('Address or token').fill(url);
    await page.keyboard.press('Enter');
    await page.locator('.loop').first().waitFor();
    expect(page.url()).not.toContain('token');
  });

  it('says how old its data is when the server is gone, and goes on when it is back', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    const { page } = await openPage(browser, world);
    await page.locator('.link.on').waitFor();
    await page.context().setOffline(true);
    await page.evaluate(`for (const value of [true, false]) {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }`);
    await page.getByText(/not connected, data is .* old; trying again/).waitFor();
    expect(await page.locator('.loop').count()).toBe(1);
    await page.context().setOffline(false);
    await page.locator('.link.on').waitFor();
  });

  it('shows in its icon what is most urgent', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    decisionRun(world.cwd);
    const { page } = await openPage(browser, world);
    await openLoop(page, run);
    const icon = () => page.locator('link[rel=icon]').getAttribute('href');
    const done = await icon();
    await page.keyboard.press('Escape');
    await page.locator('.loop').first().waitFor();
    await expect.poll(icon).not.toBe(done);
    expect(decodeURIComponent((await icon()) ?? '')).toContain('#e5484d');
  });
});
