import { type Agent, loginQuestion } from '../agent.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** Amp, as it was until March 2026; later ones run their loop on the server. */
export const amp: Agent = {
  name: 'amp',
  install: 'npm install -g @sourcegraph/amp',
  login: 'amp login',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
  },
  canResume: true,
  takesSystemPrompt: false,
  // 0 after every error, 1 after a good turn whose thread could not be uploaded.
  exitCodeIsNoise: true,
  tested: ['0.0.1769314944'],
  // A status command would start a login.
  loginStatus: null,
  modelOption: null,
  accountVariables: ['AMP_API_KEY'],
  headless: ['-x', '--execute'],
  interactive: null,
  screen: {
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
  },
  sandbox: {
    hosts: ['ampcode.com', '*.ampcode.com'],
    variables: ['AMP_*'],
    settings: ['.config/amp/settings.json'],
    logins: ['.local/share/amp/secrets.json'],
    sessions: { folder: '.local/share/amp/threads', files: /^[^/]+\.json$/ },
    moves: {},
    obeys: ['.amp'],
    projectSettings: ['.amp/settings.json', '.amp/settings.jsonc'],
    loads: ['.amp/plugins'],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command,
  newState,
  parse,
};
