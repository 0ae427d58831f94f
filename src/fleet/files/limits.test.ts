import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { holdAccount, readLimits, releaseAccount, setMaxParallel } from './limits.ts';

describe('the stored limits of a fleet', () => {
  it('are none at first', () => {
    expect(readLimits(fleet())).toEqual({ maxParallel: null, holds: {} });
  });

  it('are kept side by side, the longer hold of an account wins, and old ones go', () => {
    const env = fleet();
    setMaxParallel(env, 4);
    holdAccount(env, 'claude', 200, 0);
    holdAccount(env, 'claude', 150, 0);
    holdAccount(env, 'codex', 300, 100);
    expect(readLimits(env)).toEqual({ maxParallel: 4, holds: { claude: 200, codex: 300 } });
    holdAccount(env, 'amp', 900, 250);
    expect(readLimits(env).holds).toEqual({ codex: 300, amp: 900 });
    expect(releaseAccount(env, 'amp')).toBe(true);
    expect(releaseAccount(env, 'amp')).toBe(false);
    setMaxParallel(env, null);
    expect(readLimits(env)).toEqual({ maxParallel: null, holds: { codex: 300 } });
  });

  it.each(['{"maxParallel":', '{"maxParallel":-1,"holds":{}}', '[]'])('set %j aside', (text) => {
    const env = fleet();
    writeFileSync(join(env.SWARM_HOME, 'limits.json'), text);
    expect(readLimits(env)).toEqual({ maxParallel: null, holds: {} });
    expect(readdirSync(env.SWARM_HOME)).toHaveLength(1);
  });
});

function fleet(): { SWARM_HOME: string } {
  const folder = mkdtempSync(join(tmpdir(), 'limits-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { SWARM_HOME: folder };
}
