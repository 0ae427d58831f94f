import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Notice } from '../../core/notice.ts';
import type { NotifyWorld } from './delivery.ts';
import { type PostResult, post } from './http.ts';

const timeoutMs = 5000;
/** Pauses before the second and the third attempt; there is no fourth. */
const pauses = [500, 2000];

export type WebhookTarget = {
  readonly url: string;
  readonly secret?: string;
  /** A file of certificates to trust beside the usual ones. */
  readonly certificates?: string | undefined;
  /** For tests: the pauses between attempts. */
  readonly pauses?: readonly number[];
};

/** Posts the notice as JSON, signed if there is a secret. Tries up to three times. */
export async function postNotice(
  notice: Notice,
  target: WebhookTarget,
  { version, stop }: Pick<NotifyWorld, 'version' | 'stop'>,
): Promise<{ ok: boolean; detail: string }> {
  const id = randomUUID();
  const body = JSON.stringify({ v: 1, id, ...notice, text: `${notice.title}\n${notice.body}`.trim() });
  const delays = target.pauses ?? pauses;
  for (let attempt = 1; ; attempt++) {
    const seconds = Math.floor(Date.now() / 1000);
    const result = await post(new URL(target.url), body, {
      timeoutMs,
      certificates: target.certificates,
      ...(stop ? { signal: stop } : {}),
      headers: {
        'content-type': 'application/json',
        'user-agent': `ralphkit/${version}`,
        'x-ralph-delivery': id,
        'x-ralph-timestamp': String(seconds),
        ...(target.secret === undefined
          ? {}
          : { 'x-ralph-signature': `sha256=${signature(target.secret, seconds, body)}` }),
      },
    });
    const pause = delays[attempt - 1];
    if (pause === undefined || !mayPass(result) || stop?.aborted) return verdict(result, attempt);
    await sleep(pause, undefined, stop ? { signal: stop } : {}).catch(() => {});
  }
}

/** HMAC-SHA256 of the time and the body, so that an old message cannot be sent again as a new one. */
function signature(secret: string, seconds: number, body: string): string {
  return createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
}

/** True if another attempt may help. */
function mayPass(result: PostResult): boolean {
  if (result.kind === 'failed') return true;
  return result.status >= 500 || result.status === 408 || result.status === 429;
}

function verdict(result: PostResult, attempts: number): { ok: boolean; detail: string } {
  const times = attempts === 1 ? '' : ` (${attempts} attempts)`;
  if (result.kind === 'failed') return { ok: false, detail: `${result.why}${times}` };
  const ok = result.status >= 200 && result.status < 300;
  return { ok, detail: `answered with status ${result.status}${times}` };
}
