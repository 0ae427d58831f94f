import { examineTrust, type ProjectTrust, trustProject } from '../../config/trust/trust.ts';
import { RalphError } from '../../core/error.ts';
import { createRedactor } from '../../os/redact/redact.ts';
import type { Context } from '../kernel/spec.ts';

/** Whether `--trust` was given, and whether a person may be asked. */
type TrustOptions = { readonly trust?: boolean | undefined; readonly ask?: boolean };

/** Returns what is known of the project. Asks a person who has not trusted it yet; fails where nobody can be asked. */
export async function requireTrust(
  context: Context,
  { trust: given = false, ask = true }: TrustOptions,
): Promise<ProjectTrust> {
  const trust = await examineTrust(context.cwd, context.env);
  if (trust.isTrusted || given) return { ...trust, isTrusted: true };
  const isPerson = ask && context.stdin.isTTY && context.stdout.isTTY;
  if (!isPerson || !(await agrees(context, trust))) throw notTrusted(context, trust);
  trustProject(context.env, trust);
  return { ...trust, isTrusted: true };
}

/** Lists the powers; of a project that was trusted before, what is new (+) and what is gone (-). */
export function describePowers({ env }: Pick<Context, 'env'>, trust: ProjectTrust): string {
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
  const { Interrupted, terminalTalk } = await import('./talk.ts');
  const talk = terminalTalk(context);
  talk.say(`These files came with the folder, and you have not trusted them yet. They have these powers:\n`);
  talk.say(describePowers(context, trust));
  try {
    return /^y(es)?$/i.test(await talk.ask({ text: 'Trust them? (y/N)', preset: 'N' }));
  } catch (error) {
    if (error instanceof Interrupted) return false;
    throw error;
  } finally {
    talk.close();
  }
}

function notTrusted(context: Context, { added, removed }: ProjectTrust): RalphError {
  const [first = ''] = [...added, ...removed];
  const others = added.length + removed.length - 1;
  const power = createRedactor(context.env).text(first);
  const message = `this folder came with powers that you have not trusted: ${power}${others > 0 ? `, and ${others} more` : ''}`;
  return new RalphError('not-trusted', message, { remedy: 'ralph trust', exitCode: 2 });
}
