import type { AgentAdapter } from '../adapter.ts';
import { agentNameOf, agents, baseNameOf } from '../registry.ts';
import { type AcpWords, acpPrograms } from './known-words.ts';
import { newState, parse } from './parse.ts';

const permits: AgentAdapter['permits'] = {
  full: 'do everything that the guard allows',
  edit: 'change files here, but run no commands, as far as it asks',
  read: 'only look, as far as it asks',
};

/** Returns what is known about the program of a command that speaks the Agent Client Protocol. */
export function acpWordsOf(command: string): AcpWords {
  const name = baseNameOf(command);
  return (Object.hasOwn(acpPrograms, name) ? acpPrograms[name] : undefined) ?? { args: [] };
}

/** The adapter of any program that speaks the Agent Client Protocol; `args` replace the words that are known of it. */
export function acpAgent(command: string, args?: readonly string[]): AgentAdapter {
  const agent = agents[agentNameOf(command)];
  const { args: usual, env = {}, install = agent.install } = acpWordsOf(command);
  return {
    name: agent.name === 'custom' ? baseNameOf(command) : agent.name,
    protocol: 'acp',
    install,
    login: agent.login,
    reportsToolCalls: true,
    permits,
    canResume: true,
    takesSystemPrompt: false,
    // It is we who end the process.
    exitCodeIsNoise: true,
    tested: agent.tested,
    guard: null,
    command({ prompt, flags }) {
      const words = args ?? (usual.every((word) => flags.includes(word)) ? [] : usual);
      return { args: [...words, ...flags], stdin: prompt, env };
    },
    newState,
    parse,
  };
}
