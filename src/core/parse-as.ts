import * as v from 'valibot';

/** Returns what a JSON text says by its schema; null where it is no such JSON. */
export function parseAs<S extends v.GenericSchema>(schema: S, text: string | null): v.InferOutput<S> | null {
  if (text === null) return null;
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(text));
    return success ? output : null;
  } catch {
    return null;
  }
}
