import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { Actions } from '../../../src/show/web/control.ts';
import { type Library, openLibrary } from '../../../src/show/web/library.ts';
import { readPage } from '../../../src/show/web/page.ts';
import { startDashboard } from '../../../src/show/web/server.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The page as it was built. */
export const page = readPage(join(root, 'dist/web'));

/** Where the pictures of the tests are kept, for people to look at. */
export const shots = join(root, 'artifacts/dashboard');

/** Debian's browser; as root it runs only without its own sandbox. */
export function openBrowser(): Promise<Browser> {
  mkdirSync(shots, { recursive: true });
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

export type World = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** A folder for runs, with a home and a fleet of its own. */
export function makeWorld(): World {
  const base = mkdtempSync(join(tmpdir(), 'dashboard-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }));
  const cwd = join(base, 'shop');
  mkdirSync(cwd);
  return { cwd, env: { HOME: join(base, 'home'), SWARM_HOME: join(base, 'swarm') } };
}

export async function serve(
  { cwd, env }: World,
  options: { actions?: Actions; screen?: string; port?: number } = {},
): Promise<Dashboard> {
  const dashboard = await startDashboard({
    env,
    cwd,
    page,
    version: '1.2.3',
    now: Date.now,
    program: 'ralph',
    port: options.port ?? 0,
    actions: options.actions ?? null,
    screen: async () => options.screen ?? null,
  });
  onTestFinished(() => dashboard.close());
  return dashboard;
}

/** Everything that the pages of this world can show. */
export function libraryOf({ cwd, env }: World, withFleet = true): Promise<Library> {
  return openLibrary({ env, cwd, now: Date.now, withFleet });
}

export type Tab = { readonly page: Page; readonly problems: string[] };

/** CPU seconds of the page itself so far; whatever else the machine does is not in them. */
export async function cpuMeter(tab: Page): Promise<() => Promise<number>> {
  const session = await tab.context().newCDPSession(tab);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
}

const watchLongTasks = `
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });`;

/** How long each task took that kept the page from answering for 50 ms or more, since it was opened. */
export function longTasks(tab: Page): Promise<number[]> {
  return tab.evaluate('window.longTasks');
}

/** A tab in a context of its own. Whatever goes wrong in it, or leaves this machine, is a problem. */
export async function openTab(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const tab = await context.newPage();
  tab.setDefaultTimeout(45_000);
  const problems: string[] = [];
  tab.on('pageerror', ({ message }) => problems.push(message));
  tab.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  tab.on('request', (request) => {
    const from = new URL(url).origin;
    if (!request.url().startsWith(from) && !/^(data|file):/.test(request.url())) problems.push(request.url());
  });
  await tab.addInitScript(watchLongTasks);
  await tab.goto(url);
  return { page: tab, problems };
}

/** Serves a world and opens its page in a tab. */
export async function openPage(
  browser: Browser,
  world: World,
  options: Parameters<typeof serve>[1] = {},
): Promise<Tab & Dashboard> {
  const dashboard = await serve(world, options);
  return { ...dashboard, ...(await openTab(browser, dashboard.url)) };
}

/** Goes to the page of a loop, and waits until it is drawn. */
export async function openLoop(tab: Page, id: string): Promise<void> {
  await tab.locator(`[data-id="${id}"]`).click();
  await tab.locator('.columns g[data-index]').first().waitFor();
}

/** Colours and widths in which every page is looked at. */
export const looks = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What a person with a screen reader, little contrast or a small screen could not use: axe's findings, and what is too wide. */
export async function barriers(tab: Page): Promise<string[]> {
  // Evaluated, not added as an element: the policy of the page lets no other script in.
  const violations: string[] = await tab.evaluate(
    `(async () => { ${axe}; const { violations } = await axe.run(); return violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')); })()`,
  );
  const tooWide: string[] = await tab.evaluate(`document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1
      && !one.closest('.scroller, pre, .table-box, .code-box')).map((one) => one.outerHTML.slice(0, 120))`);
  return [...violations, ...tooWide];
}
