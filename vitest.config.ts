import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { SummaryReporter } from './test/support/summary-reporter.ts';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  define: { __VERSION__: JSON.stringify(version) },
  test: {
    pool: 'forks',
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    hookTimeout: 60_000,
    setupFiles: 'test/support/setup.ts',
    reporters: ['default', new SummaryReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: 'ralph',
          include: ['src/**/*.test.ts', 'packages/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/agents/**'],
          testTimeout: 60_000,
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'agents',
          include: ['test/agents/**/*.test.ts'],
          exclude: ['test/agents/made-up/**'],
          testTimeout: 180_000,
          globalSetup: ['test/support/global-setup.ts', 'test/agents/install.ts'],
        },
      },
    ],
  },
});
