import { resolve } from 'node:path';
import { asRuns, pickRun } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { writeAtomic } from '../../os/files/files.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import { collectReport, reportHtml } from '../../show/report/report-html.ts';
import { reportMarkdown } from '../../show/report/report-md.ts';
import { openLibrary } from '../../show/web/library.ts';
import { readPage } from '../../show/web/page.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { pageFolder } from './dashboard.ts';
import type { reportOptions } from './options.ts';

export async function main(context: Context, { values, args }: Input<typeof reportOptions>): Promise<void> {
  const { cwd, env, stdout } = context;
  const library = await openLibrary({ env, cwd, now: () => systemClock.now(), withFleet: false });
  const runs = library
    .summaries()
    .map(({ id }) => id)
    .sort();
  const ids = values.all && args[0] === undefined ? runs : [pickRun(asRuns(runs), args[0]).run];
  const now = systemClock.now();
  if (values.md) {
    const views = ids.flatMap((id) => library.view(id) ?? []);
    return write(context, values.output ?? '-', views.map((view) => reportMarkdown(view, now)).join('\n'));
  }
  const path = values.output ?? (ids.length === 1 ? `report-${ids[0]}.html` : 'report.html');
  const about = { version: __VERSION__, madeAt: now };
  const data = await collectReport(library, ids, createRedactor(env), about);
  write(context, path, reportHtml(readPage(pageFolder), data));
  if (path !== '-') stdout.write(`${path}\n`);
}

function write({ cwd, stdout }: Context, path: string, text: string): void {
  if (path === '-') stdout.write(text);
  else writeAtomic(resolve(cwd, path), text);
}
