import * as v from 'valibot';

/** Returns what a text says by its schema; null where it is no such JSON. Anybody who can reach the store can write it. */
export function parseAs<S extends v.GenericSchema>(schema: S, text: string | null): v.InferOutput<S> | null {
  const { success, output } = v.safeParse(schema, text === null ? null : parsed(text));
  return success ? output : null;
}

/** What a text says; null where it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
