import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One temp folder for the whole run, inherited by the test processes, so that a test that crashed leaves nothing. */
export function setup(): () => void {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-test-'));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
