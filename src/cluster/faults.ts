import type { TurnEnd } from '../fleet/iteration-end.ts';
import type { GaveUp } from './messages.ts';

/** True if a message tells that the machine has run out of something. */
export function isFaultOfMachine(text: string): boolean {
  return /no space left|disk quota exceeded|too many open files|cannot allocate memory/i.test(text);
}

/** Returns what is wrong with this machine after an iteration that ended because of it; null if it did not. */
export function faultOf({ decision }: TurnEnd): { readonly because: GaveUp; readonly why: string } | null {
  if (decision?.kind !== 'stop') return null;
  const { code, text } = decision.because;
  if (isFaultOfMachine(text)) return { because: 'machine', why: text };
  return code === 'auth' || code === 'agent-missing' ? { because: 'agent', why: text } : null;
}
