import { isObject } from '../../core/json.ts';

/** An error as hosts report it: whether the user aborted the turn, and what went wrong. */
export function readHostError(value: unknown): { readonly aborted: boolean; readonly text: string } {
  const { name, message, data } = isObject(value) ? value : {};
  const words = [name, message ?? (isObject(data) ? data.message : undefined)];
  return {
    aborted: name === 'MessageAbortedError' || name === 'AbortError',
    text: words.filter((word) => typeof word === 'string').join(': ') || 'unknown error',
  };
}

/** The session that an event is about; undefined where its data does not say. */
export function sessionOfEvent(data: Readonly<Record<string, unknown>>): string | undefined {
  const info = isObject(data.info) ? data.info.id : undefined;
  return [data.sessionId, data.sessionID, info].find((id) => typeof id === 'string');
}
