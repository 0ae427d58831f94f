import type { Options } from '../kernel/spec.ts';
import { json, runOptions } from '../ralph/options.ts';

const projectDir = { type: 'string', short: 'd', value: 'PATH', help: 'the project (this folder)' } as const;
const ralphDir = { type: 'string', value: 'PATH', help: 'the folder of the PRD (./ralph)' } as const;

const skipReview = { type: 'boolean', help: 'no reviews: implement iterations set passes' } as const;

export const prdRunOptions = {
  'max-iterations': { type: 'count', short: 'n', help: 'stop after N iterations (15)' },
  'ralph-dir': ralphDir,
  'project-dir': projectDir,
  // -m works, for those who know it, and is not offered: for `ralph run` it is the number of iterations.
  model: { type: 'string', aliases: ['m'], help: 'the model of the agent, such as opus or sonnet' },
  'skip-review': skipReview,
  'review-cap': { type: 'count', help: 'reviews of a story before it is approved as it is (5)' },
  sandbox: {
    ...runOptions.sandbox,
    help: 'where the agent runs (the first that works of sbx, bwrap and container)',
  },
  'allow-host': runOptions['allow-host'],
  agent: runOptions.agent,
  permissions: runOptions.permissions,
  verify: runOptions.verify,
  'idle-timeout': runOptions['idle-timeout'],
  'iteration-timeout': runOptions['iteration-timeout'],
  'max-wait': runOptions['max-wait'],
  'max-time': runOptions['max-time'],
  'max-cost': runOptions['max-cost'],
  'max-tokens': runOptions['max-tokens'],
  'stuck-after': { type: 'number', help: 'stop after N iterations without a commit (3; 0 is never)' },
  trust: runOptions.trust,
  'stream-agent-output': runOptions['stream-agent-output'],
  raw: runOptions.raw,
  timestamps: runOptions.timestamps,
  color: runOptions.color,
  verbose: runOptions.verbose,
  json: runOptions.json,
} as const satisfies Options;

export const prdInitOptions = {
  'project-dir': projectDir,
  name: { type: 'string', value: 'FEATURE_NAME', help: 'names the branch ralph/FEATURE_NAME and the PRD' },
  force: { type: 'boolean', help: 'write over a PRD that is there' },
} as const satisfies Options;

export const prdArchiveOptions = {
  'project-dir': projectDir,
  label: { type: 'string', help: 'names the archive (the branch if left out)' },
  'include-logs': { type: 'boolean', help: 'move the logs of the iterations along' },
} as const satisfies Options;

export const prdStatusOptions = {
  'project-dir': projectDir,
  'ralph-dir': ralphDir,
  'skip-review': skipReview,
  json,
} as const satisfies Options;
