import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const prefix = 'ralph-test-';

/**
 * One temp folder for the whole run, inherited by the test processes, so that a test that crashed leaves nothing. Each
 * project of the run comes here; the first one makes it.
 */
export function setup(): () => void {
  const temp = realpathSync(tmpdir());
  if (basename(temp).startsWith(prefix)) return () => {};
  const folder = mkdtempSync(join(temp, prefix));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
