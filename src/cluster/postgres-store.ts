import { Socket } from 'node:net';
import { createPostgresBackend, isPgPool, Queue, runMigrations } from 'bullmq';
import { Pool, type PoolClient, type QueryResult } from 'pg';
import { messageOf } from '../core/error.ts';
import type { ClusterAddress } from './address.ts';
import { postgresSchema, schemaVersion } from './postgres-schema.ts';
import { openQueues } from './queue.ts';
import { type LeaseTimes, type Lists, type Records, type Slots, type Store, slotAnswer } from './store.ts';

/** Schema of the tables of BullMQ; ours have a schema of their own. */
const queueSchema = 'bullmq';
const setupLock = 0x52414c50;

/** A store on PostgreSQL. */
export async function openPostgresStore(address: ClusterAddress, times: LeaseTimes): Promise<Store> {
  const pool = await connect(address, times);
  const connection: unknown = pool;
  if (!isPgPool(connection)) throw new TypeError('the client of PostgreSQL is not as BullMQ needs it');
  const queues = openQueues(
    times,
    (name, options) => new Queue(name, { ...options, connection }, createPostgresBackend),
    () => pool.end(),
  );
  const ask: Ask = async (sql, ...values) => (await pool.query(sql, values)).rows;
  return { ...recordsIn(ask), ...listsIn(ask), ...slotsIn(ask), ...queues };
}

/** Runs one statement and returns its rows. */
type Ask = (sql: string, ...values: unknown[]) => Promise<QueryResult['rows']>;

async function connect(address: ClusterAddress, { callMs }: LeaseTimes): Promise<Pool> {
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
    query_timeout: callMs,
    keepAlive: true,
    application_name: 'ralph-fleet',
    options: `-c search_path=${queueSchema}`,
  });
  // A connection that breaks while nobody uses it is replaced by the next call.
  pool.on('error', () => {});
  try {
    await setUp(pool);
    return pool;
  } catch (error) {
    await pool.end();
    // pg leaves a connection open if the server asks for a missing password, which would keep the process alive.
    for (const socket of sockets) socket.destroy();
    const isAsked = address.password === null && /\bpassword must be\b/.test(messageOf(error));
    throw isAsked ? new Error('it asks for a password') : error;
  }
}

function recordsIn(ask: Ask): Records {
  return {
    async get(shelf, key) {
      const sql = 'SELECT value FROM ralph_fleet.record WHERE shelf = $1 AND key = $2';
      return (await ask(sql, shelf, key))[0]?.value ?? null;
    },
    async all(shelf) {
      const rows = await ask('SELECT key, value FROM ralph_fleet.record WHERE shelf = $1', shelf);
      return new Map(rows.map(({ key, value }) => [key, value]));
    },
    async keys(shelf) {
      const rows = await ask('SELECT key FROM ralph_fleet.record WHERE shelf = $1', shelf);
      return rows.map(({ key }) => key);
    },
    async swap(shelf, key, before, after) {
      const sql = 'SELECT ralph_fleet.swap($1, $2, $3, $4) AS done';
      return (await ask(sql, shelf, key, before, after))[0]?.done === true;
    },
  };
}

function listsIn(ask: Ask): Lists {
  return {
    async append(list, lines, keep) {
      if (lines.length > 0) await ask('SELECT ralph_fleet.append($1, $2, $3)', list, lines, keep);
    },
    async last(list, count) {
      const sql = 'SELECT value FROM ralph_fleet.line WHERE list = $1 ORDER BY id DESC LIMIT $2';
      return (await ask(sql, list, count)).map(({ value }) => value).reverse();
    },
    async takeFirst(list) {
      const sql = `DELETE FROM ralph_fleet.line WHERE id = (SELECT id FROM ralph_fleet.line WHERE list = $1 ORDER BY id
         LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING value`;
      return (await ask(sql, list))[0]?.value ?? null;
    },
    async clear(list) {
      await ask('DELETE FROM ralph_fleet.line WHERE list = $1', list);
    },
    async lists() {
      // Skips from name to name by the index: a list has hundreds of lines.
      const rows = await ask(`
        WITH RECURSIVE name(list) AS (
          SELECT min(list) FROM ralph_fleet.line
          UNION ALL
          SELECT (SELECT min(list) FROM ralph_fleet.line WHERE list > name.list) FROM name WHERE list IS NOT NULL
        ) SELECT list FROM name WHERE list IS NOT NULL`);
      return rows.map(({ list }) => list);
    },
  };
}

function slotsIn(ask: Ask): Slots {
  return {
    async takeSlot(slot, start, { max, perMinute, leaseMs }) {
      const sql = 'SELECT wait FROM ralph_fleet.take_slot($1, $2, $3, $4, $5)';
      return slotAnswer(Number((await ask(sql, slot, start, max, perMinute, leaseMs))[0]?.wait));
    },
    async keepSlot(slot, leaseMs) {
      await ask('UPDATE ralph_fleet.slot SET until = ralph_fleet.now() + $2 WHERE id = $1', slot, leaseMs);
    },
    async freeSlot(slot, start) {
      await ask('SELECT ralph_fleet.free_slot($1, $2)', slot, start ?? null);
    },
  };
}

/** Makes the tables if they are missing or older; the lock lets one machine do it at a time. */
async function setUp(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    if ((await versionIn(client)) === schemaVersion) return;
    await client.query('SELECT pg_advisory_lock($1)', [setupLock]);
    try {
      await runMigrations(client, queueSchema);
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
  const version = await client.query(
    `SELECT value FROM ralph_fleet.record WHERE shelf = 'fleet' AND key = 'schema'`,
  );
  return version.rows[0]?.value ?? null;
}

function connectionOf({ host, port, database, user, password, tls }: ClusterAddress) {
  return {
    host,
    port,
    database,
    ...(user === null ? {} : { user }),
    ...(password === null ? {} : { password }),
    ...(tls === null ? {} : { ssl: tls.ca === null ? true : { ca: tls.ca } }),
  };
}
