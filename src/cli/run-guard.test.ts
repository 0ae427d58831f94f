import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { agents } from '../agents/registry.ts';
import type { ResolvedSettings } from '../store/settings-schema.ts';
import { guardRun } from './run-guard.ts';

function lineOf(name: 'claude' | 'gemini', env: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'ralph-run-guard-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const settings = { guard: 'auto', agent: { flags: [], env: {} } } as unknown as ResolvedSettings;
  return guardRun({ cwd, env: { HOME: cwd, ...env } }, settings, { adapter: agents[name], version: null });
}

it.skipIf(process.platform === 'win32')(
  'starts the guard with this Node, and refuses where it breaks off',
  () => {
    const [, settings = ''] = lineOf('claude').guard.args;
    const { command } = JSON.parse(settings).hooks.PreToolUse[0].hooks[0];
    expect(command).toMatch(/guard\.cjs' \|\| exit 2$/);
    expect(command).toContain(`'${process.execPath}'`);
  },
);

it('finds the hook of Gemini where its home is', () => {
  const home = mkdtempSync(join(tmpdir(), 'ralph-gemini-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, '.gemini'));
  writeFileSync(join(home, '.gemini/settings.json'), '{"hooks":"guard.cjs"}');
  expect(lineOf('gemini', { GEMINI_CLI_HOME: home }).line).toBe('the guard judges its tool calls first');
  expect(lineOf('gemini').line).toContain('does not see its tool calls');
});
