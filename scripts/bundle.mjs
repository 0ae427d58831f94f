// CommonJS files as esbuild makes them. Node starts CommonJS faster than ES modules, and one file faster than many.
import { join, relative, sep } from 'node:path';
import * as esbuild from 'esbuild';

/**
 * Bundles each entry point as one file that holds all that it imports, but for what it imports on demand: that is a file
 * of its own, made in the same way, in the folder `onDemand` below `outdir`. Code that several files share is in each of
 * them. Returns the files, and the sources that went into them.
 */
export async function bundle(
  { root, entryPoints, outdir, onDemand = '.', options },
  done = new Set(Object.keys(entryPoints)),
) {
  const targets = new Map();
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    // Packages of this repository are taken from their source.
    conditions: ['source'],
    // `import()` becomes `require`: Node's loader of ES modules takes milliseconds to get ready.
    supported: { 'dynamic-import': false },
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
    plugins: [{ name: 'on-demand', setup: (build) => leaveOnDemand(build, { root, onDemand, targets }) }],
    metafile: true,
    write: false,
  });
  const own = { files: outputFiles, inputs: Object.keys(metafile.inputs) };
  const fresh = [...targets].filter(([name]) => !done.has(name));
  if (fresh.length === 0) return own;
  for (const [name] of fresh) done.add(name);
  const next = { root, entryPoints: Object.fromEntries(fresh), outdir: join(outdir, onDemand), options };
  const rest = await bundle(next, done);
  return { files: [...own.files, ...rest.files], inputs: [...own.inputs, ...rest.inputs] };
}

/**
 * Imports on demand stay imports of a file named after the source: src/cli/ralph/run.ts is cli.ralph.run.cjs, and
 * packages/guard/src/check.ts is guard.check.cjs.
 */
function leaveOnDemand(build, { root, onDemand, targets }) {
  build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
    if (kind !== 'dynamic-import') return undefined;
    const source = relative(root, join(resolveDir, path));
    const folders = source.split(sep).filter((name) => name !== 'src' && name !== 'packages');
    const name = folders.join('.').replace(/\.ts$/, '');
    targets.set(name, source);
    return { path: `./${join(onDemand, `${name}.cjs`)}`, external: true };
  });
}
