import { basename } from 'node:path';
import { isOfProject, loadSettings } from '../../config/settings.ts';
import { settingsError } from '../../config/settings-problem.ts';
import { settingsRedactor } from '../../config/settings-redactor.ts';
import { isSandboxed } from '../../config/settings-schema.ts';
import { RalphError } from '../../core/error.ts';
import { noticeOf } from '../../core/notice.ts';
import { newRunId } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { notifyProblem } from '../../os/notify/check.ts';
import { type Channel, channels, channelsOf } from '../../os/notify/delivery.ts';
import { sendBy } from '../../os/notify/send.ts';
import { styleOf, terminalOf, writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { jsonOptions } from './options.ts';
import { requireTrust } from './trust.ts';

/** Sends a test notice by the channels of the settings, or by one of them. */
export async function test(context: Context, { values, args }: Input<typeof jsonOptions>): Promise<number> {
  const { cwd, env, stdout } = context;
  const loaded = loadSettings({ cwd, env, trust: await requireTrust(context, {}) });
  const { settings } = loaded;
  const ownSecret = isOfProject(loaded, 'notify.secret');
  const place = { cwd, env, sandboxed: isSandboxed(settings) };
  const problem = notifyProblem(settings.notify, place, { ownSecret });
  if (problem !== null) throw settingsError(problem);
  const chosen = chooseChannels(channelsOf(settings.notify), args[0]);
  const now = systemClock.now();
  const notice = noticeOf({
    kind: 'done',
    headline: 'sends a test',
    because: 'This is a test: notifications from here arrive.',
    run: newRunId(now),
    project: basename(cwd),
    at: new Date(now).toISOString(),
    next: 'ralph runs',
  });
  const world = { ...place, version: __VERSION__, terminal: terminalOf(context) };
  const answers = await Promise.all(chosen.map((channel) => sendBy(channel, notice, settings.notify, world)));
  const redactor = settingsRedactor(settings, env);
  const results = answers.map((one) => ({ ...one, detail: redactor.text(one.detail) }));
  const style = styleOf(context);
  if (values.json) writeJson(context, { v: 1, sent: results });
  else
    for (const { channel, ok, detail } of results)
      stdout.write(`${style.symbol(ok ? 'pass' : 'fail')} ${channel.padEnd(8)}  ${detail}\n`);
  return results.every(({ ok }) => ok) ? 0 : 1;
}

function chooseChannels(ready: readonly Channel[], word: string | undefined): readonly Channel[] {
  const channel = channels.find((one) => one === word);
  if (word !== undefined && channel === undefined) {
    throw new RalphError('usage', `there is no channel "${word}", only ${channels.join(', ')}`, {
      remedy: 'ralph notify test',
    });
  }
  // These two need no settings.
  if (channel === 'bell' || channel === 'desktop') return [channel];
  const chosen = channel === undefined ? ready : ready.filter((one) => one === channel);
  if (chosen.length > 0) return chosen;
  const missing = channel === undefined ? 'no notification is set up' : `notify.${channel} is not set`;
  throw new RalphError('notify', missing, {
    remedy:
      'put "notify": { "desktop": true } into .ralph/settings.json (docs/notifications.md has the rest)',
  });
}
