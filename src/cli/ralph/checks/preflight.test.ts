import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agents } from '../../../agents/registry.ts';
import { loadSettings } from '../../../config/settings.ts';
import type { RunAgent } from '../../../drive/process/run-spec.ts';
import { preflight } from './preflight.ts';

/** A folder with an agent in it that leaves a trace of every start. */
function prepare(body: string, changes: Partial<RunAgent> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'preflight-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const program = join(cwd, 'claude');
  const trace = join(cwd, 'started');
  writeFileSync(program, `#!/bin/sh\ntouch '${trace}'\n${body}\n`, { mode: 0o755 });
  const env = { PATH: process.env.PATH, HOME: cwd };
  const agent: Omit<RunAgent, 'guard'> = {
    adapter: agents.claude,
    program,
    version: '2.1.325',
    permissions: 'edit',
    asRoot: false,
    ...changes,
  };
  return {
    cwd,
    wasStarted: () => existsSync(trace),
    run: (more: Record<string, string> = {}) => {
      const context = { cwd, env: { ...env, ...more } };
      return preflight(
        context,
        loadSettings({ ...context, trust: { strangers: [], isTrusted: true } }),
        agent,
      );
    },
  };
}

describe('preflight', () => {
  it('lets a run begin where nothing is wrong, and starts nothing for that', () => {
    const { run, wasStarted } = prepare('echo 2.1.325');
    expect(run()).toBe(null);
    expect(wasStarted()).toBe(false);
  });

  it('never starts an agent, not even one whose version is not known', () => {
    const { run, wasStarted } = prepare('exit 1', { version: null });
    expect(run()).toBe(null);
    expect(wasStarted()).toBe(false);
  });

  it('refuses a mode that the agent does not have', () => {
    expect(prepare('', { adapter: agents.cline }).run()).toMatchObject({
      code: 'agent.permissions',
      exitCode: 2,
    });
  });

  it('refuses a state folder that cannot be written', () => {
    const { cwd, run } = prepare('');
    writeFileSync(join(cwd, 'file'), '');
    expect(run({ XDG_STATE_HOME: join(cwd, 'file') })).toMatchObject({
      code: 'state.writable',
      exitCode: 70,
    });
  });
});
