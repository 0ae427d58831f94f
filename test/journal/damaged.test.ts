import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runPaths } from '../../src/config/paths.ts';
import { createRedactor } from '../../src/os/redact/redact.ts';
import { collectReport, reportHtml } from '../../src/show/report/report-html.ts';
import { noFigures } from '../../src/show/terminal/status-line.ts';
import { createStyle } from '../../src/show/terminal/style.ts';
import { startState } from '../../src/show/watch/keys.ts';
import { layoutWatch } from '../../src/show/watch/layout.ts';
import {
  page as built,
  libraryOf,
  makeWorld,
  openBrowser,
  openTab,
  type World,
} from '../show/web/browser.ts';
import { prdRun, shopRun } from '../show/web/scenes.ts';
import { runRalph } from '../support/ralph.ts';

const nonsense = /\bNaN\b|\bundefined\b|Invalid Date|\[object Object\]|\bInfinity\b/;

/** Each name of a field with one bit flipped in one of its places: valid JSON in which that field is missing. */
function damagesOf(text: string): string[] {
  const names = new Set(Array.from(text.matchAll(/"(\w+)":/g), ([name]) => name));
  return [...names].flatMap((name) => {
    const places = Array.from(text.matchAll(new RegExp(name, 'g')), ({ index }) => index);
    const chosen = [places[0], places[Math.floor(places.length / 2)], places.at(-1)];
    return [...new Set(chosen)].map((at = 0) => {
      const flipped = String.fromCharCode(text.charCodeAt(at + 1) ^ 1);
      return `${text.slice(0, at + 1)}${flipped}${text.slice(at + 2)}`;
    });
  });
}

/** A folder in which every run is damaged in another place. */
function damagedWorld(): World & { readonly runs: readonly string[] } {
  const world = makeWorld();
  const journals = [shopRun, prdRun].flatMap((scene) =>
    damagesOf(
      scene(world.cwd)
        .events.map((event) => `${JSON.stringify(event)}\n`)
        .join(''),
    ),
  );
  // A list has the last 200 runs.
  const sample = journals.filter((_, index) => index % Math.ceil(journals.length / 190) === 0);
  const runs = sample.map((text, index) => {
    const run = `20261116-000000-${String(index).padStart(3, '0')}bad`;
    const { journal } = runPaths(world.cwd, run);
    mkdirSync(dirname(journal), { recursive: true });
    writeFileSync(journal, text);
    return run;
  });
  return { ...world, runs };
}

describe('a journal with one bit flipped in the name of a field', () => {
  it('is listed, summed up and reported with all others, without nonsense', {
    timeout: 120_000,
  }, async () => {
    const { cwd, env, runs } = damagedWorld();
    expect(runs.length).toBeGreaterThan(80);
    for (const args of [['runs'], ['runs', '--json'], ['stats', '--all'], ['report', '--all', '--md']]) {
      const { code, stdout, stderr } = await runRalph(args, { cwd, env });
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
      expect(stdout).not.toMatch(nonsense);
    }
  });

  it('is shown, judged and watched alone', { timeout: 240_000 }, async () => {
    const { cwd, env, runs } = damagedWorld();
    for (const run of runs.filter((_, index) => index % 12 === 0)) {
      for (const args of [
        ['show', run],
        ['verdict', run],
        ['watch', run, '--plain'],
        ['stats', run],
      ]) {
        const { code, stdout, stderr } = await runRalph(args, { cwd, env });
        // Without its start a run cannot be judged again; the error says so.
        expect(code, `${args.join(' ')}: ${stderr}`).toBeLessThanOrEqual(2);
        expect(stderr).not.toMatch(/\bat .*:\d+:\d+|TypeError/);
        expect(stdout).not.toMatch(nonsense);
      }
    }
  });

  it('has a screen of ralph watch', async () => {
    const world = damagedWorld();
    const library = await libraryOf(world, false);
    const style = createStyle({ env: {}, isTTY: true });
    for (const run of world.runs) {
      const loop = library.view(run);
      if (loop === null) throw new Error(`no view of ${run}`);
      const view = { loop, live: noFigures, isAlive: false, output: '', log: null, state: startState };
      const lines = layoutWatch(view, { style, columns: 120, rows: 40, now: 0 });
      expect(lines.join('\n')).not.toMatch(nonsense);
    }
  });

  it('is drawn by the page of a report', { timeout: 240_000 }, async () => {
    const world = damagedWorld();
    const library = await libraryOf(world, false);
    const some = world.runs.filter((_, index) => index % 6 === 0);
    const about = { version: '1.2.3', madeAt: 0 };
    const data = await collectReport(library, some, createRedactor({}), about);
    const file = join(world.cwd, 'report.html');
    writeFileSync(file, reportHtml(built, data));
    const browser = await openBrowser();
    try {
      const { page, problems } = await openTab(browser, pathToFileURL(file).href, { offline: true });
      for (const run of some) {
        await page.evaluate(`location.hash = '#/loop/${run}'`);
        await page.locator('.loop-title .note', { hasText: run }).waitFor();
        expect(await page.locator('main').innerHTML()).not.toMatch(nonsense);
      }
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
