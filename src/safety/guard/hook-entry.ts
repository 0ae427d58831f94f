import { readStdin, writeStdio } from '../../system/stdio.ts';
import { guardHook, guardIsOn } from './hook.ts';

/** The hook as a program: the event on stdin, one JSON document or nothing on stdout. */
function main(): void {
  if (!guardIsOn(process.env)) return;
  const answer = guardHook(parse(readStdin()), process.env);
  if (answer) writeStdio(1, `${JSON.stringify(answer)}\n`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

main();
