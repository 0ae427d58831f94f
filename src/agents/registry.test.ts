import { describe, expect, it } from 'vitest';
import { agentNameOf, agents } from './registry.ts';

describe('the registry of agents', () => {
  it('holds each adapter under its own name', () => {
    for (const [name, adapter] of Object.entries(agents)) expect(adapter.name).toBe(name);
  });

  it.each([
    ['claude', 'claude'],
    ['/usr/local/bin/claude', 'claude'],
    ['C:\\Tools\\claude.exe', 'claude'],
    ['C:\\npm\\claude.CMD', 'claude'],
    ['./claude-wrapper.sh', 'custom'],
    ['my-agent', 'custom'],
    ['toString', 'custom'],
    ['', 'custom'],
  ])('knows the agent behind %j', (command, name) => {
    expect(agentNameOf(command)).toBe(name);
  });
});
