import type { AgentScreen } from '../agent.ts';

export const screen: AgentScreen = {
  input: /^\s*❯ (?:Ask anything|What can I do)/m,
  working: /^ [\u2800-\u28ff] /m,
  footer: 20,
  speech: /^ \* /,
  permission: null,
  limit: /usage limit|Rate limit|quota/i,
  loggedOut: /^\W*(?:Error\b.*)?(?:Unauthorized|Invalid API key|401\b)/i,
  blockers: { 'an offer of its maker': /Press Enter to open, any other key to close/ },
};
