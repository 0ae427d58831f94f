import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agents } from '../../agents/registry.ts';
import { loadSettings } from '../../config/settings.ts';
import { guardRun } from './run-guard.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'ralph-run-guard-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
});

function guardOf(
  name: 'claude' | 'codex' | 'gemini',
  env: Record<string, string> = {},
  flags: readonly string[] = [],
) {
  const words = flags.map((word) => `'${word}'`);
  const cli = [{ key: 'agent.flags', value: words, flag: '--agent-flag' } as const];
  const { settings } = loadSettings({
    cwd,
    env: { HOME: cwd },
    cli,
    trust: { strangers: [], isTrusted: true },
  });
  const agent = { adapter: agents[name], version: null, run: 'r1' };
  return guardRun({ cwd, env: { HOME: cwd, ...env } }, settings, agent);
}

function hookOfClaude(): string {
  const [, settings = ''] = guardOf('claude').guard.args;
  return JSON.parse(settings).hooks.PreToolUse[0].hooks[0].command;
}

describe.skipIf(process.platform === 'win32')('the line that starts the guard of a run', () => {
  /** The line with a program in the place of the guard, started as a host does whose settings come from a repository. */
  function start(program: string) {
    const path = join(cwd, 'stand-in.cjs');
    writeFileSync(path, program);
    const line = hookOfClaude().replace(/'[^']*guard\.cjs'/, `'${path}'`);
    const env = {
      ...{ RALPH_GUARD: 'off', RALPH_RUN_ID: 'other' },
      ...{ NODE_OPTIONS: '--require=/none.cjs', NODE_COMPILE_CACHE: cwd },
    };
    return spawnSync('sh', ['-c', line], { env: { ...process.env, ...env }, encoding: 'utf8' });
  }

  it('is this Node, and a refusal where it breaks off', () => {
    expect(hookOfClaude()).toContain(`'${process.execPath}'`);
    expect(hookOfClaude()).toContain("guard.cjs' ||");
    expect(start('').status).toBe(0);
    expect(start('process.kill(process.pid, 9)').status).toBe(2);
  });

  it('lets nobody switch it off by a variable', () => {
    const { status, stdout } = start('const e = process.env; console.log(e.RALPH_GUARD, e.RALPH_RUN_ID)');
    expect([status, stdout]).toEqual([0, 'always r1\n']);
    expect(guardOf('codex').guard.args.join(' ')).toContain('RALPH_GUARD=always');
    // Whoever writes this cache decides which code runs.
    expect(start('console.log(process.env.NODE_COMPILE_CACHE)').stdout).toMatch(/ralph\/compile-cache\n$/);
  });

  it('ends the guard before a host does, which would let the call pass', () => {
    const { stdout } = start(
      `process.stdout.write(require('node:child_process').execFileSync('sh', ['-c', 'ulimit -t']))`,
    );
    expect(stdout).toMatch(/^\d+\n$/);
  });
});

describe('the settings that the user has on the command line of Claude Code', () => {
  const guardBeside = (file: string, text: string) => {
    writeFileSync(join(cwd, 'mine.json'), text);
    return guardOf('claude', {}, ['--settings', file]);
  };

  it('come with the guard', () => {
    const { guard, line } = guardBeside('mine.json', '{"model":"mine"}');
    const [, settings = ''] = guard.args;
    expect(JSON.parse(settings)).toMatchObject({ model: 'mine', hooks: { PreToolUse: [{}] } });
    expect(guard.flags).toEqual([]);
    expect(line).toContain('the guard judges');
  });

  it.each([
    ['cannot be read', 'none.json', '{}'],
    ['are no JSON', 'mine.json', '{'],
    [
      'hold a secret, which everybody sees on a command line',
      'mine.json',
      '{"env":{"API_TOKEN":"tok-6a1f0c2e9b"}}',
    ],
  ])('leave the guard out where they %s, and the run says so', (_why, file, text) => {
    const { guard, line } = guardBeside(file, text);
    expect(guard.args).toEqual([]);
    expect(line).toContain('the guard does not see its tool calls');
  });
});

it('finds the hook of Gemini where its home is', () => {
  const home = join(cwd, 'gemini');
  mkdirSync(join(home, '.gemini'), { recursive: true });
  writeFileSync(join(home, '.gemini/settings.json'), '{"hooks":"gate.sh guard gemini"}');
  expect(guardOf('gemini', { GEMINI_CLI_HOME: home }).line).toBe('the guard judges its tool calls first');
  expect(guardOf('gemini').line).toContain('does not see its tool calls');
});
