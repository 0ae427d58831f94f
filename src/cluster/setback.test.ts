import { expect, it } from 'vitest';
import type { TurnEnd } from '../fleet/iteration-end.ts';
import { faultOf } from './setback.ts';

function stoppedBy(code: string, text: string): TurnEnd {
  const counts = { iterations: 0, failures: 0, maxFailures: 5 };
  const decision = { kind: 'stop', outcome: 'AGENT_FAILED', because: { code, text }, ...counts } as const;
  return { how: 'exited', exitCode: 1, doneMatched: false, decision };
}

it('tells a fault of the machine from one of the loop', () => {
  expect(faultOf(stoppedBy('auth', 'the agent is not logged in'))?.kind).toBe('agent');
  expect(faultOf(stoppedBy('agent-missing', 'it is not installed'))?.kind).toBe('agent');
  expect(faultOf(stoppedBy('disk-full', 'There is no space left to write x.'))?.kind).toBe('machine');
  expect(faultOf(stoppedBy('failures', '5 failed turns in a row'))).toBeNull();
  expect(faultOf({ how: 'exited', exitCode: 1, doneMatched: false })).toBeNull();
});
