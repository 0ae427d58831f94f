/** How a program is made to speak the Agent Client Protocol. */
export type AcpWords = {
  /** The program that speaks it, where it is another one. */
  readonly program?: string;
  /** Command that installs that program. */
  readonly install?: string;
  readonly args: readonly string[];
  /** Variables that make it ask before it acts. */
  readonly env?: Readonly<Record<string, string>>;
  /** True if the title of a call is its command: the agent sends no input. */
  readonly titleIsCommand?: true;
};

/** OpenCode allows nearly everything by default. What only concerns itself needs no question. */
const opencodePermission = JSON.stringify({
  '*': 'ask',
  todowrite: 'allow',
  todoread: 'allow',
  task: 'allow',
  skill: 'allow',
});

/** Programs by the name of their command. Our tests run gemini and opencode; other clients document the rest. */
export const acpPrograms: Readonly<Record<string, AcpWords>> = {
  gemini: {
    args: ['--acp'],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    titleIsCommand: true,
  },
  opencode: { args: ['acp'], env: { OPENCODE_PERMISSION: opencodePermission } },
  qwen: { args: ['--acp'] },
  copilot: { args: ['--acp'] },
  claude: {
    program: 'claude-agent-acp',
    install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    args: [],
  },
  codex: { program: 'codex-acp', install: 'npm install -g @agentclientprotocol/codex-acp', args: [] },
  'cursor-agent': { args: ['acp'] },
  goose: { args: ['acp'] },
  'kiro-cli': { args: ['acp'] },
  kimi: { args: ['acp'] },
  droid: { args: ['exec', '--output-format', 'acp'] },
  openclaw: { args: ['acp'] },
};
