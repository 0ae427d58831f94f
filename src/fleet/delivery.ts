import { agentNameOf, agents } from '../agents/registry.ts';

export type Delivery =
  /** On standard input, for agents that run without a person. */
  | { readonly how: 'stdin' }
  /** As the last word of the command line, after these. */
  | { readonly how: 'argument'; readonly before: readonly string[] }
  /** Pasted when the agent is ready for it. */
  | { readonly how: 'paste' }
  /** Part of the command already. */
  | { readonly how: 'none' };

// Linux takes 128 KiB in one argument; a longer prompt is pasted.
const longestWord = 100_000;

/** Returns the delivery for a command: that of a known agent, else standard input. */
export function deliveryFor(command: readonly string[], prompt: string): Delivery {
  const { headless, interactive } = agents[agentNameOf(command[0] ?? '')];
  const words = command.slice(1).map((word) => word.replace(/=.*/s, ''));
  if (interactive === null || words.some((word) => headless.includes(word))) return { how: 'stdin' };
  const isWord = Buffer.byteLength(prompt) <= longestWord && !prompt.startsWith('-') && prompt.trim() !== '';
  return isWord ? { how: 'argument', before: interactive } : { how: 'paste' };
}

/** True if a command reads its prompt from stdin: an unknown agent, or one in headless mode (`claude -p`). */
export function runsByItself(command: readonly string[]): boolean {
  return deliveryFor(command, 'x').how === 'stdin';
}
