/** Turns a path pattern into a test. `*` and `?` stay within a folder, `**` does not; a folder stands for all below it. */
export function matchesGlob(pattern: string): (path: string) => boolean {
  const normal = pattern.replace(/\\/g, '/').replace(/^\.\//, '').replace(/^\/+/, '');
  const anywhere = !normal.replace(/\/+$/, '').includes('/');
  const body = normal
    .replace(/\/+$/, '')
    .split('/')
    .map(segment)
    .join('/')
    .replaceAll('**/', '(?:.*/)?')
    .replaceAll('**', '.*');
  const compiled = new RegExp(`^${anywhere ? '(?:.*/)?' : ''}${body}(?:/.*)?$`, 'u');
  return (path) => compiled.test(path.replace(/\\/g, '/'));
}

/** One name of the path; `**` is left for the caller, who knows what stands around it. */
function segment(name: string): string {
  if (name === '**') return '**';
  return name
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '[^/]*')
    .replace(/\?/g, '[^/]');
}
