import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { certificate, certificateKey } from './certificate.ts';

export type HookServer = {
  readonly url: string;
  readonly received: {
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
    readonly path: string;
  }[];
};

/** A server on this machine that keeps what is posted to it and answers with `status`. It goes when the test ends. */
export async function startHookServer(
  status = 200,
  answer: string | Buffer = '',
  scheme: 'http' | 'https' = 'http',
): Promise<HookServer> {
  const received: HookServer['received'] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
      path: request.url ?? '',
    });
    response.writeHead(status).end(answer);
  };
  const server =
    scheme === 'http'
      ? createServer(listener)
      : createSecureServer({ cert: certificate, key: certificateKey }, listener);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close().closeAllConnections());
  return { url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}
