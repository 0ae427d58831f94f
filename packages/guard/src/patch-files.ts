/** A file that a patch of Codex or OpenCode names, and what happens to it. */
export type PatchFile = { readonly kind: 'write' | 'delete'; readonly path: string };

/**
 * Such a patch names its files on lines of their own. Codex takes blanks before them, OpenCode no blank after the colon,
 * and reads up to the next one.
 */
export function filesOfPatch(patch: string): PatchFile[] {
  const header = /^[ \t]*\*\*\* (Add File|Update File|Delete File|Move to):(.+)$/gm;
  return [...patch.matchAll(header)].flatMap(([, action = '', rest = '']) => {
    const kind = action === 'Delete File' ? 'delete' : 'write';
    const [first = ''] = rest.split(':');
    return [...new Set([rest.trim(), first.trim()])].map((path) => ({ kind, path }) as const);
  });
}
