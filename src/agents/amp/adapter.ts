import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { parse } from './parse.ts';

/** Amp, as it was until March 2026; later ones run their loop on the server. */
export const amp: AgentAdapter = {
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
  command,
  newState: () => ({}),
  parse,
};
