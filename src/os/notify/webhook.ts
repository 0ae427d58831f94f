import { createHmac, randomUUID } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootCertificates } from 'node:tls';
import type { Notice } from '../../core/notice.ts';
import { errorCode } from '../files/file-error.ts';
import { tryReadText } from '../files/files.ts';
import type { NotifyWorld } from './delivery.ts';

const timeoutMs = 5000;
/** Pauses before the second and the third attempt; there is no fourth. */
const pauses = [500, 2000];

export type WebhookTarget = {
  readonly url: string;
  readonly secret?: string | undefined;
  /** A file of certificates to trust beside the usual ones. */
  readonly certificates?: string | undefined;
  /** For tests: the pauses between attempts. */
  readonly pauses?: readonly number[];
};

/** Posts the notice as JSON, signed if there is a secret. */
export function postNotice(
  notice: Notice,
  target: WebhookTarget,
  world: Pick<NotifyWorld, 'version' | 'stop'>,
): Promise<{ ok: boolean; detail: string }> {
  const id = randomUUID();
  const body = { v: 1, id, ...notice, text: `${notice.title}\n${notice.body}`.trim() };
  return postJson(body, target, world, (seconds, text) => ({
    'x-ralph-delivery': id,
    'x-ralph-timestamp': String(seconds),
    ...(target.secret === undefined
      ? {}
      : { 'x-ralph-signature': `sha256=${signature(target.secret, seconds, text)}` }),
  }));
}

/** Posts JSON. Tries up to three times. */
export async function postJson(
  value: object,
  target: WebhookTarget,
  { version, stop }: Pick<NotifyWorld, 'version' | 'stop'>,
  moreHeaders: (seconds: number, body: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<{ ok: boolean; detail: string }> {
  const body = JSON.stringify(value);
  const delays = target.pauses ?? pauses;
  for (let attempt = 1; ; attempt++) {
    const seconds = Math.floor(Date.now() / 1000);
    const result = await post(new URL(target.url), body, {
      certificates: target.certificates,
      stop,
      headers: {
        'content-type': 'application/json',
        'user-agent': `ralphkit/${version}`,
        ...moreHeaders(seconds, body),
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

/** The status of an answer; or why there was none, which names neither the address nor anything that may be secret. */
type PostResult = number | string;

function mayPass(result: PostResult): boolean {
  return typeof result === 'string' || result >= 500 || result === 408 || result === 429;
}

function verdict(result: PostResult, attempts: number): { ok: boolean; detail: string } {
  const times = attempts === 1 ? '' : ` (${attempts} attempts)`;
  if (typeof result === 'string') return { ok: false, detail: `${result}${times}` };
  return { ok: result >= 200 && result < 300, detail: `answered with status ${result}${times}` };
}

/** Sends one POST. Follows no redirects, does not read the answer's body, and never rejects. */
function post(
  url: URL,
  body: string,
  options: Pick<WebhookTarget, 'certificates'> & {
    readonly headers: Readonly<Record<string, string>>;
    readonly stop: AbortSignal | undefined;
  },
): Promise<PostResult> {
  const { headers, stop, certificates } = options;
  const isSecure = url.protocol === 'https:';
  const extra = isSecure && certificates ? tryReadText(certificates) : null;
  const start = isSecure ? secureRequest : plainRequest;
  const timeout = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve) => {
    const bytes = Buffer.from(body);
    const request = start(url, {
      method: 'POST',
      // Kept-alive connections would hold the process.
      agent: false,
      headers: { ...headers, 'content-length': bytes.length },
      signal: AbortSignal.any([timeout, ...(stop ? [stop] : [])]),
      ...(extra === null ? {} : { ca: [...rootCertificates, extra] }),
    });
    request.on('response', ({ statusCode = 0 }) => {
      resolve(statusCode);
      request.destroy();
    });
    request.on('error', (error) => {
      resolve(timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : reason(error));
    });
    request.end(bytes);
  });
}

function reason(error: Error): string {
  const code = errorCode(error) ?? error.name;
  const reasons: Record<string, string> = {
    ECONNREFUSED: 'the connection was refused',
    ECONNRESET: 'the connection was cut',
    ENOTFOUND: 'its host name is not known',
    EAI_AGAIN: 'its host name cannot be looked up now',
    ABORT_ERR: 'given up because the run was stopped',
  };
  return reasons[code] ?? code;
}
