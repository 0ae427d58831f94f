import { examineTrust, type ProjectTrust, revokeTrust, trustProject } from '../../config/trust/trust.ts';
import { writeJson } from '../kernel/output.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { trustOptions } from './options.ts';
import { describePowers } from './require-trust.ts';

/** Trusts what came with this folder, shows it, or takes the trust back. */
export async function main(context: Context, { values }: Input<typeof trustOptions>): Promise<number> {
  const { env } = context;
  const isQuestion = values.show && !values.revoke;
  if (!isQuestion) requirePerson(env);
  const before = await examineTrust(context.cwd, env);
  if (values.revoke) revokeTrust(env, before);
  else if (!isQuestion && before.strangers.length > 0) trustProject(env, before);
  const trust = isQuestion ? before : await examineTrust(context.cwd, env);
  if (values.json) return writeJson(context, { v: 1, state: trustState(trust), ...trust });
  context.stdout.write(describePowers(context, values.revoke ? trust : before));
  context.stdout.write(`${sentence(trust)}\n`);
  return 0;
}

/** State in one word: nothing to trust, trusted or not. */
function trustState({ strangers, isTrusted }: ProjectTrust): 'nothing' | 'trusted' | 'untrusted' {
  if (strangers.length === 0) return 'nothing';
  return isTrusted ? 'trusted' : 'untrusted';
}

/** Says whether what came with a folder is trusted. */
export function sentence(trust: ProjectTrust): string {
  const names = trust.strangers.map(({ file }) => file).join(', ');
  switch (trustState(trust)) {
    case 'nothing':
      return 'Nothing that came with this folder has powers: there is nothing to trust.';
    case 'trusted':
      return `You trust what came with this folder: ${names}`;
    case 'untrusted':
      return `You do not trust what came with this folder: ${names}`;
  }
}
