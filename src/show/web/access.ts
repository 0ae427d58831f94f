import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Why a request is refused, with the status that says so. */
export type Refusal = { readonly status: 401 | 403 | 405 | 415; readonly why: string };

export type Door = { readonly port: number; readonly token: string };

type Request = { readonly method?: string | undefined; readonly headers: IncomingHttpHeaders };

/**
 * Before anything is routed: a name that only resolves to us, another site in the same browser, or a method that
 * nothing here has, get no further.
 */
export function refuseStranger({ method = '', headers }: Request, { port }: Door): Refusal | null {
  if (!hostsOf(port).includes(headers.host ?? ''))
    return { status: 403, why: 'this address is not ours: open the one that was printed' };
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST')
    return { status: 405, why: `there is no ${method} here` };
  const { origin } = headers;
  if (origin !== undefined && !originsOf(port).includes(origin))
    return { status: 403, why: 'another site has no business here' };
  if (method !== 'POST') return null;
  if (origin === undefined)
    return { status: 403, why: `a change needs the header Origin: http://${hostsOf(port)[0]}` };
  if (!/^application\/json(;\s*charset=utf-8)?$/i.test(headers['content-type'] ?? ''))
    return { status: 415, why: 'a change is sent as application/json' };
  return null;
}

/** Whoever wants data has to show the token of this start. */
export function refuseUnknown({ headers }: Request, { token }: Door): Refusal | null {
  const shown = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  if (timingSafeEqual(digest(shown), digest(token))) return null;
  return {
    status: 401,
    why: 'the token is missing or wrong: open the address that was printed at the start',
  };
}

export const safeHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

function hostsOf(port: number): string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`];
}

function originsOf(port: number): string[] {
  return hostsOf(port).map((host) => `http://${host}`);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
