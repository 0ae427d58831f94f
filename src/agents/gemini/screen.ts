import { type AgentScreen, loginQuestion, trustQuestion } from '../agent.ts';

export const screen: AgentScreen = {
  input: /^\s*[>*!]\s+Type your message/m,
  working: /\besc to cancel\b/i,
  footer: 8,
  speech: /^✦ /,
  permission: /^.*(?:Allow execution of|Apply this change\?|Do you want to proceed\?|Allow once)/m,
  limit: /Usage limit reached|exhausted your .{0,40}quota|Quota exceeded|usage limit has been reached/i,
  loggedOut: /API Error: .*\b401\b|API key not valid|authentication_error|Incorrect API key/i,
  blockers: {
    [trustQuestion]: /Do you trust (?:the files in )?this folder\?/,
    [loginQuestion]:
      /How would you like to authenticate|Select Authentication Method|Get started|Enter .{0,20}API Key/,
    'the choice of a theme': /Select Theme|Apply To/,
  },
};
