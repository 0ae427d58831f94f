import { parseRecord } from '../../../agents/json.ts';
import { messageOf } from '../../../core/error.ts';
import { readStdin, writeStdio } from '../../../os/process/stdio.ts';
import { isEverydayCall } from '../../session/guard/everyday.ts';

/** The hook as a program: the event on stdin, one JSON document or nothing on stdout. */
async function main(): Promise<void> {
  const text = readStdin();
  const input = parseRecord(text) ?? { session_id: sessionIn(text) };
  // Everyday commands are answered without the rules, which take longer to load than Node itself.
  if (isEverydayCall(input.tool_name, input.tool_input)) return;
  const { guardHook, placeOf } = await import('../../session/guard/hook.ts');
  const { output, denial } = await guardHook(input, process.env);
  const isTold = output === null || writeStdio(1, `${JSON.stringify(output)}\n`);
  if (denial === null) return;
  // A refusal that nobody has read is one all the same.
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
  // Every host takes this code for a refusal: a guard that is broken must not open the door.
  process.exitCode = 2;
  writeStdio(2, `ralph guard: ${messageOf(error)}\n`);
});
