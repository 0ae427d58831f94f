import { describe, expect, it } from 'vitest';
import type { Agent } from './agent.ts';
import { agentNameOf, agents } from './registry.ts';

/** The facts that an agent may leave out: one more, or one that it may not, does not compile here. */
type Optional = { [Fact in keyof Agent]-?: object extends Pick<Agent, Fact> ? Fact : never }[keyof Agent];
const exceptions: Record<Optional, string> = {
  needsVersion: 'its command line differs between versions',
  endsWithoutResult: 'its stream has no result event',
  protocol: 'it is talked to while it works',
  exitCodeIsNoise: 'its exit code says nothing',
  ownSession: 'it takes a session id of ours',
};

describe('the registry of agents', () => {
  it('has every fact of every agent, but for exceptions to what most of them do', () => {
    const factsOf = (agent: Agent) => Object.keys(agent).filter((fact) => !Object.hasOwn(exceptions, fact));
    for (const agent of Object.values(agents)) {
      expect(factsOf(agent).sort()).toEqual(factsOf(agents.custom).sort());
    }
  });

  it('does not compile with an agent that lacks a fact', () => {
    const { screen: _, ...others } = agents.claude;
    // @ts-expect-error `npm run check` fails where this is no error.
    const incomplete: Agent = others;
    expect(incomplete).not.toHaveProperty('screen');
  });

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
