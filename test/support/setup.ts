import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeVariables } from './home.ts';

// A developer's own settings, git hooks or colours must not reach a test.
for (const name of Object.keys(process.env)) {
  if (/^(RALPH_|SWARM_|GIT_|TMUX|AI_AGENT$)/.test(name)) delete process.env[name];
}
// Tests write settings into folders without git by the thousand; those of trust take it away.
process.env.RALPH_TRUST = '1';
delete process.env.FORCE_COLOR;
// What is shown in a terminal depends on it, and a terminal of a test is one like any other.
delete process.env.CI;
process.env.NO_COLOR = '1';
Object.assign(process.env, homeVariables(mkdtempSync(join(tmpdir(), 'home-'))));
