/** What a text says; null where it is no JSON. Anybody who can reach the store can have written it. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
