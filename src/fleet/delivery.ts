import { agentNameOf, agents } from '../agents/registry.ts';

/** How the prompt of an iteration reaches the agent. */
export type Delivery =
  /** On standard input: what runs without a person at the keyboard reads it there. */
  | { readonly how: 'stdin' }
  /** As the last word of the command line, after these. */
  | { readonly how: 'argument'; readonly before: readonly string[] }
  /** Typed in as a paste, when the agent is ready for it. */
  | { readonly how: 'paste' }
  /** The command knows it already. */
  | { readonly how: 'none' };

// Linux takes 128 KiB in one word; a paste has no such end.
const longestWord = 100_000;

/** The way that suits the command: known agents by their form, anything else on standard input. */
export function deliveryFor(command: readonly string[], prompt: string): Delivery {
  const { headless, interactive } = agents[agentNameOf(command[0] ?? '')];
  const words = command.slice(1).map((word) => word.replace(/=.*/s, ''));
  if (interactive === null || words.some((word) => headless.includes(word))) return { how: 'stdin' };
  const isWord = Buffer.byteLength(prompt) <= longestWord && !prompt.startsWith('-') && prompt.trim() !== '';
  return isWord ? { how: 'argument', before: interactive } : { how: 'paste' };
}

/**
 * True if a command runs by itself: no agent that `ralph run` knows, or one that is told to work alone (`claude -p`).
 */
export function runsByItself(command: readonly string[]): boolean {
  return deliveryFor(command, 'x').how === 'stdin';
}
