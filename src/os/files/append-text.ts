import { appendFileSync } from 'node:fs';

/** Adds text at the end of a file, which is made where there is none. */
export function appendText(path: string, text: string): void {
  appendFileSync(path, text, { mode: 0o600 });
}
