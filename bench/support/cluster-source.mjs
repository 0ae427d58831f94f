// The code of a cluster for benchmarks: none of it is exported by the package.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);

/** One figure that a Redis tells of itself. */
export function redisInfo({ port }, section, name) {
  const info = execFileSync('redis-cli', ['-p', String(port), 'info', section], { encoding: 'utf8' });
  return Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
}

/** Starts a Redis, which also ends if this process does, for `use`. */
export async function withRedis({ missing, startRedis }, use) {
  if (missing.redis !== null) throw new Error(missing.redis);
  const store = await startRedis();
  const stop = () => process.kill(store.pid, 'SIGKILL');
  process.prependOnceListener('exit', stop);
  try {
    return await use(store);
  } finally {
    process.removeListener('exit', stop);
    await store.stop();
  }
}

export async function loadSource(folder) {
  const esbuild = await import('esbuild');
  const outfile = join(folder, 'cluster.cjs');
  const paths = [
    'src/cluster/address.ts',
    'src/cluster/open.ts',
    'src/os/files/files.ts',
    'bench/support/cluster-orders.mjs',
    'test/support/stores.ts',
  ];
  await esbuild.build({
    stdin: { contents: paths.map((path) => `export * from './${path}';`).join('\n'), resolveDir: root },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    external: ['pg', '@valkey/valkey-glide', 'redis', 'bullmq-otel'],
    logLevel: 'error',
    outfile,
  });
  return require(outfile);
}
