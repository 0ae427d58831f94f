import { createHash } from 'node:crypto';
import type { RunView } from '../../journal/run-view.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import { resultOf } from '../result.ts';
import { type RunFigures, runFigures } from '../stats/figures.ts';
import { readChanges, readCheckLog, readDetails } from '../web/details.ts';
import type { Library } from '../web/library.ts';
import type { Page } from '../web/page.ts';
import { checksOf, loopPath } from '../web/summary.ts';
import { readTranscript } from '../web/transcript.ts';

export type ReportData = Awaited<ReturnType<typeof collectReport>>;

/** Diffs and logs beyond this are left out, the oldest first: a report is to be sent. */
const maxChars = 8 * 1024 * 1024;

/** Everything that the page of these loops can show: the answers of a server, by their paths. */
export async function collectReport(
  library: Library,
  ids: readonly string[],
  redactor: Redactor,
  about: { readonly version: string; readonly madeAt: number },
) {
  const views: Record<string, RunView> = {};
  const answers: Record<string, unknown> = { '/api/info': { version: about.version, control: false } };
  const figures: RunFigures[] = [];
  let left = maxChars;
  for (const id of ids) {
    const view = library.view(id);
    const source = library.find(id);
    if (view === null || source === null) continue;
    const { folder } = source;
    const place = { view, folder, redactor };
    views[id] = view;
    figures.push(runFigures(id, view, about.madeAt));
    answers[`${loopPath(id)}/changes`] = await readChanges(place, undefined);
    answers[`${loopPath(id)}/result`] = await resultOf(folder, view);
    for (const one of view.iterations.toReversed()) {
      if (left <= 0) break;
      const path = `${loopPath(id)}/iterations/${one.index}`;
      const logs = checksOf(one).map((check) => [`${path}/logs/${check.name}`, readCheckLog(folder, check)]);
      const parts = {
        [path]: await readDetails(place, one),
        [`${path}/transcript`]: await readTranscript(source, view, one, redactor),
        ...Object.fromEntries(logs),
      };
      Object.assign(answers, parts);
      left -= JSON.stringify(parts).length;
    }
  }
  answers['/api/figures'] = figures;
  const loops = library.summaries().filter(({ id }) => Object.hasOwn(views, id));
  return { ...about, loops, views, answers };
}

/** The page with its script, its style and its data in one file. Nothing else in it is run, and nothing is loaded. */
export function reportHtml({ html, whole: script, style }: Page, data: ReportData): string {
  const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; img-src data:; base-uri 'none'; form-action 'none'`;
  // `<` is written otherwise, so that no text of an agent can end the element that it stands in.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<title>Ralph: report</title>`;
  const body = `<script type="application/json" id="report">${json}</script>\n<script type="module">${script}</script>`;
  return html
    .replace('<title>Ralph</title>', () => head)
    .replace('<link rel="stylesheet" href="/app.css">', () => `<style>${style}</style>`)
    .replace('<script src="/app.js" type="module"></script>', () => body);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
