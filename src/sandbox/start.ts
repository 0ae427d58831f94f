import type { Argv, Environment } from '../os/process/process.ts';
import type { Sandbox, Wrapped } from './sandbox.ts';

/** What `startProcess` needs so that a command runs inside. */
export type Inside = Pick<Wrapped, 'argv' | 'env' | 'failure'> & {
  readonly stdin: string | null;
  /** Standard error without the sandbox's own line. */
  withoutMarker(text: string): string;
};

/** What the kernel takes as one word at most, with some room. */
const maxWord = 100_000;

export function inSandbox(
  sandbox: Sandbox,
  argv: Argv,
  { env, cwd, stdin }: { readonly env: Environment; readonly cwd: string; readonly stdin: string | null },
): Inside {
  const { promptAsWord, marker, ...wrapped } = sandbox.wrap(argv, env, cwd);
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
