import type { Agent } from '../agent.ts';
import { command } from './command.ts';
import { parse } from './parse.ts';
import { screen } from './screen.ts';

/** Amp, as it was until March 2026; later ones run their loop on the server. */
export const amp: Agent = {
  name: 'amp',
  install: 'npm install -g @sourcegraph/amp',
  login: 'amp login',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files and run what it takes for harmless; for anything else it waits for an approval until the idle timeout',
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
  screen,
  sandbox: {
    hosts: ['ampcode.com', '*.ampcode.com'],
    variables: ['AMP_*'],
    settings: ['.config/amp/settings.json'],
    logins: ['.local/share/amp/secrets.json'],
    sessions: { folder: '.local/share/amp/threads', files: /^[^/]+\.json$/ },
    moves: {},
    obeys: ['.amp'],
    projectSettings: [],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command,
  newState: () => ({}),
  parse,
};
