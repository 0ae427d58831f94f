/**
 * Returns the files that a patch of Codex or OpenCode names on lines of their own. Codex takes blanks before them,
 * OpenCode no blank after the colon, and reads up to the next one.
 */
export function filesOfPatch(patch: string): { kind: 'write' | 'delete'; path: string }[] {
  const header = /^[ \t]*\*\*\* (Add File|Update File|Delete File|Move to):(.+)$/gm;
  return [...patch.matchAll(header)].flatMap(([, action = '', rest = '']) => {
    const kind = action === 'Delete File' ? 'delete' : 'write';
    const [first = ''] = rest.split(':');
    return [...new Set([rest.trim(), first.trim()])].map((path) => ({ kind, path }) as const);
  });
}
