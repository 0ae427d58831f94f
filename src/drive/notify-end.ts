import { loadSettings } from '../config/settings.ts';
import { settingsRedactor } from '../config/settings-redactor.ts';
import { isSandboxed } from '../config/settings-schema.ts';
import { examineTrust } from '../config/trust/trust.ts';
import { messageOf } from '../core/error.ts';
import { type NoticeFacts, noticeOf } from '../core/notice.ts';
import { channelsOf, type Delivery, type NotifyWorld } from '../os/notify/delivery.ts';
import { controllingTerminal } from '../os/notify/desktop.ts';
import { sendNotice } from '../os/notify/send.ts';

/** Longest time that a hook or a supervisor spends on notices. */
const longestMs = 8000;

const notTrusted = 'the settings that came with this folder are not trusted (ralph trust)';

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
    const trust = await examineTrust(cwd, env);
    const { settings } = loadSettings({ cwd, env, trust });
    if (channelsOf(settings.notify).length === 0) {
      return trust.isTrusted ? { deliveries: [] } : { deliveries: [], problem: notTrusted };
    }
    const redactor = settingsRedactor(settings, env);
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
