import { createHash } from 'node:crypto';
import type { LogRead } from '../../journal/read-log.ts';
import type { RunView } from '../../journal/run-view.ts';
import { type IterationDetails, readCheckLog, readDetails } from '../web/details.ts';
import type { Library } from '../web/library.ts';
import type { Page } from '../web/page.ts';
import type { LoopSummary } from '../web/summary.ts';

/** Data in a report, in place of a server. */
export type ReportData = {
  readonly version: string;
  readonly madeAt: number;
  readonly loops: readonly LoopSummary[];
  readonly views: Readonly<Record<string, RunView>>;
  /** By loop and index of the iteration. */
  readonly details: Readonly<Record<string, IterationDetails>>;
  /** By loop, index and name of the check. */
  readonly logs: Readonly<Record<string, LogRead>>;
};

/** Diffs and logs beyond this are left out, the oldest first: a report is to be sent. */
const maxChars = 8 * 1024 * 1024;

/** Everything that the page of these loops can show. */
export async function collectReport(
  library: Library,
  ids: readonly string[],
  version: string,
  madeAt: number,
): Promise<ReportData> {
  const views: Record<string, RunView> = {};
  const details: Record<string, IterationDetails> = {};
  const logs: Record<string, LogRead> = {};
  let left = maxChars;
  for (const id of ids) {
    const view = library.view(id);
    const folder = library.find(id)?.folder;
    if (view === null || folder === undefined) continue;
    views[id] = view;
    for (const one of view.iterations.toReversed()) {
      if (left <= 0) break;
      const found = await readDetails(folder, view, one);
      details[`${id} ${one.index}`] = found;
      left -= JSON.stringify(found).length;
      for (const [kind, checks] of [
        ['guardrail', one.guardrails] as const,
        ['verify', one.verify] as const,
      ]) {
        for (const [index, check] of checks.entries()) {
          const log = readCheckLog(folder, check);
          logs[`${id} ${one.index} ${kind}-${index}`] = log;
          left -= log.kind === 'text' ? log.text.length : 0;
        }
      }
    }
  }
  const loops = library.summaries().filter(({ id }) => Object.hasOwn(views, id));
  return { version, madeAt, loops, views, details, logs };
}

/** The page with its script, its style and its data in one file. Nothing else in it is run, and nothing is loaded. */
export function reportHtml(page: Page, data: ReportData): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(page.script)}'`,
    `style-src '${hashOf(page.style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // `<` is written otherwise, so that no text of an agent can end the element that it stands in.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<title>Ralph: report</title>',
    '<link rel="icon" href="data:,">',
    `<style>${page.style}</style>`,
    '</head>',
    '<body>',
    `<script type="application/json" id="report">${json}</script>`,
    `<script type="module">${page.script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
