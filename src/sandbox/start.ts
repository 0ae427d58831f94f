import type { Argv, Environment } from '../os/process/process.ts';
import type { Sandbox, Wrapped } from './sandbox.ts';

/** Arguments of `startProcess` for a command that runs inside. */
export type Inside = Pick<Wrapped, 'argv' | 'env' | 'failure'> & {
  readonly stdin: string | null;
  /** Removes the sandbox's own line from standard error. */
  withoutMarker(text: string): string;
};

type InnerStart = {
  readonly env: Environment;
  readonly alone?: Environment;
  readonly cwd: string;
  readonly stdin: string | null;
};

/** Longest argument that the kernel takes, with some room. */
const maxWord = 100_000;

export function inSandbox(sandbox: Sandbox, argv: Argv, { env, alone, cwd, stdin }: InnerStart): Inside {
  const { promptAsWord, marker, ...wrapped } = sandbox.wrap(argv, env, cwd, alone);
  const asWord = promptAsWord && stdin !== null && Buffer.byteLength(stdin) < maxWord;
  return {
    ...wrapped,
    argv: asWord ? [...wrapped.argv, '--', stdin] : wrapped.argv,
    stdin: asWord ? null : stdin,
    withoutMarker: (text) =>
      marker === undefined || !text.includes(marker)
        ? text
        : text.replace(new RegExp(`^${marker} \\d+\\n?`, 'm'), ''),
  };
}
