import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectPaths, runPaths } from '../../../src/config/paths.ts';
import { removeWorker } from '../../../src/fleet/files/workers.ts';
import { foldEvents } from '../../../src/journal/fold-events.ts';
import { acquireLock } from '../../../src/os/files/lock.ts';
import { createRedactor } from '../../../src/os/redact/redact.ts';
import { collectReport, reportHtml } from '../../../src/show/report/report-html.ts';
import type { Action } from '../../../src/show/web/actions.ts';
import {
  barriers,
  page as built,
  cpuMeter,
  libraryOf,
  longTasks,
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
import { decisionRun, fleetOfTwelve, longRun, prdRun, shopRun, stuckRun } from './scenes.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

const run = '20261114-213000-001abc';

function fullWorld(): World {
  const world = makeWorld();
  shopRun(world.cwd, run);
  decisionRun(world.cwd);
  stuckRun(world.cwd);
  prdRun(world.cwd);
  fleetOfTwelve(world.env, world.cwd, Date.now());
  return world;
}

/** Makes a run look alive: the lock of its folder belongs to this process. */
function claim(world: World, id: string): void {
  const taken = acquireLock(projectPaths(world.cwd).lock, { run: id, since: new Date().toISOString() });
  expect(taken.ok).toBe(true);
}

describe('the page of all loops', () => {
  it('has those that need a person first, and opens one by the keyboard', async () => {
    const world = fullWorld();
    const { page, problems } = await openPage(browser, world);
    await page.locator('.loop').first().waitFor();
    const badges = await page.locator('.loop .pill').allTextContents();
    expect(await page.locator('.loop').evaluateAll((cards) => cards.map((card) => card.className))).toEqual([
      ...Array(3).fill('loop card needs-you'),
      ...Array(13).fill(expect.not.stringContaining('needs-you')),
    ]);
    expect(badges).toEqual(expect.arrayContaining(['Question', 'Stuck', 'Done', 'running']));
    await page.getByRole('button', { name: 'need you' }).click();
    expect(await page.locator('.loop').count()).toBe(3);
    await page.getByRole('button', { name: 'need you' }).click();
    expect(await page.locator('.loop', { hasText: 'gross or the net' }).count()).toBe(1);
    await page.keyboard.press('/');
    await page.keyboard.type('cents');
    await expect.poll(() => page.locator('.loop').count(), { timeout: 30_000 }).toBe(1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Make the cart compute totals in cents' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.loop').first().waitFor();
    expect(page.url()).not.toContain('token');
    expect(problems).toEqual([]);
  });
});

describe('the filters', () => {
  it('choose by status, project, agent and time, and stay while a loop is looked at', async () => {
    const world = makeWorld();
    fleetOfTwelve(world.env, world.cwd, Date.now());
    const writer = journalWriter(Date.now() - 3 * 86_400_000);
    startRun(writer, 'old', 'Upgrade the bundler', { cwd: world.cwd });
    addIteration(writer, 1, { outcome: 'STUCK' });
    endRun(writer, 'STUCK', 'no progress', 1);
    writer.save(runPaths(world.cwd, 'old').journal);
    const { page, problems } = await openPage(browser, world);
    const cards = () => page.locator('.loop').count();
    await page.locator('.loop').first().waitFor();
    const by = (name: string) => page.getByLabel(`Filter by ${name}`);
    await by('status').selectOption('Stuck');
    await expect.poll(cards).toBe(1);
    await page.locator('.loop').click();
    await page.getByRole('heading', { name: 'Upgrade the bundler' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.loop').first().waitFor();
    expect(await cards()).toBe(1);
    expect(await by('status').inputValue()).toBe('Stuck');
    await by('project').selectOption('shop');
    await by('agent').selectOption('claude');
    expect(await cards()).toBe(1);
    await by('time').selectOption('last 24 hours');
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(cards).toBe(13);
    await by('time').selectOption('last 24 hours');
    await expect.poll(cards).toBe(12);
    expect(problems).toEqual([]);
  });
});

describe('a loop that works without a word', () => {
  it('has been at work until now, and its cost is not known', async () => {
    const world = makeWorld();
    const writer = journalWriter(Date.now() - 3 * 3_600_000);
    startRun(writer, 'r1', 'Do it', { cwd: world.cwd });
    writer.add({ type: 'iteration.started', iteration: 1, of: 10, promptChars: 9 });
    writer.save(runPaths(world.cwd, 'r1').journal);
    claim(world, 'r1');
    const { page, problems } = await openPage(browser, world);
    expect(await page.locator('.loop .facts').innerText()).toMatch(/\b[23]h/);
    expect(await page.locator('.totals').innerText()).toContain('not reported\ncost');
    expect(problems).toEqual([]);
  });
});

describe('the views of a loop', () => {
  it('show the figures of the journal', async () => {
    const world = makeWorld();
    const { events } = shopRun(world.cwd, run);
    const view = foldEvents(run, events);
    const { page, problems } = await openPage(browser, world);
    await openLoop(page, run);
    const amounts = (name: string) =>
      page
        .locator(`.bar.${name}`)
        .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute('data-amount'))));
    const { iterations } = view;
    expect(await amounts('input')).toEqual(iterations.map(({ usage }) => usage?.inputTokens));
    expect(await amounts('output')).toEqual(iterations.map(({ usage }) => usage?.outputTokens));
    expect(await amounts('cache-read')).toEqual(iterations.map(({ usage }) => usage?.cacheReadTokens));
    expect(await amounts('cache-write')).toEqual(iterations.map(({ usage }) => usage?.cacheWriteTokens));
    expect(await amounts('cost')).toEqual(iterations.map(({ usage }) => usage?.costUsd));
    expect(await amounts('context')).toEqual(iterations.map(({ context }) => context?.tokens));
    expect(await amounts('agent')).toEqual(iterations.map(({ agentMs }) => agentMs));
    expect(await amounts('files')).toEqual(iterations.map((one) => one.filesChanged).filter((n) => n > 0));
    const marks = await page
      .locator('.columns .mark')
      .evaluateAll((all) => all.map((one) => one.classList[1]));
    expect(marks).toEqual(iterations.map(({ mark }) => mark));
    for (const state of ['pass', 'fail'] as const) {
      const expected = iterations.flatMap((one) =>
        one.guardrails.filter(({ ok }) => ok === (state === 'pass')),
      ).length;
      expect(await page.locator(`.cell.${state}`).count()).toBe(expected);
    }
    const figures = await page.locator('.loop-page > .totals').innerText();
    for (const text of ['14', '1h2m', '$8.83', '1.8M', '113', '1 / 2']) expect(figures).toContain(text);
    const evidence = await page.locator('.evidence tbody tr').allInnerTexts();
    expect(evidence).toHaveLength(iterations.at(-1)?.verdict?.evidence.length ?? 0);
    expect(await page.locator('.next code').innerText()).toBe(`ralph show ${run}`);
    expect(problems).toEqual([]);
  });

  it('show the board, the burn-down and the reviews of a PRD', async () => {
    const world = makeWorld();
    prdRun(world.cwd);
    const { page, problems } = await openPage(browser, world);
    await openLoop(page, '20261115-090000-004abc');
    expect(await page.locator('.lane-column .count').allInnerTexts()).toEqual(['3', '1', '0', '2']);
    expect(await page.locator('.burn').getAttribute('aria-label')).toBe(
      'Stories left: 6, 6, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4',
    );
    const rows = await page.locator('.matrix .steps').allInnerTexts();
    expect(rows.map((row) => row.replace(/\s/g, ''))).toEqual(['IR', 'IRFRFR', 'IRFR', '', '', '']);
    expect(problems).toEqual([]);
  });

  it('open the log of a guardrail, the prompt and the tools of an iteration', async () => {
    const world = makeWorld();
    const writer = journalWriter(Date.now() - 60_000);
    startRun(writer, 'r1', 'Do it', { cwd: world.cwd });
    addIteration(writer, 1, { agentSeconds: 50, guardrails: { 'npm test': false } });
    writer.save(runPaths(world.cwd, 'r1').journal);
    writeFileSync(join(world.cwd, '.ralph/guardrail_1_npm-test.log'), 'expected 3 to be 4\n');
    mkdirSync(runPaths(world.cwd, 'r1').iterations, { recursive: true });
    writeFileSync(runPaths(world.cwd, 'r1').prompt(1), 'All of the prompt');
    const { page, problems } = await openPage(browser, world);
    await openLoop(page, 'r1');
    await page.locator('.cell.fail').click();
    await page.getByText('expected 3 to be 4').waitFor();
    await page.getByRole('tab', { name: 'Prompt' }).click();
    await page.getByText('All of the prompt').waitFor();
    await page.getByRole('tab', { name: 'Transcript' }).click();
    await page.locator('.entry').first().waitFor();
    expect(await page.locator('.entry-tool').count()).toBe(3);
    expect(problems).toEqual([]);
  });

  it('show the diff of an iteration from git', async () => {
    const world = makeWorld();
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...words], {
        cwd: world.cwd,
        encoding: 'utf8',
      }).trim();
    git('init', '--quiet');
    writeFileSync(join(world.cwd, 'a.txt'), 'one\n');
    git('add', '.');
    git('commit', '--quiet', '-m', 'first');
    const from = git('rev-parse', 'HEAD');
    writeFileSync(join(world.cwd, 'a.txt'), 'one\n<img src=x onerror=alert(1)>\n');
    git('commit', '--quiet', '-am', 'second');
    const to = git('rev-parse', 'HEAD');
    writeFileSync(join(world.cwd, 'a.txt'), 'one\nleft behind\n');
    const writer = journalWriter();
    startRun(writer, 'r1', 'Do it', { cwd: world.cwd });
    addIteration(writer, 1, { head: from, commits: 1 });
    const decision = writer.events.at(-1);
    if (decision?.type === 'decision') writer.events[writer.events.length - 1] = { ...decision, head: to };
    writer.save(runPaths(world.cwd, 'r1').journal);
    const { page, problems } = await openPage(browser, world);
    await openLoop(page, 'r1');
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    // That came after the iteration.
    expect(await page.getByText('left behind').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('show the terminal of a worker in its colours', async () => {
    const world = makeWorld();
    fleetOfTwelve(world.env, world.cwd, Date.now());
    const { url } = await serve(world, {
      screen: 'plain \u001b[1;31mred\u001b[0m \u001b]0;title\u0007<b>end',
    });
    const { page, problems } = await openTab(browser, url);
    await page.locator('[data-id="worker:cart"]').click();
    await page.locator('.terminal .f1').waitFor();
    expect(await page.locator('.terminal').innerText()).toBe('plain red <b>end');
    expect(problems).toEqual([]);
  });
});

describe('the keyboard', () => {
  it('chooses iterations and tabs, and leaves a dialog before it leaves the page', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    const { page, problems } = await openPage(browser, world);
    await openLoop(page, run);
    const chosen = (number: number) =>
      page.getByRole('heading', { name: `Iteration ${number}:` }).waitFor({ state: 'visible' });
    await chosen(14);
    await page.keyboard.press('ArrowLeft');
    await chosen(13);
    await page.locator('.scroller').press('Home');
    await chosen(1);
    await page.locator('.scroller').press('End');
    await chosen(14);
    await page.getByRole('tab', { name: 'Summary' }).press('ArrowLeft');
    await page.locator('[role=tab][aria-selected=true]:focus', { hasText: 'Prompt' }).waitFor();
    await chosen(14);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.locator('.skip').press('Enter');
    await chosen(14);
    await page.keyboard.press('Escape');
    await page.locator('.loop').first().waitFor();
    expect(problems).toEqual([]);
  });
});

