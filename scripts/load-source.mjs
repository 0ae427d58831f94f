import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What the modules export, straight from the source of the repository at `root`; what they import on demand is there only
 * if asked for.
 */
export async function loadSource(root, paths, { onDemand = false } = {}) {
  const esbuild = await import('esbuild');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { outputFiles } = await esbuild.build({
    stdin: { contents: paths.map((path) => `export * from './${path}';`).join('\n'), resolveDir: root },
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['source'],
    define: { __VERSION__: JSON.stringify(version) },
    plugins: onDemand ? [] : [{ name: 'on-demand', setup: leaveOnDemand }],
    write: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

function leaveOnDemand(build) {
  build.onResolve({ filter: /./ }, ({ kind, path }) =>
    kind === 'dynamic-import' ? { path, external: true } : undefined,
  );
}
