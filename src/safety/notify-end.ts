import { messageOf } from '../core/error.ts';
import { type NoticeFacts, noticeOf } from '../core/notice.ts';
import { secretSettings } from '../store/secret-settings.ts';
import { loadSettings } from '../store/settings.ts';
import { channelsOf, type Delivery, type NotifyWorld } from '../system/notify/delivery.ts';
import { sendNotice } from '../system/notify/send.ts';
import { controllingTerminal } from '../system/notify/tty.ts';
import { createRedactor } from './redact.ts';

/** Whoever waits for a hook or a supervisor does not wait long for this. */
const longestMs = 8000;

export type NotifyEnd = {
  readonly deliveries: readonly Delivery[];
  /** Why nothing was tried: the settings are wrong. */
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
    return { deliveries: await sendNotice(notice, settings.notify, { cwd, env, version, terminal, stop }) };
  } catch (error) {
    return { deliveries: [], problem: messageOf(error) };
  }
}
