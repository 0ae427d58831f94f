import type { Program } from './spec.ts';

/** The fleet has no commands yet; `swarm --help` says so. */
export const swarm: Program = {
  name: 'swarm',
  summary: 'many loops at once on one machine (no commands in this version; use ralph run for a single loop)',
  commands: {},
  topics: {},
};
