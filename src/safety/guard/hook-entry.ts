import { isObject } from '../../core/shape.ts';
import { readStdin, writeStdio } from '../../system/stdio.ts';
import { isEveryday } from './everyday.ts';
import { guardIsOn } from './switch.ts';

/** The hook as a program: the event on stdin, one JSON document or nothing on stdout. */
async function main(): Promise<void> {
  if (!guardIsOn(process.env)) return;
  const input = parse(readStdin());
  if (isObject(input) && isObject(input.tool_input)) {
    const { command } = input.tool_input;
    if (typeof command === 'string' && isEveryday(command)) return;
  }
  // Loaded only now: most of the time of a hook goes into loading code.
  const { guardHook } = await import('./hook.ts');
  const answer = guardHook(input, process.env);
  if (answer) writeStdio(1, `${JSON.stringify(answer)}\n`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

void main();
