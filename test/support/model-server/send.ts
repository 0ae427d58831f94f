import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelError } from './script.ts';
import type { Pause, Reply, WireApi, WireEvent } from './wire.ts';

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function sendError(response: ServerResponse, api: WireApi, error: ModelError): void {
  sendJson(response, error.status, error.body ?? api.errorBody(error), error.headers);
}

type SendOptions = { readonly stream: boolean; readonly cut: boolean; readonly stop: AbortSignal };

/** Sends a reply in one piece or as a stream of events; with `cut` the connection breaks before its end. */
export async function send(
  response: ServerResponse,
  api: WireApi,
  reply: Reply,
  options: SendOptions,
): Promise<void> {
  const { stream, cut, stop } = options;
  const { whole, events, end } = api.answer(reply);
  if (!stream) {
    for (const part of reply.parts) if ('pause' in part) await pause(part, response, stop);
    return cut ? void response.destroy() : sendJson(response, 200, whole);
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  for (const event of cut ? events : [...events, ...end]) {
    if ('pause' in event) await pause(event, response, stop);
    else response.write(formatEvent(event, api.namedEvents));
  }
  if (!cut) return void response.end();
  // A comment of the protocol: once it is out, everything before it is.
  response.write(': cut\n\n', () => response.destroy());
}

function formatEvent({ data }: Exclude<WireEvent, Pause>, named: boolean): string {
  if (data === '[DONE]') return 'data: [DONE]\n\n';
  return `${named ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
}

/** Ends early when the client leaves or the server closes. */
async function pause({ pause: ms }: Pause, response: ServerResponse, stop: AbortSignal): Promise<void> {
  if (response.destroyed || stop.aborted) return;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, stop]);
  if (ms === Number.POSITIVE_INFINITY) await once(signal, 'abort');
  else await sleep(ms, undefined, { signal });
}
