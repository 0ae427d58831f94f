import { fillTemplate } from '../../core/template.ts';
import type { AgentAdapter } from '../adapter.ts';
import { claude } from '../claude/agent.ts';
import { custom } from './agent.ts';

/** An agent that a user describes in the settings. */
export type UserAgent = {
  /** `{prompt}` stands for the prompt; without it the prompt goes to standard input. */
  readonly args: readonly string[];
  readonly output: 'text' | 'claude-stream-json';
};

/** Format of a recorded stream, where it is not the agent's own. */
export type RecordedOutput = UserAgent['output'] | 'acp';

const asCustom = {
  name: custom.name,
  install: custom.install,
  login: custom.login,
  permits: custom.permits,
  canResume: false,
  takesSystemPrompt: false,
};
const slot = '{prompt}';

export function userAgent({ args, output }: UserAgent): AgentAdapter {
  const base = output === 'text' ? custom : { ...claude, ...asCustom };
  const inWords = args.some((arg) => arg.includes(slot));
  return {
    ...base,
    command: ({ prompt, flags }) => ({
      args: [
        ...args.map((arg) => fillTemplate(arg.replaceAll(slot, '{{PROMPT}}'), { PROMPT: prompt })),
        ...flags,
      ],
      stdin: inWords ? null : prompt,
      env: {},
    }),
  };
}
