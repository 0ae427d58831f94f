import { rare } from './commands/all.ts';
import { policySchema } from './load-context.ts';

/** Loads all that a judgement may need, for those who judge many commands in a row. */
export async function loadAll(): Promise<void> {
  await Promise.all([rare, policySchema].map(({ load }) => load()));
}
