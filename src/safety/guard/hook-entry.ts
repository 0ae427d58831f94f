import { messageOf } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { readStdin, writeStdio } from '../../system/stdio.ts';
import { isEveryday } from './everyday.ts';
import { shellTools } from './shell-tools.ts';

/** The hook as a program: the event on stdin, one JSON document or nothing on stdout. */
async function main(): Promise<void> {
  const input = parse(readStdin());
  if (isObject(input) && isObject(input.tool_input) && shellTools.test(String(input.tool_name))) {
    const { command, cmd } = input.tool_input;
    if (typeof command === 'string' && cmd === undefined && isEveryday(command)) return;
  }
  // Everyday commands are answered without the rules, which take longer to load than Node itself.
  const { guardHook, placeOf } = await import('./hook.ts');
  const { output, denial } = guardHook(input, process.env);
  const isTold = output === null || writeStdio(1, `${JSON.stringify(output)}\n`);
  if (denial === null) return;
  // A refusal that nobody has read is one all the same.
  if (!isTold) process.exitCode = 2;
  const { keepDenial } = await import('./denials.ts');
  try {
    const { sessionId } = placeOf(isObject(input) ? input : {}, process.env);
    keepDenial(denial, sessionId, process.env, Date.now);
  } catch (error) {
    writeStdio(2, `ralph guard: the record could not be written: ${messageOf(error)}\n`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whether the guard has a say may depend on the session.
    const [, id] = /"session_id":\s*"([^"\\]+)"/.exec(text) ?? [];
    return id === undefined ? null : { session_id: id };
  }
}

main().catch((error: unknown) => {
  // Every host takes this code for a refusal: a guard that is broken must not open the door.
  process.exitCode = 2;
  writeStdio(2, `ralph guard: ${messageOf(error)}\n`);
});
