import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf } from '../core/error.ts';
import { lifeline } from './carry.ts';
import { type HostRule, isPublic, meansPrivate, plainHost, ruleFor } from './hosts.ts';
import type { DeniedHost } from './sandbox.ts';

export type Resolve = (host: string) => Promise<readonly string[]>;

export type ProxyOptions = {
  readonly rules: readonly HostRule[];
  onDenied(host: DeniedHost): void;
  readonly resolve?: Resolve | undefined;
};

type HostProxy = { close(): Promise<void> };

type Way =
  | { readonly addresses: readonly string[] }
  | { readonly refused: string; readonly status: 403 | 502 };

const connectTimeoutMs = 30_000;
/** For each address of a name. */
const attemptTimeoutMs = 10_000;
/** Each has one file open here, or two with that to its host; the loop needs some as well. */
const maxConnections = 256;
const maxName = 253;
const established = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** Listens on a unix socket and carries connections to the hosts that the rules allow, and to no other. */
export async function startProxy(socketPath: string, options: ProxyOptions): Promise<HostProxy> {
  const server = createServer((incoming, answer) => {
    forward(incoming, answer, options).catch((error) => reply(answer, 502, messageOf(error)));
  });
  server.maxConnections = maxConnections;
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnel(incoming.url ?? '', client, head, options).catch(() => client.destroy());
  });
  // A protocol that we do not speak would be a way around the rules.
  server.on('upgrade', (_incoming: IncomingMessage, client: Duplex) => client.destroy());
  server.on('clientError', (_error, client) => client.destroy());
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
  });
  await once(server.listen(socketPath), 'listening');
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

async function tunnel(target: string, client: Duplex, head: Buffer, options: ProxyOptions): Promise<void> {
  client.on('error', () => {});
  if (target === lifeline) return void client.write(established);
  const place = /^(?<host>\[[^\]]+\]|[^:]+):(?<port>\d{1,5})$/.exec(target)?.groups;
  if (place?.host === undefined) return refuse(client, 400, 'CONNECT needs a host and a port');
  const [host, port] = [plainHost(place.host), Number(place.port)];
  const way = await findWay(host, port, options);
  if ('refused' in way) return refuse(client, way.status, way.refused);
  const server = connect({ ...towards(host, way.addresses), port, timeout: connectTimeoutMs });
  const fail = (why: string) => {
    if (server.connecting || server.pending) refuse(client, 502, why);
    else client.destroy();
    server.destroy();
  };
  server.once('timeout', () => fail('no answer in time'));
  server.once('error', (error) => fail(messageOf(error)));
  client.once('close', () => server.destroy());
  server.once('close', () => client.destroy());
  server.once('connect', () => {
    server.setTimeout(0);
    client.write(established);
    if (head.length > 0) server.write(head);
    server.pipe(client).pipe(server);
  });
}

/** Forwards a request without TLS. The address in its first line counts, not its Host header. */
async function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  options: ProxyOptions,
): Promise<void> {
  const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : null;
  if (url?.protocol !== 'http:') return reply(answer, 400, 'the proxy takes http:// addresses and CONNECT');
  const [host, port] = [plainHost(url.hostname), Number(url.port || 80)];
  const way = await findWay(host, port, options);
  if ('refused' in way) return reply(answer, way.status, way.refused);
  const { 'proxy-connection': _, 'proxy-authorization': __, ...headers } = incoming.headers;
  const onward = request(
    {
      ...towards(host, way.addresses),
      port,
      agent: false,
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, connection: 'close' },
      timeout: connectTimeoutMs,
    },
    (response) => {
      const status = response.statusCode ?? 0;
      if (status < 200) return void onward.destroy(new Error(`the host answers with status ${status}`));
      answer.writeHead(status, response.headers);
      response.pipe(answer);
    },
  );
  onward.on('upgrade', (_response, socket) => {
    socket.destroy();
    reply(answer, 502, 'the host speaks another protocol');
  });
  onward.on('error', (error) => reply(answer, 502, messageOf(error)));
  answer.once('close', () => onward.destroy());
  incoming.pipe(onward);
}

/** Returns options to connect to the first address that answers: many names have one that leads nowhere. */
function towards(host: string, addresses: readonly string[]) {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, _options, answer) => answer(null, all);
  // Node gives up an address after 250 ms, and does not come back to it when the next one fails.
  return { host, lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: attemptTimeoutMs };
}

/** Returns the addresses of an allowed host. Only these are connected to, so that a name cannot change its address. */
async function findWay(
  host: string,
  port: number,
  { rules, onDenied, resolve = lookupAll }: ProxyOptions,
): Promise<Way> {
  const rule = ruleFor(rules, host, port);
  const deny = (because: string): Way => {
    onDenied({ host: host.slice(0, maxName), port, because });
    return { refused: `${host}:${port} ${because}`, status: 403 };
  };
  if (rule === undefined) return deny('is not an allowed host');
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host) : [host];
  } catch (error) {
    return { refused: `${host} cannot be found: ${messageOf(error)}`, status: 502 };
  }
  const fit = meansPrivate(rule) ? addresses : addresses.filter(isPublic);
  if (fit.length > 0) return { addresses: fit };
  return deny(`leads to ${addresses.join(', ') || 'no address'}, which is not public`);
}

async function lookupAll(host: string): Promise<string[]> {
  if (host === 'localhost') return ['127.0.0.1', '::1'];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function refuse(client: Duplex, status: number, why: string): void {
  client.end(`HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${why}\n`);
}

function reply(answer: ServerResponse, status: number, why: string): void {
  if (answer.headersSent) return void answer.destroy();
  answer.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
  answer.end(`${why}\n`);
}
