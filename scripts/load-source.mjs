import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the modules export, straight from the source of the repository at `root`, without what they import on demand. */
export async function loadSource(root, paths) {
  const esbuild = await import('esbuild');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { outputFiles } = await esbuild.build({
    stdin: { contents: paths.map((path) => `export * from './${path}';`).join('\n'), resolveDir: root },
    bundle: true,
    format: 'esm',
    platform: 'node',
    define: { __VERSION__: JSON.stringify(version) },
    plugins: [{ name: 'on-demand', setup: leaveOnDemand }],
    write: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

function leaveOnDemand(build) {
  build.onResolve({ filter: /./ }, ({ kind, path }) =>
    kind === 'dynamic-import' ? { path, external: true } : undefined,
  );
}
