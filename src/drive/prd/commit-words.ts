const maxLines = 20;

/** Tells the agent about work that it did not commit. */
export function commitWords(intro: string, changes: readonly string[]): string {
  const more = changes.length > maxLines ? [`  and ${changes.length - maxLines} more`] : [];
  return [
    intro,
    ...changes.slice(0, maxLines).map((line) => `  ${line}`),
    ...more,
    '1. Update ralph/progress.txt with what was accomplished + learnings',
    '2. Consider if any lasting patterns belong in CLAUDE.md or .claude/rules/',
    '3. Commit ALL changes including progress.txt and tasks.json updates',
  ].join('\n');
}
