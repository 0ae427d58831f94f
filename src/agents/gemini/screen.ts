import { type AgentScreen, loginQuestion, trustQuestion } from '../agent.ts';

export const screen: AgentScreen = {
  input: /^\s*[>*!]\s+Type your message/m,
  working: /^\s*[\u2800-\u28ff] .*\besc to cancel\b/im,
  footer: 8,
  speech: /^✦ /,
  permission: /^.*(?:Allow execution of|Apply this change\?|Do you want to proceed\?|Allow once)/m,
  limit: /Usage limit reached|exhausted your .{0,40}quota|Quota exceeded|usage limit has been reached/i,
  loggedOut: /^\s*✕ .*(?:\b401\b|API key not valid|authentication_error|Incorrect API key)/i,
  blockers: {
    [trustQuestion]: /Do you trust (?:the files in )?this folder\?/,
    [loginQuestion]:
      /How would you like to authenticate|Select Authentication Method|Get started|Enter .{0,20}API Key|Enter the authorization code/,
    'the choice of a theme': /Select Theme|Apply To/,
  },
};
