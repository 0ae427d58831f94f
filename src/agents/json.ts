import { isObject } from '../core/json.ts';

/** Object from foreign JSON; its fields may be anything. */
export type JsonRecord = { readonly [key: string]: unknown };

/** Parses a line as a JSON object; undefined if it is none. Never throws. */
export function parseRecord(line: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the value if it is an object, otherwise an empty one, so that accesses chain. */
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

/** Returns the value if it is a list, otherwise an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a positive number that is small enough to add up, otherwise 0. */
export function count(value: unknown): number {
  const number = num(value) ?? 0;
  return number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : 0;
}

/** Converts epoch seconds to milliseconds. */
export function secondsToMs(value: unknown): number | undefined {
  const milliseconds = count(value) * 1000;
  return milliseconds > 0 ? milliseconds : undefined;
}
