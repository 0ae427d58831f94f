import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.ts';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

export default defineConfig({
  define: { __VERSION__: JSON.stringify(version) },
  test: {
    pool: 'forks',
    maxWorkers: 3,
    hookTimeout: 60_000,
    // Many tests watch real processes on a machine of unknown load. The end of the output names each that needed it.
    retry: process.env.CI ? 1 : 0,
    setupFiles: 'test/support/setup.ts',
    reporters: ['default', new SummaryReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: 'ralph',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
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
          testTimeout: 180_000,
          globalSetup: ['test/support/global-setup.ts', 'test/agents/install.ts'],
        },
      },
    ],
  },
});
