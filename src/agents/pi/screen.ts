import { type AgentScreen, loginQuestion } from '../agent.ts';

export const screen: AgentScreen = {
  input: /\d%\/\d+k \(auto\)/,
  working: /^ [\u2800-\u28ff] /m,
  footer: 5,
  speech: /^ (?!Error)\w/,
  permission: null,
  limit: /Error: 429 |usage limit/i,
  loggedOut: /^ ?(?:Error: 401 |No API key found)/,
  blockers: { [loginQuestion]: /Use \/login/ },
  context: /(\d+(?:\.\d+)?)%\/\d+k \(auto\)/,
};
