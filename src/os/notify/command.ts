import type { Notice } from '../../core/notice.ts';
import { runCommand } from '../process/process.ts';
import type { NotifyWorld } from './delivery.ts';

const timeoutMs = 10_000;

/** Runs the user's program with the notice as JSON on standard input, and its main parts in the environment. */
export async function runNoticeCommand(
  notice: Notice,
  command: readonly string[],
  { cwd, env }: Pick<NotifyWorld, 'cwd' | 'env'>,
): Promise<{ ok: boolean; detail: string }> {
  const [program = '', ...words] = command;
  const end = await runCommand([program, ...words], {
    cwd,
    env: {
      ...env,
      RALPH_NOTICE_KIND: notice.kind,
      RALPH_NOTICE_TITLE: notice.title,
      RALPH_NOTICE_BODY: notice.body,
      RALPH_NOTICE_RUN: notice.run,
    },
    stdin: `${JSON.stringify({ v: 1, ...notice })}\n`,
    timeoutMs,
    maxBytes: 4096,
  });
  if (end.error) return { ok: false, detail: end.error.message };
  if (end.timedOut) return { ok: false, detail: `stopped after ${timeoutMs / 1000} s` };
  return { ok: end.exitCode === 0, detail: `exit code ${end.exitCode ?? end.signal}` };
}
