import { parseRecord } from '../../../agents/json.ts';
import { messageOf } from '../../../core/error.ts';
import { readStdin, writeStdio } from '../../../os/process/stdio.ts';
import { isEverydayCall } from '../../session/guard/everyday.ts';

/** Runs the guard hook: the event on stdin, one JSON document or nothing on stdout. */
async function main(): Promise<void> {
  const text = readStdin();
  const input = parseRecord(text) ?? { session_id: sessionIn(text) };
  // Skips the rules for everyday commands: loading them takes as long as starting Node.
  if (isEverydayCall(input.tool_name, input.tool_input)) return;
  const { guardHook, placeOf } = await import('../../session/guard/hook.ts');
  const { output, denial } = await guardHook(input, process.env);
  const isTold = output === null || writeStdio(1, `${JSON.stringify(output)}\n`);
  if (denial === null) return;
  // Refuses by the exit code if nobody reads the output.
  if (!isTold) process.exitCode = 2;
  const { keepDenial } = await import('../../session/guard/denials.ts');
  try {
    const { sessionId } = placeOf(input, process.env);
    keepDenial(denial, sessionId, process.env, Date.now);
  } catch (error) {
    writeStdio(2, `ralph guard: the record could not be written: ${messageOf(error)}\n`);
  }
}

/** Returns the session in an event that is not JSON: whether the guard is on may depend on it. */
function sessionIn(text: string): string | undefined {
  return /"session_id":\s*"([^"\\]+)"/.exec(text)?.[1];
}

main().catch((error: unknown) => {
  // Fails closed: every host takes this exit code for a refusal.
  process.exitCode = 2;
  writeStdio(2, `ralph guard: ${messageOf(error)}\n`);
});
