import { RalphError } from '../core/error.ts';
import { readText } from '../system/files.ts';
import type { Environment } from '../system/program.ts';

/** Where a cluster keeps its state, with what is needed to be let in. Never to be printed as a whole. */
export type EngineAddress = {
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

/**
 * The address of the engine: as typed, else from the environment; null where there is neither. A password is taken from
 * the environment or a file only, because everybody on a machine can read the command line of a process.
 */
export function engineAddress(typed: string | undefined, env: Environment): EngineAddress | null {
  const text = typed ?? env.SWARM_ENGINE;
  if (text === undefined || text === '') return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const found =
    url === null ? undefined : Object.entries(kinds).find(([protocol]) => protocol === url.protocol);
  if (url === null || found === undefined || url.hostname === '') {
    throw new RalphError('engine', 'this is not the address of an engine', { remedy: forms });
  }
  if (typed !== undefined && url.password !== '') {
    throw new RalphError('engine', 'a password in --engine can be read by everybody on this machine', {
      remedy:
        'put the whole address into SWARM_ENGINE, or the password into SWARM_ENGINE_PASSWORD or a file named by SWARM_ENGINE_PASSWORD_FILE',
    });
  }
  const [, { kind, port, database, tls }] = found;
  const path = decodeURIComponent(url.pathname.slice(1));
  // A password that was written as it is ends where one of these stands, and the rest of it would be shown as a place.
  if (url.hash !== '' || /[@/?#]/.test(path)) {
    throw new RalphError('engine', 'the address of the engine has a character too many', {
      remedy:
        'write @ : / ? # in a password as %40 %3A %2F %3F %23, or put it into SWARM_ENGINE_PASSWORD_FILE',
    });
  }
  if (kind === 'redis' && !/^\d{0,5}$/.test(path)) {
    throw new RalphError('engine', 'a Redis database is a number', { remedy: forms });
  }
  const modes = kind === 'postgres' ? ['sslmode'] : [];
  if ([...url.searchParams.keys()].some((name) => !modes.includes(name))) {
    throw new RalphError('engine', 'after the ? of an address, nothing but sslmode of PostgreSQL is known', {
      remedy:
        'a password, a user and certificates have places of their own: swarm help worker, docs/cluster.md',
    });
  }
  return {
    kind,
    host: decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ''),
    port: url.port === '' ? port : Number(url.port),
    database: path === '' ? database : path,
    user: url.username === '' ? null : decodeURIComponent(url.username),
    password: url.password === '' ? passwordFrom(env) : decodeURIComponent(url.password),
    tls: tls || wantsTls(url) ? { ca: fileFrom(env, 'SWARM_ENGINE_CA') } : null,
  };
}

/** The address as everybody may read it. */
export function placeOf({ kind, tls, host, port, database }: EngineAddress): string {
  const scheme = kind === 'redis' && tls !== null ? 'rediss' : kind;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

/** Whether what is sent there can be read on the way. */
export function isInTheClear({ tls, host }: EngineAddress): boolean {
  return tls === null && host !== 'localhost' && host !== '::1' && !host.startsWith('127.');
}

function wantsTls(url: URL): boolean {
  const mode = url.searchParams.get('sslmode');
  return mode !== null && mode !== 'disable';
}

function passwordFrom(env: Environment): string | null {
  return (
    env.SWARM_ENGINE_PASSWORD ?? fileFrom(env, 'SWARM_ENGINE_PASSWORD_FILE')?.replace(/\r?\n$/, '') ?? null
  );
}

function fileFrom(env: Environment, name: string): string | null {
  const path = env[name];
  if (path === undefined || path === '') return null;
  const text = readText(path);
  if (text === null) throw new RalphError('engine', `${name} names a file that is not there: ${path}`);
  return text;
}
