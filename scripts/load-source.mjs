/** What the modules export, straight from the source of the repository at `root`. */
export async function loadSource(root, paths) {
  const esbuild = await import('esbuild');
  const { outputFiles } = await esbuild.build({
    stdin: { contents: paths.map((path) => `export * from './${path}';`).join('\n'), resolveDir: root },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
