import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import type { WantedAgent } from './table.ts';

declare module 'vitest' {
  interface ProvidedContext {
    agents: WantedAgent[];
    /** The words that cut a command off from the network; null where this machine has no way to do so. */
    isolation: string[] | null;
  }
}

/** Installs the agents that `TEST_AGENTS` names, or the two that everyone tests, and says what cannot be tested. */
export function setup(project: TestProject): void {
  const names = (process.env.TEST_AGENTS || 'claude codex').split(/[\s,]+/);
  const agents: WantedAgent[] = JSON.parse(script('install-agents.mjs', ...names));
  for (const agent of agents) {
    if ('error' in agent) say(`${agent.name} ${agent.version} is not tested: ${agent.error}`);
  }
  const isolation: string[] | null = JSON.parse(script('offline.mjs'));
  if (isolation === null) {
    say('no network namespace can be made here: agents are kept offline by a proxy that does not exist');
  }
  project.provide('agents', agents);
  project.provide('isolation', isolation);
}

function script(name: string, ...words: string[]): string {
  const path = fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));
  return execFileSync(process.execPath, [path, ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function say(text: string): void {
  process.stderr.write(`real agents: ${text}\n`);
}
