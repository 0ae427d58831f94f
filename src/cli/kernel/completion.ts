import { RalphError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { noOptions } from '../ralph/options.ts';
import { bashCompletion } from './completion-bash.ts';
import { fishCompletion } from './completion-fish.ts';
import { shells, type Table, tableOf } from './completion-table.ts';
import { zshCompletion } from './completion-zsh.ts';
import type { Context, Input, Program } from './spec.ts';

const scripts: Readonly<Record<(typeof shells)[number], (table: Table) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** The command `completion` of a program; the program's table cannot be imported here, because it imports this. */
export function completionOf(program: Program) {
  return {
    main({ stdout }: Context, { args }: Input<typeof noOptions>): number {
      const wanted = args[0] ?? '';
      const shell = shells.find((known) => known === wanted);
      if (shell === undefined) throw unknownShell(wanted, program);
      stdout.write(scripts[shell](tableOf(program)));
      return 0;
    },
  };
}

function unknownShell(wanted: string, { name }: Program): RalphError {
  const near = nearest(wanted, shells);
  const hint = near === null ? `the shells are ${shells.join(', ')}` : `did you mean ${near}?`;
  return new RalphError('usage', `there is no completion for the shell "${wanted}"; ${hint}`, {
    remedy: `${name} completion ${near ?? 'bash'}`,
    exitCode: 2,
  });
}