describe('a live page', () => {
  it('follows a loop while it runs, and gives a late joiner everything', async () => {
    const world = makeWorld();
    const writer = journalWriter(Date.now() - 600_000);
    startRun(writer, 'r1', 'Do it', { cwd: world.cwd });
    addIteration(writer, 1, {});
    const { journal } = runPaths(world.cwd, 'r1');
    writer.save(journal);
    claim(world, 'r1');
    const { url } = await serve(world);
    const early = await openTab(browser, url);
    await openLoop(early.page, 'r1');
    const columns = (tab: typeof early) => tab.page.locator('.columns .mark').count();
    expect(await columns(early)).toBe(1);
    const known = writer.events.length;
    addIteration(writer, 2, { tools: 7 });
    const added = writer.events.slice(known).map((event) => `${JSON.stringify(event)}\n`);
    // Torn in the middle of a line, as a reader may find it.
    appendFileSync(journal, added.slice(0, 4).join('') + (added[4] ?? '').slice(0, 20));
    await expect.poll(() => columns(early), { timeout: 30_000 }).toBe(2);
    appendFileSync(journal, (added[4] ?? '').slice(20) + added.slice(5).join(''));
    await expect
      .poll(() => early.page.getByRole('tab', { name: 'Transcript (7 calls)' }).count(), { timeout: 30_000 })
      .toBe(1);
    const late = await openTab(browser, url);
    await openLoop(late.page, 'r1');
    expect(await columns(late)).toBe(2);
    expect([...early.problems, ...late.problems]).toEqual([]);
  });

  it('says that a worker was removed', async () => {
    const world = makeWorld();
    fleetOfTwelve(world.env, world.cwd, Date.now());
    const { page, problems } = await openPage(browser, world, {
      actions: async () => ({ ok: true, told: '' }),
      screen: 'here',
    });
    await page.locator('[data-id="worker:cart"]').click();
    await page.locator('.terminal', { hasText: 'here' }).waitFor();
    expect(await page.locator('.action').count()).toBeGreaterThan(0);
    removeWorker(world.env, 'cart');
    await page.getByText('It is not there any more').waitFor();
    expect(await page.locator('.action, .terminal').count()).toBe(0);
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  it('asks before it does anything, and then does what was said', async () => {
    const world = makeWorld();
    const writer = journalWriter(Date.now() - 60_000);
    startRun(writer, 'r1', 'Do it', { cwd: world.cwd });
    addIteration(writer, 1, {});
    writer.save(runPaths(world.cwd, 'r1').journal);
    claim(world, 'r1');
    const done: Action[] = [];
    const actions = async (_source: unknown, action: Action) => {
      done.push(action);
      return { ok: true, told: `did ${action.action}` };
    };
    const { page, problems } = await openPage(browser, world, { actions });
    await openLoop(page, 'r1');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stop r1 after the iteration that runs?').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(done).toEqual([]);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('dialog button.primary').click();
    await page.getByText('did pause').waitFor();
    await page.getByRole('button', { name: 'Note' }).click();
    await page.locator('dialog textarea').fill('use $(tabs) "please"\n');
    await page.locator('dialog button.primary').click();
    await page.getByText('did note').waitFor();
    expect(done).toEqual([{ action: 'pause' }, { action: 'note', text: 'use $(tabs) "please"\n' }]);
    expect(problems).toEqual([]);
  });

  it('has no buttons without --control', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    claim(world, run);
    const { page } = await openPage(browser, world);
    await openLoop(page, run);
    expect(await page.locator('.action').count()).toBe(0);
  });
});

describe('what an agent writes', () => {
  it('stays text, wherever it is shown', async () => {
    const evil = '</script><img src=x onerror="document.title=\'owned\'"><b>bold</b>';
    const world = makeWorld();
    const writer = journalWriter();
    startRun(writer, 'r1', evil, { cwd: world.cwd });
    addIteration(writer, 1, {
      text: evil,
      guardrails: { [evil]: false },
      claim: 'rejected',
      because: evil,
      files: [evil],
    });
    writer.add({ type: 'notice', text: evil });
    endRun(writer, 'LOOP_FAILED', evil, 1);
    writer.save(runPaths(world.cwd, 'r1').journal);
    const { page, problems } = await openPage(browser, world);
    await openLoop(page, 'r1');
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText('Nothing was changed.').waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('b', { hasText: /^bold$/ }).count()).toBe(0);
    expect(await page.title()).not.toBe('owned');
    expect(problems).toEqual([]);
    const library = await libraryOf(world);
    const html = reportHtml(
      built,
      await collectReport(library, ['r1'], createRedactor({}), { version: '1.2.3', madeAt: 0 }),
    );
    const file = join(world.cwd, 'report.html');
    writeFileSync(file, html);
    const report = await openTab(browser, pathToFileURL(file).href);
    await report.page.locator('.columns g[data-index]').first().waitFor();
    expect(await report.page.locator('img').count()).toBe(0);
    expect(report.problems).toEqual([]);
  });
});

