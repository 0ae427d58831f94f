import { secretSettings } from '../config/secret-settings.ts';
import { loadSettings } from '../config/settings.ts';
import { isSandboxed } from '../config/settings-schema.ts';
import { messageOf } from '../core/error.ts';
import { type NoticeFacts, noticeOf } from '../core/notice.ts';
import { channelsOf, type Delivery, type NotifyWorld } from '../os/notify/delivery.ts';
import { sendNotice } from '../os/notify/send.ts';
import { controllingTerminal } from '../os/notify/tty.ts';
import { createRedactor } from '../os/redact/redact.ts';

/** Longest time that a hook or a supervisor spends on notices. */
const longestMs = 8000;

export type NotifyEnd = {
  readonly deliveries: readonly Delivery[];
  /** Error in the settings, because of which nothing was sent. */
  readonly problem?: string;
};

/**
 * Tells a person about a loop that no `ralph run` drives: one inside a session, or a worker. The settings are those of
 * the folder that it works in. Never rejects.
 */
export async function notifyEnd(
  facts: NoticeFacts,
  { cwd, env, version }: Pick<NotifyWorld, 'cwd' | 'env' | 'version'>,
): Promise<NotifyEnd> {
  try {
    const { settings } = loadSettings({ cwd, env });
    if (channelsOf(settings.notify).length === 0) return { deliveries: [] };
    const redactor = createRedactor({ ...env, ...secretSettings(settings) });
    const notice = noticeOf({ ...facts, because: redactor.text(facts.because) });
    const stop = AbortSignal.timeout(longestMs);
    const terminal = controllingTerminal();
    const sandboxed = isSandboxed(settings);
    const world = { cwd, sandboxed, env, version, terminal, stop };
    return { deliveries: await sendNotice(notice, settings.notify, world) };
  } catch (error) {
    return { deliveries: [], problem: messageOf(error) };
  }
}
