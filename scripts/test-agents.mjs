// `npm run test:agents [NAME[@VERSION]|NAME=PATH...]`: whole loops with real agents, offline. `all` is every one on npm.
// `acp` is each that speaks the Agent Client Protocol, by that protocol.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installAgent, pickAgents, readAgents } from './install-agents.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
const words = given.length > 0 ? given : ['claude', 'codex', 'opencode'];

try {
  const table = await readAgents();
  // Here an agent that cannot be installed is a failure; for `npm test` it is only a reason to skip its loops.
  for (const agent of pickAgents(table, words)) await installAgent(agent, table[agent.name]);
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const vitestWords = ['run', '--project', 'agents', '--reporter', 'verbose'];
  const { status } = spawnSync(process.execPath, [vitest, ...vitestWords], {
    cwd: root,
    env: { ...process.env, TEST_AGENTS: words.join(' ') },
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
