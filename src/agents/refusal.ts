const refusal =
  /permissions? (?:to|for|is|was|denied)|haven't granted|(?:need|require)s? approval|\bdenied\b|not (?:allowed|permitted)|\brejected\b|blocked by|read-only file system|ralph guard \(|doesn't want to proceed/i;

/** True if a failed tool call says that a permission, a guard or a sandbox refused it, in the words of any agent. */
export function isRefusal(output: string): boolean {
  return refusal.test(output);
}
