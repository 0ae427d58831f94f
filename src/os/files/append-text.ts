import { appendFileSync } from 'node:fs';
import { writing } from './file-error.ts';

/** Appends text to a file, which is made if there is none. */
export function appendText(path: string, text: string): void {
  writing(path, () => appendFileSync(path, text, { mode: 0o600 }));
}
