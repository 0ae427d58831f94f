import { type AgentScreen, loginQuestion, trustQuestion } from '../agent.ts';

export const screen: AgentScreen = {
  banner: /OpenAI Codex/,
  input: /^› /m,
  working: /\besc to interrupt\b/,
  footer: 5,
  speech: /^• /,
  dialog: /\b(?:enter|esc)\/?(?:esc)? (?:continue|confirm)\b|[Pp]ress enter to (?:confirm|continue)/,
  permission: /Would you like to (?:run|make|grant)|Allow command\?|Allow Codex to/,
  limit: /hit your usage limit|Quota exceeded/,
  loggedOut: /^■ .*(?:\b401 Unauthorized\b|refresh token|sign in again|log in again)/i,
  blockers: {
    [trustQuestion]: /Trust this folder\?|Do you trust the contents of this directory|running Codex in/,
    [loginQuestion]: /Sign in with ChatGPT|Paste or type your API key/,
    'the choice of a model': /Try new model|Use existing model/,
  },
  contextLeft: /(\d+)% context left/,
  compacts: /Context compacted|Compacting/,
  turnEnd: /^\s*(?:─ )?Worked for |^■ /m,
};
