import type { AgentName } from '../../agents/registry.ts';

/** What the screen of an agent looks like, from recordings in fixtures/. */
export type ScreenKnowledge = {
  /** Its place for input, among the last lines. */
  readonly input: RegExp;
  /** A turn is running: in the last lines, so many of them. */
  readonly working: RegExp;
  readonly footer: number;
  /** Where the agent begins to say something. */
  readonly speech: RegExp;
  /** A question stands where the input would be: in the last two lines. Without it, anything is one that leaves no room for input. */
  readonly dialog?: RegExp;
  /** It asks whether it may do something. */
  readonly permission: RegExp;
  /** It has a question of its own about the task. */
  readonly question?: RegExp;
  /** The provider's usage limit, also while it goes on to try. */
  readonly limit: RegExp;
  readonly loggedOut: RegExp;
  /** What stands in the way of a start, by name. */
  readonly blockers: readonly (readonly [name: string, pattern: RegExp])[];
  /** The last turn has ended; an agent that says so is at work as long as it does not. */
  readonly turnEnd?: RegExp;
  /** How full the context is, or how much of it is left, in percent. */
  readonly context?: RegExp;
  readonly contextLeft?: RegExp;
  /** It makes room in its context, or has just done so. */
  readonly compacts?: RegExp;
};

const trust = 'the question whether you trust the folder';
const login = 'the login';

const geminiLike: ScreenKnowledge = {
  input: /^\s*[>*!]\s+Type your message/m,
  working: /\besc to cancel\b/i,
  footer: 8,
  speech: /^✦ /,
  permission: /^.*(?:Allow execution of|Apply this change\?|Do you want to proceed\?|Allow once)/m,
  limit: /Usage limit reached|exhausted your .{0,40}quota|Quota exceeded|usage limit has been reached/i,
  loggedOut: /API Error: .*\b401\b|API key not valid|authentication_error|Incorrect API key/i,
  blockers: [
    [trust, /Do you trust (?:the files in )?this folder\?/],
    [
      login,
      /How would you like to authenticate|Select Authentication Method|Get started|Enter .{0,20}API Key/,
    ],
    ['the choice of a theme', /Select Theme|Apply To/],
  ],
};

/** Agents without recordings of their own are known by what they print and whether it moves. */
export const knowledge: Readonly<Record<AgentName, ScreenKnowledge | null>> = {
  claude: {
    input: /^─{20,}.*\n[❯>](?:\s|$)/m,
    working: /\besc to interrupt\b/,
    footer: 3,
    speech: /^● (?!Usage limit)/,
    dialog: /\bEsc to cancel\b|\bEnter to (?:confirm|select)\b/,
    permission: /^ ?(?:Do you want to|Would you like to) .*\?/m,
    question: /^\s*❯ \d\. /m,
    limit: /(?:hit|reached) your .{0,30}limit|Usage limit reached|Stop and wait for limit to reset/i,
    loggedOut: /Not logged in|Please run \/login|Invalid API key|OAuth token .{0,20}(?:expired|revoked)/,
    blockers: [
      [trust, /Yes, I trust this folder/],
      ['the choice of a theme', /Choose the text style that looks best/],
      [login, /Select login method/],
      ['the warning of the bypass mode', /Bypass Permissions mode[\s\S]*Yes, I accept/],
      ['the question for an API key', /Detected a custom API key/],
      ['the network', /Unable to connect to Anthropic services/],
    ],
    contextLeft: /Context left until auto-compact: (\d+)%/,
    compacts: /Compacting conversation|Conversation compacted/,
  },
  codex: {
    input: /^› /m,
    working: /\besc to interrupt\b/,
    footer: 5,
    speech: /^• /,
    dialog: /\b(?:enter|esc)\/?(?:esc)? (?:continue|confirm)\b|[Pp]ress enter to (?:confirm|continue)/,
    permission: /Would you like to (?:run|make|grant)|Allow command\?|Allow Codex to/,
    limit: /hit your usage limit|Quota exceeded/,
    loggedOut: /\b401 Unauthorized\b|refresh token|sign in again|log in again/i,
    blockers: [
      [trust, /Trust this folder\?|Do you trust the contents of this directory|running Codex in/],
      [login, /Sign in with ChatGPT/],
      ['the choice of a model', /Try new model|Use existing model/],
    ],
    contextLeft: /(\d+)% context left/,
    compacts: /Context compacted|Compacting/,
    turnEnd: /^\s*(?:─ )?Worked for |^■ /m,
  },
  gemini: geminiLike,
  qwen: { ...geminiLike, input: /^[>*!]\s+Type your message/m },
  opencode: {
    input: /\bctrl\+p commands\b/,
    working: /\besc (?:again to )?interrupt\b/,
    footer: 2,
    speech: /^ {5}\w/,
    permission: /△ Permission required/,
    question: /^\s*┃.*\benter (?:submit|confirm)\b.*\besc dismiss\b/m,
    limit: /limit .{0,40}\[retrying\b|usage limit has been reached/i,
    loggedOut: /invalid x-api-key|Unauthorized|API key is (?:missing|invalid)|Incorrect API key/i,
    blockers: [[login, /Connect a provider/]],
    context: /\((\d+)%\)\s+ctrl\+p commands/,
  },
  amp: {
    input: /^ \? for shortcuts/m,
    working: /\bEsc to cancel\b/,
    footer: 1,
    speech: /^ {2}\w/,
    dialog: /^ \? for shortcuts/m,
    permission: /^│ (?:Run this command|Allow .{1,60}|Invoke .{1,60})\?/m,
    limit: /^│ Rate Limit Hit|^│ Out of Credits/m,
    loggedOut: /^│ Unauthorized/m,
    blockers: [[login, /log in to Amp\?/]],
    context: /^╭─(\d+)% of \d+k/m,
  },
  pi: {
    input: /\d%\/\d+k \(auto\)/,
    working: /^ [\u2800-\u28ff] /m,
    footer: 5,
    speech: /^ (?!Error)\w/,
    permission: /(?!)/,
    limit: /Error: 429 |usage limit/i,
    loggedOut: /Error: 401 |No API key found/,
    blockers: [[login, /Use \/login/]],
    context: /(\d+(?:\.\d+)?)%\/\d+k \(auto\)/,
  },
  copilot: {
    input: /^─{20,}\n❯/m,
    working: /^ . Working\b/m,
    footer: 1,
    speech: /^ ● (?!Request failed)/,
    permission: /Do you want to (?:run|allow|make)/,
    limit: /rate limit|usage limit|quota/i,
    loggedOut: /Authentication failed/,
    blockers: [
      [trust, /Confirm folder trust/],
      [login, /Please use \/login|How would you like to sign in/],
    ],
  },
  cline: {
    input: /^\s*❯ (?:Ask anything|What can I do)/m,
    working: /^ [\u2800-\u28ff] /m,
    footer: 20,
    speech: /^ \* /,
    permission: /(?!)/,
    limit: /usage limit|Rate limit|quota/i,
    loggedOut: /Unauthorized|Invalid API key|\b401\b/i,
    blockers: [['an offer of its maker', /Press Enter to open, any other key to close/]],
  },
  custom: null,
};
