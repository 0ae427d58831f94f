import { StringDecoder } from 'node:string_decoder';
import { noSandbox, type Sandbox } from '../safety/sandbox/sandbox.ts';
import { inSandbox } from '../safety/sandbox/start.ts';
import { type Environment, type ProcessEnd, startProcess } from '../system/process.ts';
import type { RunSpec } from './run-spec.ts';

export type SideResult = { readonly end: ProcessEnd; readonly stdout: string; readonly output: string };

const maxChars = 1_000_000;

/** A process of the run beside its turns: it carries the run's marks and goes when the run is stopped. */
export async function runSideProcess(
  spec: RunSpec,
  argv: readonly [string, ...string[]],
  options: {
    readonly env?: Environment;
    readonly cwd?: string;
    readonly stdin?: string | null;
    readonly sandbox?: Sandbox;
    readonly timeoutMs: number;
  },
): Promise<SideResult> {
  const [out, err] = [new StringDecoder('utf8'), new StringDecoder('utf8')];
  let stdout = '';
  let output = '';
  const keep = (text: string): void => {
    if (output.length < maxChars) output += text;
  };
  const { env = spec.env, cwd = spec.cwd, stdin = null, sandbox = noSandbox } = options;
  const { done } = startProcess({
    ...inSandbox(sandbox, argv, { env, cwd, stdin }),
    cwd,
    runId: spec.run,
    idleMs: null,
    hardMs: options.timeoutMs,
    clock: spec.clock,
    stop: spec.stop,
    onStdout(chunk) {
      const text = out.write(chunk);
      if (stdout.length < maxChars) stdout += text;
      keep(text);
    },
    onStderr: (chunk) => keep(err.write(chunk)),
  });
  const end = await done;
  await sandbox.settle();
  return { end, stdout, output };
}
