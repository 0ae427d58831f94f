import { resolve } from 'node:path';
import type { RunView } from '../../journal/run-view.ts';
import { asRuns, pickRun } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { writeAtomic } from '../../os/files/files.ts';
import { collectReport, reportHtml } from '../../show/report/report-html.ts';
import { reportMarkdown } from '../../show/report/report-md.ts';
import { openLibrary } from '../../show/web/library.ts';
import { readPage } from '../../show/web/page.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { pageFolder } from './dashboard.ts';
import type { reportOptions } from './options.ts';

export async function main(context: Context, { values, args }: Input<typeof reportOptions>): Promise<number> {
  const { cwd, env, stdout } = context;
  const library = await openLibrary({ env, cwd, now: () => systemClock.now(), withFleet: false });
  const runs = library
    .summaries()
    .map(({ id }) => id)
    .sort();
  const ids = values.all && args[0] === undefined ? runs : [pickRun(asRuns(runs), args[0]).run];
  if (values.md) {
    const views = ids.map((id) => library.view(id));
    return writeMarkdown(context, values.output, views);
  }
  const name = ids.length === 1 ? `report-${ids[0]}.html` : 'report.html';
  const data = await collectReport(library, ids, __VERSION__, systemClock.now());
  const html = reportHtml(readPage(pageFolder), data);
  if (values.output === '-') {
    stdout.write(html);
    return 0;
  }
  writeAtomic(resolve(cwd, values.output ?? name), html, { mode: 0o644 });
  stdout.write(`${values.output ?? name}\n`);
  return 0;
}

function writeMarkdown(
  { cwd, stdout }: Context,
  output: string | undefined,
  views: readonly (RunView | null)[],
): number {
  const now = systemClock.now();
  const text = views.flatMap((view) => (view ? [reportMarkdown(view, now)] : [])).join('\n');
  if (output === undefined || output === '-') stdout.write(text);
  else writeAtomic(resolve(cwd, output), text, { mode: 0o644 });
  return 0;
}
