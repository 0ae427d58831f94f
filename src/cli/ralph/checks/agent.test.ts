import { describe, expect, it } from 'vitest';
import { agents } from '../../../agents/registry.ts';
import { checkPermissions, checkVersion } from './agent.ts';

describe('checkVersion', () => {
  const { claude, gemini } = agents;

  it.each([
    [claude, '2.1.196', 'warning', '2.1.196 is older than what was tested (2.1.197 to 2.1.325)'],
    [claude, '2.1.197', 'ok', '2.1.197, tested: 2.1.197 to 2.1.325'],
    [claude, '2.1.200', 'ok', '2.1.200, tested: 2.1.197 to 2.1.325'],
    [claude, '2.1.325', 'ok', '2.1.325, tested: 2.1.197 to 2.1.325'],
    [claude, '2.1.1000', 'warning', '2.1.1000 is newer than what was tested (2.1.197 to 2.1.325)'],
    [gemini, '0.61.0', 'ok', '0.61.0, tested: 0.61.0'],
    [gemini, null, 'warning', 'it tells no version'],
  ])('of $0.name, $1: $2', (adapter, version, status, evidence) => {
    expect(checkVersion(adapter, version)).toMatchObject({ status, evidence });
  });
});

describe('checkPermissions', () => {
  it('says what the agent may do', () => {
    expect(checkPermissions(agents.claude, 'edit', [], false)).toEqual({
      id: 'agent.permissions',
      agent: 'claude',
      status: 'ok',
      evidence: `edit: it may ${agents.claude.permits.edit}`,
    });
  });

  it('warns of everything allowed to root', () => {
    expect(checkPermissions(agents.claude, 'full', [], false).status).toBe('ok');
    expect(checkPermissions(agents.claude, 'edit', [], true).status).toBe('ok');
    expect(checkPermissions(agents.claude, 'full', [], true)).toMatchObject({
      status: 'warning',
      evidence: expect.stringMatching(/^full, as root: /),
    });
  });

  it('names the flags that may decide otherwise', () => {
    expect(checkPermissions(agents.codex, 'edit', ['-s', 'danger-full-access'], false).evidence).toMatch(
      /\(unless agent\.flags say otherwise: -s danger-full-access\)$/,
    );
  });

  it('fails on a mode that the agent does not have', () => {
    expect(checkPermissions(agents.cline, 'edit', [], false)).toMatchObject({
      status: 'error',
      evidence: 'cline has no "edit" mode that works with nobody to ask, only full or read',
      remedy: '--sandbox, where it may do everything, or --permissions full',
    });
  });
});
