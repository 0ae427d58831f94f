import { RalphError } from '../core/error.ts';

/** The error for a record that only a newer version may change. */
export function newerRecord(what: string): RalphError {
  const message = `the record of ${what} was written by a newer version of ralphkit`;
  return new RalphError('newer-record', message, { remedy: 'update ralphkit on this machine', exitCode: 1 });
}
