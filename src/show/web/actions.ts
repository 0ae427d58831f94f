import { isObject } from '../../core/json.ts';

/** What a person may do to a loop from the page. */
export type Action =
  | { readonly action: 'pause' | 'resume' | 'stop' }
  | { readonly action: 'note' | 'answer'; readonly text: string };

const maxWords = 10_000;

/** The action in a request; a text says what is wrong with it. */
export function readAction(body: string): Action | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'this is no JSON';
  }
  if (!isObject(value)) return 'an action is an object';
  const { action, text } = value;
  if (action === 'pause' || action === 'resume' || action === 'stop') return { action };
  if (action !== 'note' && action !== 'answer') return 'an action is pause, resume, stop, note or answer';
  if (typeof text !== 'string' || text.trim() === '') return `a ${action} needs a text`;
  if (text.length > maxWords) return `a ${action} has ${maxWords} characters at most`;
  return { action, text };
}
