import { type AgentScreen, loginQuestion } from '../agent.ts';

export const screen: AgentScreen = {
  input: /^ \? for shortcuts/m,
  working: /\bEsc to cancel\b/,
  footer: 1,
  speech: /^ {2}\w/,
  dialog: /^ \? for shortcuts/m,
  permission: /^│ (?:Run this command|Allow .{1,60}|Invoke .{1,60})\?/m,
  limit: /^│ Rate Limit Hit|^│ Out of Credits/m,
  loggedOut: /^│ Unauthorized/m,
  blockers: { [loginQuestion]: /log in to Amp\?/ },
  context: /^╭─(\d+)% of \d+k/m,
};
