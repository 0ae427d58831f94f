import { outcomes, startFailures } from '../core/outcome.ts';

/** `ralph help exit-codes`, from the tables in core. */
export function exitCodes(): string {
  const rows = [...Object.entries(outcomes), ...Object.entries(startFailures)]
    .map(([name, { exitCode, meaning }]) => ({ name: /^[A-Z_]+$/.test(name) ? name : '', exitCode, meaning }))
    .sort((a, b) => a.exitCode - b.exitCode);
  const lines = rows.map(
    ({ name, exitCode, meaning }) => `  ${String(exitCode).padStart(3)}  ${name.padEnd(22)}  ${meaning}`,
  );
  return ['Exit codes of ralph run', '', ...lines, ''].join('\n');
}
