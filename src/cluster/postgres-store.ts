import { Socket } from 'node:net';
import { createPostgresBackend, isPgPool, Queue, runMigrations } from 'bullmq';
import { Pool, type PoolClient } from 'pg';
import { messageOf } from '../core/error.ts';
import type { EngineAddress } from './address.ts';
import { laneOptions, openLane } from './lanes.ts';
import { postgresSchema, schemaVersion } from './postgres-schema.ts';
import type { Lane, LeaseTimes, Store } from './store.ts';

/** BullMQ looks for its tables here; ours stand beside them in a schema of their own. */
const laneSchema = 'bullmq';
const setupLock = 0x52414c50;

/** A store on PostgreSQL. */
export async function openPostgresStore(address: EngineAddress, times: LeaseTimes): Promise<Store> {
  const sockets = new Set<Socket>();
  const pool = new Pool({
    ...connectionOf(address),
    stream() {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once('close', () => sockets.delete(socket));
    },
    max: 4,
    connectionTimeoutMillis: 5000,
    query_timeout: 5000,
    keepAlive: true,
    application_name: 'ralph-fleet',
    options: `-c search_path=${laneSchema}`,
  });
  // A connection that breaks while nobody uses it is replaced by the next call.
  pool.on('error', () => {});
  try {
    await setUp(pool);
  } catch (error) {
    await pool.end();
    // The client leaves a connection open whose server wants a password that nobody has, and the process with it.
    for (const socket of sockets) socket.destroy();
    const isAsked = address.password === null && /\bpassword must be\b/.test(messageOf(error));
    throw isAsked ? new Error('it asks for a password') : error;
  }
  const lanes = new Map<string, ReturnType<typeof openLane>>();
  const ask = async (sql: string, ...values: unknown[]) => pool.query(sql, values);

  return {
    async get(shelf, key) {
      const { rows } = await ask(
        'SELECT value FROM ralph_fleet.record WHERE shelf = $1 AND key = $2',
        shelf,
        key,
      );
      return rows[0]?.value ?? null;
    },
    async all(shelf) {
      const { rows } = await ask('SELECT key, value FROM ralph_fleet.record WHERE shelf = $1', shelf);
      return new Map(rows.map(({ key, value }) => [key, value]));
    },
    async swap(shelf, key, before, after) {
      const { rows } = await ask(
        'SELECT ralph_fleet.swap($1, $2, $3, $4) AS done',
        shelf,
        key,
        before,
        after,
      );
      return rows[0]?.done === true;
    },
    async append(list, lines, keep) {
      if (lines.length > 0) await ask('SELECT ralph_fleet.append($1, $2, $3)', list, lines, keep);
    },
    async last(list, count) {
      const { rows } = await ask(
        'SELECT value FROM ralph_fleet.line WHERE list = $1 ORDER BY id DESC LIMIT $2',
        list,
        count,
      );
      return rows.map(({ value }) => value).reverse();
    },
    async takeFirst(list) {
      const { rows } = await ask(
        `DELETE FROM ralph_fleet.line WHERE id = (SELECT id FROM ralph_fleet.line WHERE list = $1 ORDER BY id
         LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING value`,
        list,
      );
      return rows[0]?.value ?? null;
    },
    async clear(list) {
      await ask('DELETE FROM ralph_fleet.line WHERE list = $1', list);
    },
    async keys(shelf) {
      const { rows } = await ask('SELECT key FROM ralph_fleet.record WHERE shelf = $1', shelf);
      return rows.map(({ key }) => key);
    },
    async lists() {
      // From name to name by the index: there are hundreds of lines to a list.
      const { rows } = await ask(`
        WITH RECURSIVE name(list) AS (
          SELECT min(list) FROM ralph_fleet.line
          UNION ALL
          SELECT (SELECT min(list) FROM ralph_fleet.line WHERE list > name.list) FROM name WHERE list IS NOT NULL
        ) SELECT list FROM name WHERE list IS NOT NULL`);
      return rows.map(({ list }) => list);
    },
    async sit(seat, start, { max, perMinute, leaseMs }) {
      const { rows } = await ask(
        'SELECT taken, wait FROM ralph_fleet.sit($1, $2, $3, $4, $5)',
        ...[seat, start, max, perMinute, leaseMs],
      );
      const [taken, wait] = [Number(rows[0]?.taken), Number(rows[0]?.wait)];
      if (wait === 0) return { ok: true };
      return { ok: false, taken, until: wait < 0 ? null : Date.now() + wait };
    },
    async keepSeat(seat, leaseMs) {
      await ask('UPDATE ralph_fleet.seat SET until = ralph_fleet.now() + $2 WHERE id = $1', seat, leaseMs);
    },
    async stand(seat, start) {
      await ask('SELECT ralph_fleet.stand($1, $2)', seat, start ?? null);
    },
    lane(name): Lane {
      const connection: unknown = pool;
      if (!isPgPool(connection)) throw new TypeError('the client of PostgreSQL is not as BullMQ needs it');
      const options = { ...laneOptions(times), connection };
      const known = lanes.get(name) ?? openLane(new Queue(name, options, createPostgresBackend), times);
      lanes.set(name, known);
      return known;
    },
    async close() {
      await Promise.all([...lanes.values()].map((lane) => lane.close()));
      await pool.end();
    },
  };
}

/** Makes the tables where they are missing or older: once, however many machines come at the same time. */
async function setUp(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    if ((await versionIn(client)) === schemaVersion) return;
    await client.query('SELECT pg_advisory_lock($1)', [setupLock]);
    try {
      await runMigrations(client, laneSchema);
      await client.query(postgresSchema);
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [setupLock]);
    }
  } finally {
    client.release();
  }
}

async function versionIn(client: PoolClient): Promise<string | null> {
  const { rows } = await client.query(`SELECT to_regclass('ralph_fleet.record') IS NOT NULL AS there`);
  if (!rows[0]?.there) return null;
  const found = await client.query(
    `SELECT value FROM ralph_fleet.record WHERE shelf = 'fleet' AND key = 'schema'`,
  );
  return found.rows[0]?.value ?? null;
}

function connectionOf({ host, port, database, user, password, tls }: EngineAddress) {
  return {
    host,
    port,
    database,
    ...(user === null ? {} : { user }),
    ...(password === null ? {} : { password }),
    ...(tls === null ? {} : { ssl: tls.ca === null ? true : { ca: tls.ca } }),
  };
}
