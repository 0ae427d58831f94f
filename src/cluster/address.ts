import { RalphError } from '../core/error.ts';
import { readText } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';

/** Address of the Redis or Valkey of a cluster, with the credentials. Print it with `placeOf` only. */
export type ClusterAddress = {
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly user: string | null;
  readonly password: string | null;
  /** The certificate of the server is always checked. */
  readonly tls: { readonly ca: string | null } | null;
};

const forms = 'redis://HOST:PORT/0 or rediss://HOST:PORT/0 (TLS)';

/** Returns the address from the option or the environment. */
export function addressText(option: string | undefined, env: Environment): string {
  return option ?? env.SWARM_CLUSTER ?? '';
}

/**
 * Reads the address of a cluster; null if none is given. The password comes from the environment or a file only, because
 * everybody on a machine can read the command line of a process.
 */
export function clusterAddress(option: string | undefined, env: Environment): ClusterAddress | null {
  const text = addressText(option, env);
  if (text === '') return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (/^postgres(?:ql)?:/i.test(text))
    throw refusal('a cluster does not work on PostgreSQL, only on Redis and Valkey', forms);
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw refusal('this is not the address of a cluster', forms);
  if (option !== undefined && url.password !== '')
    throw refusal(
      'a password in --cluster can be read by everybody on this machine',
      'put the whole address into SWARM_CLUSTER, or the password into SWARM_CLUSTER_PASSWORD or a file named by SWARM_CLUSTER_PASSWORD_FILE',
    );
  const path = decodeURIComponent(url.pathname.slice(1));
  // An unencoded password ends at one of these characters, and the rest of it would be shown as a database.
  if (url.hash !== '' || /[@/?#]/.test(path))
    throw refusal(
      'the address has a character too many',
      'write @ : / ? # in a password as %40 %3A %2F %3F %23, or put it into SWARM_CLUSTER_PASSWORD_FILE',
    );
  if (!/^\d{0,5}$/.test(path)) throw refusal('a Redis database is a number', forms);
  if (url.search !== '')
    throw refusal(
      'an address has nothing after a ?',
      'a password, a user and certificates have places of their own: swarm help worker, docs/cluster.md',
    );
  return {
    host: decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    database: Number(path),
    user: url.username === '' ? null : decodeURIComponent(url.username),
    password: url.password === '' ? passwordFrom(env) : decodeURIComponent(url.password),
    tls: url.protocol === 'rediss:' ? { ca: fileFrom(env, '_CA') } : null,
  };
}

/** Returns the address without credentials, for messages. */
export function placeOf({ tls, host, port, database }: ClusterAddress): string {
  const scheme = tls === null ? 'redis' : 'rediss';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

/** True if the connection is not encrypted and leaves this machine. */
export function isInTheClear({ tls, host }: ClusterAddress): boolean {
  return tls === null && host !== 'localhost' && host !== '::1' && !host.startsWith('127.');
}

function refusal(message: string, remedy: string): RalphError {
  return new RalphError('cluster-address', message, { remedy });
}

function passwordFrom(env: Environment): string | null {
  return env.SWARM_CLUSTER_PASSWORD ?? fileFrom(env, '_PASSWORD_FILE')?.replace(/\r?\n$/, '') ?? null;
}

function fileFrom(env: Environment, suffix: string): string | null {
  const path = env[`SWARM_CLUSTER${suffix}`];
  if (path === undefined || path === '') return null;
  const text = readText(path);
  if (text !== null) return text;
  throw new RalphError('cluster-address', `SWARM_CLUSTER${suffix} names a file that is not there: ${path}`);
}
