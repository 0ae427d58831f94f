import { type AgentScreen, loginQuestion, trustQuestion } from '../agent.ts';

export const screen: AgentScreen = {
  input: /^─{20,}\n❯/m,
  working: /^ . Working\b/m,
  footer: 1,
  speech: /^ ● (?!Request failed)/,
  permission: /Do you want to (?:run|allow|make)/,
  limit: /rate limit|usage limit|quota/i,
  loggedOut: /^ ✗ Authentication failed/,
  blockers: {
    [trustQuestion]: /Confirm folder trust/,
    [loginQuestion]: /Please use \/login|How would you like to sign in/,
  },
};
