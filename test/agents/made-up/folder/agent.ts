import { type Agent, usualPermits } from '../agent.ts';
import { command } from './command.ts';
import { parse } from './parse.ts';

/** A CLI that does not exist. */
export const parrot: Agent = {
  name: 'parrot',
  install: 'hatch one',
  login: 'parrot feed',
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: false,
  takesSystemPrompt: false,
  tested: ['1.4.0'],
  loginStatus: { words: ['hungry'], loggedIn: /fed/, loggedOut: /starving/ },
  modelOption: null,
  accountVariables: ['PARROT_SEED'],
  headless: ['fly'],
  interactive: ['--hear'],
  screen: null,
  sandbox: {
    hosts: ['parrot.example.com'],
    variables: ['PARROT_*'],
    settings: ['.parrot/settings.json'],
    logins: ['.parrot/seed.json'],
    sessions: null,
    moves: { PARROT_HOME: '.parrot' },
    obeys: ['.parrot'],
    projectSettings: ['.parrot/settings.json'],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command,
  newState: () => ({}),
  parse,
};
