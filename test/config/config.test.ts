import { describe, expect, it } from 'vitest';
import { runRalph } from '../support/ralph.ts';
import { makeRepo } from '../support/repo.ts';

const settings = {
  maximumIterations: 3,
  idleTimeout: '20m',
  agent: { command: 'claude', flags: ['--model opus'], env: { API_TOKEN: 'tiptop-secret-1', REGION: 'eu' } },
};

describe('ralph config', () => {
  it('prints what is in force as a settings file', async () => {
    const repo = makeRepo({ settings });
    const { code, stdout, stderr } = await runRalph(['config'], repo);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const printed = JSON.parse(stdout);
    expect(printed).toMatchObject({
      maximumIterations: 3,
      completionResponse: 'DONE',
      idleTimeout: '20m',
      iterationTimeout: '2h',
      agent: { flags: ['--model opus'], env: { REGION: 'eu' } },
    });
    expect(printed).not.toHaveProperty('scm');
    repo.write('.ralph/settings.json', stdout);
    expect((await runRalph(['config'], repo)).stdout).toBe(stdout);
  });

  it('explains where each value came from', async () => {
    const repo = makeRepo({ settings });
    repo.write('.ralph/settings.local.json', '{"agent":{"env":{"REGION":"us"}},"scm":{"tasks":["commit"]}}');
    const env = { ...repo.env, RALPH_MAX_COST: '2.5', RALPH_IDLE_TIMEOUTS: '5m' };
    const { stdout, stderr } = await runRalph(['config', '--explain'], { ...repo, env });
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 3));
    expect(rows).toEqual(
      expect.arrayContaining([
        ['maximumIterations', '.ralph/settings.json', '3'],
        ['completionResponse', 'default', '"DONE"'],
        ['agent.flags', '.ralph/settings.json', '["--model opus"]'],
        ['agent.env.REGION', '.ralph/settings.local.json', '"us"'],
        ['scm.command', 'default', '"git"'],
        ['scm.tasks', '.ralph/settings.local.json', '["commit"]'],
        ['maxCost', 'RALPH_MAX_COST', '2.5'],
        ['maxTokens', '-', 'not set'],
        ['agent.permissions', 'default', '"edit"'],
        ['sandbox', 'default', '"none"'],
      ]),
    );
    expect(stderr).toBe('warning: RALPH_IDLE_TIMEOUTS is no setting; did you mean RALPH_IDLE_TIMEOUT?\n');
  });

  it.each([[['config']], [['config', '--explain']], [['config', '--json']]])(
    'shows no secret in %j',
    async (args) => {
      const repo = makeRepo({ settings });
      const { code, stdout } = await runRalph(args, repo);
      expect(code).toBe(0);
      expect(stdout).toContain('API_TOKEN');
      expect(stdout).not.toContain('tiptop-secret-1');
    },
  );

  it('gives programs the values, their sources and the files', async () => {
    const repo = makeRepo({ settings });
    const { stdout } = await runRalph(['config', '--json'], repo);
    expect(JSON.parse(stdout)).toMatchObject({
      v: 1,
      settings: { maximumIterations: 3, maxFailures: 5 },
      sources: { maximumIterations: '.ralph/settings.json', maxFailures: 'default' },
      files: ['.ralph/settings.json'],
      warnings: [],
    });
  });

  it('fails with 2 and one sentence about wrong settings', async () => {
    const repo = makeRepo({ settings: { maxIterations: 3 } });
    const { code, stdout, stderr } = await runRalph(['config'], repo);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'error: .ralph/settings.json: there is no setting "maxIterations"; did you mean "maximumIterations"?\n' +
        '  try: ralph help settings\n',
    );
  });
});

describe('what is published about settings', () => {
  it('ralph help settings names every setting, its default and its variable', async () => {
    const { code, stdout } = await runRalph(['help', 'settings'], makeRepo());
    expect(code).toBe(0);
    expect(stdout).toContain('  maximumIterations, RALPH_MAXIMUM_ITERATIONS\n');
    expect(stdout).toContain('Iterations before the loop gives up. Default: 10\n');
  });
});