describe('a report', () => {
  it('opens from disk without a network, with the same views', async () => {
    const world = makeWorld();
    shopRun(world.cwd, run);
    prdRun(world.cwd);
    const library = await libraryOf(world);
    const ids = library.summaries().map(({ id }) => id);
    const file = join(world.cwd, 'report.html');
    writeFileSync(
      file,
      reportHtml(
        built,
        await collectReport(library, ids, createRedactor({}), { version: '1.2.3', madeAt: 0 }),
      ),
    );
    const { page, problems } = await openTab(browser, pathToFileURL(file).href, { offline: true });
    await page.locator('.loop').first().waitFor();
    expect(await page.locator('.loop').count()).toBe(2);
    await openLoop(page, run);
    expect(await page.locator('.columns .mark').count()).toBe(14);
    expect(await page.locator('.link').innerText()).toBe('report');
    expect(problems).toEqual([]);
    await page.screenshot({ path: join(shots, 'report.png'), fullPage: true });
  });
});

/** The scripts that the page loads at once, each of them once: the first and what it imports, not what it loads later. */
function firstScripts(): string[] {
  const names = new Set(['app.js']);
  for (const name of names) {
    const imports = (built.scripts.get(name) ?? '').matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g);
    for (const [, path = ''] of imports) names.add(path);
  }
  return [...names].map((name) => built.scripts.get(name) ?? '');
}

