import { type AgentName, agentNameOf } from '../agents/registry.ts';

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

/** Words by which a known agent is told to answer once and exit. */
const headless: Readonly<Record<AgentName, readonly string[]>> = {
  claude: ['-p', '--print'],
  codex: ['exec', 'e', 'review'],
  gemini: ['-p', '--prompt'],
  qwen: ['-p', '--prompt'],
  copilot: ['-p', '--prompt'],
  opencode: ['run'],
  amp: ['-x', '--execute'],
  pi: ['-p', '--print', '--mode'],
  cline: ['-y', '--yolo', '--json'],
  custom: [],
};

/** How the interactive form of a known agent takes its first prompt; where it has no such word, by paste. */
const interactive: Readonly<Record<AgentName, readonly string[] | null>> = {
  claude: [],
  codex: [],
  gemini: ['--prompt-interactive'],
  qwen: ['--prompt-interactive'],
  copilot: ['--interactive'],
  opencode: ['--prompt'],
  amp: null,
  pi: [],
  cline: [],
  custom: null,
};

// Linux takes 128 KiB in one word; a paste has no such end.
const longestWord = 100_000;

/** The way that suits the command: known agents by their form, anything else on standard input. */
export function deliveryFor(command: readonly string[], prompt: string): Delivery {
  const name = agentNameOf(command[0] ?? '');
  const words = command.slice(1);
  // amp takes its message on standard input in both forms.
  if (name === 'custom' || name === 'amp') return { how: 'stdin' };
  if (words.some((word) => headless[name].includes(word.replace(/=.*/s, '')))) return { how: 'stdin' };
  const before = interactive[name];
  const isWord = Buffer.byteLength(prompt) <= longestWord && !prompt.startsWith('-');
  if (before === null || !isWord) return { how: 'paste' };
  return prompt.trim() === '' ? { how: 'paste' } : { how: 'argument', before };
}

/** Whether a command runs by itself: no agent that `ralph run` knows, or one that is told to work alone (`claude -p`). */
export function runsByItself(command: readonly string[]): boolean {
  return agentNameOf(command[0] ?? '') === 'custom' || deliveryFor(command, 'x').how === 'stdin';
}
