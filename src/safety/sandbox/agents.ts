import type { AgentName } from '../../agents/registry.ts';

/** What an agent needs from outside its sandbox. */
export type AgentNeeds = {
  /** Hosts of its model, its login and nothing else. */
  readonly hosts: readonly string[];
  /** Variables that are meant for it, by name or by `PREFIX_*`. */
  readonly variables: readonly string[];
  /** Its settings, below the home. They go in as a copy. */
  readonly settings: readonly string[];
  /** Its logins, below the home. They go in as a copy, and a token that was renewed inside comes back. */
  readonly logins: readonly string[];
};

const openai = ['api.openai.com', 'chatgpt.com', 'auth.openai.com'];
/** By name: below the same domain are stores where everybody can put something. */
const google = [
  ...['generativelanguage.googleapis.com', 'aiplatform.googleapis.com', 'cloudcode-pa.googleapis.com'],
  ...['oauth2.googleapis.com', 'accounts.google.com'],
];
const qwen = ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'coding.dashscope.aliyuncs.com'];

/** Every agent there is: one without a row does not compile. */
export const agentNeeds: Record<AgentName, AgentNeeds> = {
  claude: {
    hosts: ['*.anthropic.com', 'claude.ai', '*.claude.ai', '*.claude.com'],
    variables: [
      'ANTHROPIC_*',
      'CLAUDE_*',
      'DISABLE_*',
      'MAX_THINKING_TOKENS',
      'API_TIMEOUT_MS',
      'IS_SANDBOX',
    ],
    settings: ['.claude/settings.json', '.claude/CLAUDE.md'],
    logins: ['.claude/.credentials.json'],
  },
  codex: {
    hosts: openai,
    variables: ['OPENAI_*', 'CODEX_*'],
    settings: ['.codex/config.toml', '.codex/AGENTS.md'],
    logins: ['.codex/auth.json'],
  },
  amp: {
    hosts: ['ampcode.com', '*.ampcode.com'],
    variables: ['AMP_*'],
    settings: ['.config/amp/settings.json'],
    logins: ['.local/share/amp/secrets.json'],
  },
  opencode: {
    hosts: ['opencode.ai', '*.opencode.ai', 'models.dev', '*.anthropic.com', ...openai, 'openrouter.ai'],
    variables: ['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_*', 'GEMINI_API_KEY'],
    settings: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
    logins: ['.local/share/opencode/auth.json'],
  },
  gemini: {
    hosts: google,
    variables: ['GEMINI_*', 'GOOGLE_*'],
    settings: [
      '.gemini/settings.json',
      '.gemini/google_accounts.json',
      '.gemini/installation_id',
      '.gemini/GEMINI.md',
    ],
    logins: ['.gemini/oauth_creds.json'],
  },
  copilot: {
    hosts: ['*.githubcopilot.com', 'api.github.com', 'github.com'],
    variables: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'],
    settings: ['.copilot/mcp-config.json'],
    logins: ['.copilot/config.json'],
  },
  qwen: {
    hosts: ['chat.qwen.ai', 'portal.qwen.ai', ...qwen, 'openrouter.ai'],
    variables: ['QWEN_*', 'OPENAI_*', 'DASHSCOPE_*'],
    settings: ['.qwen/settings.json', '.qwen/QWEN.md'],
    logins: ['.qwen/oauth_creds.json'],
  },
  pi: {
    hosts: ['*.anthropic.com', ...openai, ...google, 'openrouter.ai'],
    variables: ['PI_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_*', 'GEMINI_API_KEY'],
    settings: ['.pi/agent/models.json', '.pi/agent/settings.json', '.pi/agent/AGENTS.md'],
    logins: ['.pi/agent/auth.json'],
  },
  cline: {
    hosts: ['*.cline.bot', '*.anthropic.com', ...openai, 'openrouter.ai'],
    variables: ['CLINE_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_*'],
    settings: [
      '.cline/data/globalState.json',
      '.cline/data/settings/providers.json',
      '.cline/data/settings/cline_mcp_settings.json',
    ],
    logins: ['.cline/data/secrets.json'],
  },
  custom: { hosts: [], variables: [], settings: [], logins: [] },
};

/** Where the packages come from that a task may need. */
export const packageHosts: readonly string[] = [
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'pypi.org',
  'files.pythonhosted.org',
  'crates.io',
  '*.crates.io',
  'proxy.golang.org',
  'sum.golang.org',
  'rubygems.org',
  '*.rubygems.org',
  'repo.maven.apache.org',
  'repo1.maven.org',
];
