import { isObject } from '../core/json.ts';

/** An object out of somebody else's JSON: every field has to be looked at before it is used. */
export type JsonRecord = { readonly [key: string]: unknown };

/** The object on a line, or undefined where the line is no JSON object. Never throws. */
export function parseRecord(line: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The value as an object; an empty one where it is anything else, so that accesses chain. */
export function asRecord(value: unknown): JsonRecord {
  return isObject(value) ? value : {};
}

export function str(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function num(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function int(value: unknown): number | undefined {
  return Number.isInteger(value) ? num(value) : undefined;
}

/** The value as a list; an empty one where it is anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A count: a number that is not negative and small enough to add up, otherwise 0. */
export function count(value: unknown): number {
  const number = num(value) ?? 0;
  return number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : 0;
}

/** A point in time told in epoch seconds, in milliseconds. */
export function secondsToMs(value: unknown): number | undefined {
  const milliseconds = count(value) * 1000;
  return milliseconds > 0 ? milliseconds : undefined;
}
