import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import { errorCode } from '../files/file-error.ts';
import { tryReadText } from '../files/files.ts';

export type PostResult =
  | { readonly kind: 'answered'; readonly status: number }
  /** `why` names neither the address nor anything else that may be secret. */
  | { readonly kind: 'failed'; readonly why: string };

/** Sends one POST. Follows no redirects, does not read the answer's body, and never rejects. */
export function post(
  url: URL,
  body: string,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly signal?: AbortSignal;
    /** A file of certificates to trust beside the usual ones. */
    readonly certificates?: string | undefined;
  },
): Promise<PostResult> {
  const { headers, timeoutMs, signal, certificates } = options;
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
      signal: AbortSignal.any([timeout, ...(signal ? [signal] : [])]),
      ...(extra === null ? {} : { ca: [...rootCertificates, extra] }),
    });
    request.on('response', ({ statusCode = 0 }) => {
      resolve({ kind: 'answered', status: statusCode });
      request.destroy();
    });
    request.on('error', (error) => {
      resolve({
        kind: 'failed',
        why: timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : reason(error),
      });
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
