import { type Agent, loginQuestion, trustQuestion, usualPermits } from '../agent.ts';
import { commandBy } from '../command.ts';
import { anthropicAccount } from '../providers.ts';
import { guard } from './guard.ts';
import { hooks } from './hooks.ts';
import { newState, parse } from './parse.ts';

/** Claude Code. */
export const claude: Agent = {
  name: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  login: 'claude auth login',
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: true,
  takesSystemPrompt: true,
  tested: ['2.1.197', '2.1.325'],
  loginStatus: {
    words: ['auth', 'status'],
    loggedIn: /"loggedIn":\s*true/,
    loggedOut: /"loggedIn":\s*false/,
  },
  modelOption: '--model',
  accountVariables: [...anthropicAccount, 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR'],
  headless: ['-p', '--print'],
  interactive: [],
  screen: {
    banner: /Claude Code v\d/,
    input: /^─{20,}.*\n[❯>](?:\s|$)/m,
    working: /\besc to interrupt\b/,
    footer: 3,
    speech: /^● (?!Usage limit)/,
    dialog: /\bEsc to cancel\b|\bEnter to (?:confirm|select)\b/,
    permission: /^ ?(?:Do you want to|Would you like to) .*\?/m,
    question: /^\s*❯ \d\. /m,
    limit: /(?:hit|reached) your .{0,30}limit|Usage limit reached|Stop and wait for limit to reset/i,
    loggedOut:
      /^(?:\s*⎿\s+|● )(?:Not logged in|Please run \/login|Invalid API key|OAuth token .{0,20}(?:expired|revoked))/,
    blockers: {
      [trustQuestion]: /Yes, I trust this folder/,
      'the choice of a theme': /Choose the text style that looks best/,
      [loginQuestion]: /Select login method/,
      'the warning of the bypass mode': /Bypass Permissions mode[\s\S]*Yes, I accept/,
      'the question for an API key': /Detected a custom API key/,
      'the network': /Unable to connect to Anthropic services/,
    },
    contextLeft: /Context left until auto-compact: (\d+)%/,
    compacts: /Compacting conversation|Conversation compacted/,
  },
  ownSession: {
    option: '--session-id',
    otherOptions: ['--resume', '-r', '--continue', '-c', '--fork-session'],
    transcriptFolders: ({ CLAUDE_CONFIG_DIR }, home) => `${CLAUDE_CONFIG_DIR || `${home}/.claude`}/projects`,
    transcriptName: (session) => `${session}.jsonl`,
    compaction: /"subtype":\s?"compact_boundary"|"isCompactSummary":\s?true/,
  },
  sandbox: {
    hosts: ['*.anthropic.com', 'claude.ai', '*.claude.ai', '*.claude.com'],
    variables: [
      ...['ANTHROPIC_*', 'CLAUDE_*', 'DISABLE_*'],
      ...['MAX_THINKING_TOKENS', 'API_TIMEOUT_MS', 'IS_SANDBOX'],
    ],
    settings: ['.claude/settings.json', '.claude/CLAUDE.md'],
    logins: ['.claude/.credentials.json'],
    sessions: { folder: '.claude/projects', files: /^[^/]+\/[^/]+\.jsonl$/ },
    moves: { CLAUDE_CONFIG_DIR: '.claude' },
    obeys: ['.claude', '.mcp.json'],
    projectSettings: ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json'],
    heads: ['.claude/agents', '.claude/commands', '.claude/skills'],
    hasTemplate: true,
  },
  hooks,
  guard,
  command: commandBy({
    output: {
      // 2.1 refuses stream-json without --verbose.
      stream: ['-p', '--output-format', 'stream-json', '--verbose'],
      text: ['-p', '--output-format', 'text'],
    },
    permissions: {
      full: ['--dangerously-skip-permissions'],
      // Changes files under the working copy; other commands are denied.
      edit: ['--permission-mode', 'acceptEdits'],
      read: ['--permission-mode', 'plan'],
      // A later --permission-mode does not undo --dangerously-skip-permissions, so ours gives way to the user's.
      names: ['--permission-mode', '--dangerously-skip-permissions'],
    },
    systemPrompt: '--append-system-prompt',
    resume: (session) => ['--resume', session],
    // As root it refuses to skip permissions unless told that it is in a sandbox.
    env: ({ asRoot, permissions }) => (asRoot && permissions === 'full' ? { IS_SANDBOX: '1' } : {}),
  }),
  newState,
  parse,
};
