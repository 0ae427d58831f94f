import { randomBytes } from 'node:crypto';
import * as http from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { messageOf, RalphError } from '../../core/error.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import { refuseStranger, safeHeaders } from './access.ts';
import { openLibrary } from './library.ts';
import { createRoutes, type DashboardOptions } from './routes.ts';
import { Streams } from './stream.ts';

/** Serves the page and its data on the loopback address. */
export async function startDashboard(options: DashboardOptions) {
  const token = randomBytes(24).toString('base64url');
  const library = await openLibrary({ ...options, withFleet: true });
  const streams = new Streams(library);
  const door: { port: number; token: string } = { port: options.port, token };
  const routes = createRoutes({ door, options, library, streams, redactor: createRedactor(options.env) });
  const answer = getRequestListener(routes.fetch, { overrideGlobalObjects: false });
  const server = http.createServer((request, response) => {
    for (const [name, value] of Object.entries(safeHeaders)) response.setHeader(name, value);
    const refusal = refuseStranger(request, door);
    if (refusal === null) return void answer(request, response);
    const body = JSON.stringify({ error: { message: refusal.why } });
    response.writeHead(refusal.status, { 'Content-Type': 'application/json; charset=utf-8' }).end(body);
  });
  await listen(server, options);
  const address = server.address();
  door.port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    /** For a browser: the token stands behind the `#`, so that it is in no request and in no log. */
    url: `http://127.0.0.1:${door.port}/#token=${token}`,
    port: door.port,
    token,
    close: () =>
      new Promise<void>((done) => {
        streams.close(`${options.program} dashboard`);
        server.close(() => done());
        // Later, so that the last words are sent.
        setImmediate(() => server.closeAllConnections());
      }),
  };
}

function listen(server: http.Server, { port, program }: DashboardOptions): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? `port ${port} is taken` : messageOf(error);
      const remedy = `${program} dashboard`;
      fail(new RalphError('dashboard-port', `the dashboard cannot start: ${why}`, { remedy }));
    });
    server.listen(port, '127.0.0.1', done);
  });
}
