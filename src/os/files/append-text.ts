import { appendFileSync } from 'node:fs';
import { writeFailure } from './file-error.ts';

/** Appends text to a file, which is made if there is none. */
export function appendText(path: string, text: string): void {
  try {
    appendFileSync(path, text, { mode: 0o600 });
  } catch (error) {
    throw writeFailure(path, error);
  }
}
