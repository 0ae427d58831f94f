import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plugin } from '../../support/hooks.ts';

const gate = join(plugin, 'hooks/gate.sh');
const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0;

describe('the gate before the hooks', () => {
  it.skipIf(!hasShellcheck)('is clean under shellcheck (skipped where that is missing)', () => {
    const { status, stdout } = spawnSync('shellcheck', ['--shell=sh', gate], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });
});
