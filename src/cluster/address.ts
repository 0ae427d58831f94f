import { RalphError } from '../core/error.ts';
import { readText } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';

/** Address of the store of a cluster, with the credentials. Print it with `placeOf` only. */
export type ClusterAddress = {
  readonly kind: 'redis' | 'postgres';
  readonly host: string;
  readonly port: number;
  /** The number of a Redis database, or the name of a PostgreSQL one. */
  readonly database: string;
  readonly user: string | null;
  readonly password: string | null;
  /** The certificate of the server is always checked. */
  readonly tls: { readonly ca: string | null } | null;
};

const kinds = {
  'redis:': { kind: 'redis', port: 6379, database: '0', tls: false },
  'rediss:': { kind: 'redis', port: 6379, database: '0', tls: true },
  'postgres:': { kind: 'postgres', port: 5432, database: 'postgres', tls: false },
  'postgresql:': { kind: 'postgres', port: 5432, database: 'postgres', tls: false },
} as const;

const forms = 'redis://HOST:PORT/0, rediss://HOST:PORT/0 (TLS) or postgres://USER@HOST:PORT/DATABASE';

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
  const match =
    url === null ? undefined : Object.entries(kinds).find(([protocol]) => protocol === url.protocol);
  if (url === null || match === undefined || url.hostname === '') {
    throw new RalphError('cluster-address', 'this is not the address of a cluster', { remedy: forms });
  }
  if (option !== undefined && url.password !== '') {
    throw new RalphError(
      'cluster-address',
      'a password in --cluster can be read by everybody on this machine',
      {
        remedy:
          'put the whole address into SWARM_CLUSTER, or the password into SWARM_CLUSTER_PASSWORD or a file named by SWARM_CLUSTER_PASSWORD_FILE',
      },
    );
  }
  const [, { kind, port, database, tls }] = match;
  const path = decodeURIComponent(url.pathname.slice(1));
  // An unencoded password ends at one of these characters, and the rest of it would be shown as a database.
  if (url.hash !== '' || /[@/?#]/.test(path)) {
    throw new RalphError('cluster-address', 'the address has a character too many', {
      remedy:
        'write @ : / ? # in a password as %40 %3A %2F %3F %23, or put it into SWARM_CLUSTER_PASSWORD_FILE',
    });
  }
  if (kind === 'redis' && !/^\d{0,5}$/.test(path)) {
    throw new RalphError('cluster-address', 'a Redis database is a number', { remedy: forms });
  }
  const modes = kind === 'postgres' ? ['sslmode'] : [];
  if ([...url.searchParams.keys()].some((name) => !modes.includes(name))) {
    throw new RalphError(
      'cluster-address',
      'an address may have sslmode (PostgreSQL) after its ?, and nothing else',
      {
        remedy:
          'a password, a user and certificates have places of their own: swarm help worker, docs/cluster.md',
      },
    );
  }
  return {
    kind,
    host: decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ''),
    port: url.port === '' ? port : Number(url.port),
    database: path === '' ? database : path,
    user: url.username === '' ? null : decodeURIComponent(url.username),
    password: url.password === '' ? passwordFrom(env) : decodeURIComponent(url.password),
    tls: tls || wantsTls(url) ? { ca: fileFrom(env, '_CA') } : null,
  };
}

/** Returns the address without credentials, for messages. */
export function placeOf({ kind, tls, host, port, database }: ClusterAddress): string {
  const scheme = kind === 'redis' && tls !== null ? 'rediss' : kind;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

/** True if the connection is not encrypted and leaves this machine. */
export function isInTheClear({ tls, host }: ClusterAddress): boolean {
  return tls === null && host !== 'localhost' && host !== '::1' && !host.startsWith('127.');
}

function wantsTls(url: URL): boolean {
  const mode = url.searchParams.get('sslmode');
  return mode !== null && mode !== 'disable';
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
