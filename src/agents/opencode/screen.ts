import { type AgentScreen, loginQuestion } from '../agent.ts';

export const screen: AgentScreen = {
  input: /\bctrl\+p commands\b/,
  working: /\besc (?:again to )?interrupt\b/,
  footer: 2,
  speech: /^ {5}\w/,
  permission: /△ Permission required/,
  question: /^\s*┃.*\benter (?:submit|confirm)\b.*\besc dismiss\b/m,
  limit: /limit .{0,40}\[retrying\b|usage limit has been reached/i,
  loggedOut: /^\s*┃\s+(?:invalid x-api-key|Unauthorized|API key is (?:missing|invalid)|Incorrect API key)/i,
  blockers: { [loginQuestion]: /Connect a provider/ },
  context: /\((\d+)%\)\s+ctrl\+p commands/,
};
