import { type AgentScreen, loginQuestion, trustQuestion } from '../agent.ts';

export const screen: AgentScreen = {
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
};
