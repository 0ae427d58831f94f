import { appendFileSync } from 'node:fs';

/** Appends text to a file, which is made if there is none. */
export function appendText(path: string, text: string): void {
  appendFileSync(path, text, { mode: 0o600 });
}
