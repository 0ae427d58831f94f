#!/usr/bin/env node
import { start } from '../kernel/start.ts';
import { prdCommands } from './commands.ts';

// `ralph prd` for a plugin that stands alone: what its scripts start.
start(
  {
    name: 'ralph',
    summary: 'a PRD worked off story by story',
    commands: prdCommands,
    groups: { prd: 'A PRD worked off story by story, with a review that cannot be bypassed.' },
    topics: {},
  },
  ['prd', ...process.argv.slice(2)],
);
