import { basename } from 'node:path';
import { secretSettings } from '../../config/secret-settings.ts';
import { isOfProject, loadSettings } from '../../config/settings.ts';
import { settingsError } from '../../config/settings-problem.ts';
import { RalphError } from '../../core/error.ts';
import { noticeOf } from '../../core/notice.ts';
import { newRunId } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { notifyProblem } from '../../os/notify/check.ts';
import { type Channel, channels, channelsOf } from '../../os/notify/delivery.ts';
import { sendBy } from '../../os/notify/send.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import { createStyle } from '../../show/terminal/style.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { terminalOf } from '../kernel/terminal-of.ts';
import type { jsonOptions } from './options.ts';

/** Sends a test notice, so that nobody has to wait for a loop to end to know that it arrives. */
export async function test(context: Context, { values, args }: Input<typeof jsonOptions>): Promise<number> {
  const { cwd, env, stdout } = context;
  const loaded = loadSettings({ cwd, env });
  const { settings } = loaded;
  const ownSecret = isOfProject(loaded, 'notify.secret');
  const problem = notifyProblem(settings.notify, env, { ownSecret });
  if (problem !== null) throw settingsError(problem);
  const wanted = wantedChannels(channelsOf(settings.notify), args[0]);
  const now = systemClock.now();
  const notice = noticeOf({
    kind: 'done',
    because: 'This is a test: notifications from here arrive.',
    run: newRunId(now),
    project: basename(cwd),
    at: new Date(now).toISOString(),
  });
  const world = { cwd, env, version: __VERSION__, terminal: terminalOf(context) };
  const sent = await Promise.all(wanted.map((channel) => sendBy(channel, notice, settings.notify, world)));
  const redactor = createRedactor({ ...env, ...secretSettings(settings) });
  const results = sent.map((one) => ({ ...one, detail: redactor.text(one.detail) }));
  const style = createStyle({ env, isTTY: stdout.isTTY });
  const lines = results.map(
    ({ channel, ok, detail }) => `${style.symbol(ok ? 'pass' : 'fail')} ${channel.padEnd(7)}  ${detail}\n`,
  );
  stdout.write(values.json ? `${JSON.stringify({ v: 1, sent: results }, null, 2)}\n` : lines.join(''));
  return results.every(({ ok }) => ok) ? 0 : 1;
}

function wantedChannels(ready: readonly Channel[], word: string | undefined): readonly Channel[] {
  const known = channels.find((channel) => channel === word);
  if (word !== undefined && known === undefined) {
    throw new RalphError('usage', `there is no channel "${word}", only ${channels.join(', ')}`, {
      remedy: 'ralph notify test',
    });
  }
  // These two need no settings to be tried.
  if (known === 'bell' || known === 'desktop') return [known];
  const wanted = known === undefined ? ready : ready.filter((channel) => channel === known);
  if (wanted.length > 0) return wanted;
  const missing = known === undefined ? 'no notification is set up' : `notify.${known} is not set`;
  throw new RalphError('notify', missing, {
    remedy:
      'put "notify": { "desktop": true } into .ralph/settings.json (docs/notifications.md has the rest)',
  });
}
