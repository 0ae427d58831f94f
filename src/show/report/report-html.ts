import { createHash } from 'node:crypto';
import type { LogRead } from '../../journal/read-log.ts';
import type { RunView } from '../../journal/run-view.ts';
import type { Diff } from '../../os/git/git-diff.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import { type Result, resultOf } from '../result.ts';
import { type RunFigures, runFigures } from '../stats/figures.ts';
import { type IterationDetails, readChanges, readCheckLog, readDetails } from '../web/details.ts';
import type { Library } from '../web/library.ts';
import type { Page } from '../web/page.ts';
import { readTranscript, type Transcript } from '../web/transcript.ts';

/** Data in a report, in place of a server. */
export type ReportData = Awaited<ReturnType<typeof collectReport>>;

/** Diffs and logs beyond this are left out, the oldest first: a report is to be sent. */
const maxChars = 8 * 1024 * 1024;

/** Everything that the page of these loops can show. */
export async function collectReport(
  library: Library,
  ids: readonly string[],
  redactor: Redactor,
  about: { readonly version: string; readonly madeAt: number },
) {
  const views: Record<string, RunView> = {};
  const results: Record<string, Result> = {};
  /** By loop and index of the iteration. */
  const details: Record<string, IterationDetails> = {};
  /** By loop, index and name of the check. */
  const logs: Record<string, LogRead> = {};
  const changes: Record<string, Diff | null> = {};
  const transcripts: Record<string, Transcript> = {};
  const figures: RunFigures[] = [];
  let left = maxChars;
  for (const id of ids) {
    const view = library.view(id);
    const source = library.find(id);
    if (view === null || source === null) continue;
    const cwd = source.folder;
    views[id] = view;
    figures.push(runFigures(id, view, about.madeAt));
    changes[id] = await readChanges({ cwd, redactor }, view, undefined);
    results[id] = await resultOf(cwd, view);
    for (const one of view.iterations.toReversed()) {
      if (left <= 0) break;
      const parts = await readDetails({ cwd, redactor }, view, one);
      details[`${id} ${one.index}`] = parts;
      const transcript = await readTranscript(source, view, one, redactor);
      transcripts[`${id} ${one.index}`] = transcript;
      left -= JSON.stringify([parts, transcript]).length;
      const guardrails = one.guardrails.map((check, index) => ({ check, name: `guardrail-${index}` }));
      const verify = one.verify.map((check, index) => ({ check, name: `verify-${index}` }));
      for (const { check, name } of [...guardrails, ...verify]) {
        const log = readCheckLog(cwd, check);
        logs[`${id} ${one.index} ${name}`] = log;
        left -= log.kind === 'text' ? log.text.length : 0;
      }
    }
  }
  const loops = library.summaries().filter(({ id }) => Object.hasOwn(views, id));
  return { ...about, loops, views, results, changes, details, logs, transcripts, figures };
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
