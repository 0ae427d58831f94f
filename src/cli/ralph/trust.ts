import { examineTrust, type ProjectTrust, revokeTrust, trustProject } from '../../config/trust/trust.ts';
import { RalphError } from '../../core/error.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import { writeJson } from '../kernel/output.ts';
import { isInsideLoop, requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { trustOptions } from './options.ts';

/** Trusts what came with this folder, shows it, or takes the trust back. */
export async function main(context: Context, { values }: Input<typeof trustOptions>): Promise<void> {
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
}

function trustState({ strangers, isTrusted }: ProjectTrust): 'nothing' | 'trusted' | 'untrusted' {
  if (strangers.length === 0) return 'nothing';
  return isTrusted ? 'trusted' : 'untrusted';
}

/** Says whether what came with a folder is trusted. */
export function sentence({ strangers, isTrusted }: ProjectTrust): string {
  if (strangers.length === 0)
    return 'Nothing that came with this folder has powers: there is nothing to trust.';
  const names = strangers.map(({ file }) => file).join(', ');
  return `You ${isTrusted ? 'trust' : 'do not trust'} what came with this folder: ${names}`;
}

/** Whether `--trust` was given, and whether a person may be asked. */
type TrustOptions = { readonly trust?: boolean | undefined; readonly ask?: boolean };

/** Returns what is known of the project. Asks a person who has not trusted it yet; fails where nobody can be asked. */
export async function requireTrust(
  context: Context,
  { trust: given = false, ask = true }: TrustOptions,
): Promise<ProjectTrust> {
  const trust = await examineTrust(context.cwd, context.env);
  if (trust.isTrusted || given) return { ...trust, isTrusted: true };
  // An agent in a loop can have a terminal, too.
  const isPerson = ask && context.stdin.isTTY && context.stdout.isTTY && !isInsideLoop(context.env);
  if (!isPerson || !(await agrees(context, trust))) throw notTrusted(context, trust);
  trustProject(context.env, trust);
  return { ...trust, isTrusted: true };
}

/** Lists the powers; of a project that was trusted before, what is new (+) and what is gone (-). */
function describePowers({ env }: Pick<Context, 'env'>, trust: ProjectTrust): string {
  const { strangers, added, removed } = trust;
  const all = strangers.flatMap(({ file, powers }) => powers.map((power) => `${file}: ${power}`));
  const isNew = added.length === all.length && removed.length === 0;
  const lines = [
    ...all.map((line) => `${!isNew && added.includes(line) ? '+' : ' '} ${line}\n`),
    ...removed.map((line) => `- ${line}\n`),
  ];
  return createRedactor(env).text(lines.join(''));
}

async function agrees(context: Context, trust: ProjectTrust): Promise<boolean> {
  const intro =
    'These files came with the folder, and you have not trusted them yet. They have these powers:';
  context.stdout.write(`${intro}\n\n${describePowers(context, trust)}\n`);
  const { confirm } = await import('./talk.ts');
  return confirm(context, 'Trust them?');
}

function notTrusted(context: Context, { added, removed }: ProjectTrust): RalphError {
  const [first = ''] = [...added, ...removed];
  const others = added.length + removed.length - 1;
  const power = createRedactor(context.env).text(first);
  const message = `this folder came with powers that you have not trusted: ${power}${others > 0 ? `, and ${others} more` : ''}`;
  return new RalphError('not-trusted', message, { remedy: 'ralph trust', exitCode: 2 });
}