describe('the weight of the page', () => {
  it('is below 60 KB compressed, without the views that are opened later', () => {
    expect(firstScripts().length).toBeLessThan(built.scripts.size);
    const bytes = gzipSync(built.html + built.style + firstScripts().join('')).length;
    expect(bytes).toBeLessThan(60_000);
  });

  it('draws of 500 iterations and 10,000 events only what is in view, wherever one scrolls', async () => {
    const world = makeWorld();
    const writer = longRun(world.cwd, 500, 8);
    const { events } = writer;
    expect(events.length).toBeGreaterThan(10_000);
    claim(world, '20261101-000000-005abc');
    const { page, problems } = await openPage(browser, world);
    const cpu = await cpuMeter(page);
    await openLoop(page, '20261101-000000-005abc');
    expect(await page.locator('.columns g[data-index="499"]').count()).toBeGreaterThan(0);
    expect(await page.locator('.columns *').count()).toBeLessThan(6000);
    const opened = { tasks: await longTasks(page), cpu: await cpu() };
    const frames: number[] = await page.evaluate(`(async () => {
      const counts = [];
      for (let at = 0; at <= 5000; at += 250) {
        document.querySelector('.scroller').scrollTo(at, 0);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        counts.push(document.querySelectorAll('.columns *').length);
      }
      return counts;
    })()`);
    expect(Math.max(...frames)).toBeLessThan(6000);
    const scrolled = { tasks: await longTasks(page), cpu: await cpu() };
    await page.evaluate(`document.querySelector('[data-index="490"]').id = 'kept'`);
    const { journal } = runPaths(world.cwd, '20261101-000000-005abc');
    for (let n = 501; n <= 505; n++) {
      const known = events.length;
      addIteration(writer, n, { tools: 8 });
      appendFileSync(
        journal,
        events
          .slice(known)
          .map((event) => `${JSON.stringify(event)}\n`)
          .join(''),
      );
      await page
        .locator(`.columns g[data-index="${n - 1}"]`)
        .first()
        .waitFor({ state: 'attached' });
    }
    // What has not changed is not drawn again.
    expect(await page.locator('#kept').getAttribute('data-index')).toBe('490');
    const followed = { tasks: await longTasks(page), cpu: await cpu() };
    // Times are a matter of the machine: they are kept for people to look at, and nothing is asked of them here.
    const part = (from: typeof opened, to: typeof opened) => ({
      longTasks: to.tasks.length - from.tasks.length,
      cpuMs: Math.round((to.cpu - from.cpu) * 1000),
    });
    const nothing = { tasks: [], cpu: 0 };
    const figures = {
      opening: part(nothing, opened),
      scrolling: part(opened, scrolled),
      following: part(scrolled, followed),
    };
    writeFileSync(join(shots, 'long-tasks.json'), `${JSON.stringify(figures, null, 2)}\n`);
    expect(followed.tasks.every((ms) => ms >= 50)).toBe(true);
    expect(problems).toEqual([]);
  });
});

describe('everybody can use it', () => {
  it.each(looks)('in %s at %i pixels', async (colorScheme, width) => {
    const world = fullWorld();
    claim(world, '20261115-090000-004abc');
    const { url } = await serve(world, { actions: async () => ({ ok: true, told: '' }) });
    const { page, problems } = await openTab(browser, url, { colorScheme, viewport: { width, height: 900 } });
    await page.locator('.loop').first().waitFor();
    const places = ['', run, '20261115-090000-004abc', '20261115-180000-002abc', 'worker:auth'];
    for (const id of places) {
      if (id !== '') {
        await page.goto(`${new URL(url).origin}/#/loop/${encodeURIComponent(id)}`);
        await page.locator('.columns g[data-index]').first().waitFor();
      }
      const name = `${id.replace(/\W+/g, '-') || 'all'}-${colorScheme}-${width}.png`;
      await page.screenshot({ path: join(shots, name), fullPage: true });
      expect(await barriers(page)).toEqual([]);
    }
    expect(problems).toEqual([]);
  });
});
