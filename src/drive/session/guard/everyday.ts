import { isObject } from '../../../core/json.ts';

/** The tools of hosts that run a command. */
const shellTools = /^(bash|shell|shell_command|run_shell_command|exec_command|monitor)$/i;

/** True if a tool call runs an everyday command and nothing else. */
export function isEverydayCall(tool: unknown, input: unknown): boolean {
  if (!shellTools.test(String(tool)) || !isObject(input)) return false;
  const { command, cmd } = input;
  return typeof command === 'string' && cmd === undefined && isEveryday(command);
}

/**
 * True for common commands without an effect that the guard could judge: plain words joined by `&&`, with their output
 * cut short by a filter. Saves loading the parser, which costs more than the rest of the hook. A test compares it with
 * the guard.
 */
export function isEveryday(command: string): boolean {
  return command.split(' && ').every((part) => {
    const [first = '', ...filters] = part.split(' | ');
    return isPlain(first.replace(/ 2>&1$/, '')) && filters.every((filter) => shortens.test(filter));
  });
}

function isPlain(command: string): boolean {
  if (!/^[A-Za-z][\w ./-]*$/.test(command)) return false;
  const [program = '', ...words] = command.trimEnd().split(/ +/);
  const [first = ''] = words;
  if (looking.has(program)) return true;
  return Boolean(subcommands[program]?.test(first)) && !words.some((word) => special.test(word));
}

/** Filters that read nothing but standard input. */
const shortens = /^(head|tail)( -n \d{1,6}| -\d{1,6})?$|^wc -[lwc]$|^sort$|^uniq$/;
const looking = new Set(['ls', 'pwd', 'whoami']);
/** Words that lead out of the project, or give one of these programs another effect. */
const special = /^\/|\.\.|^-[cCx]|^-[^-]*f|^--(n|f|o)/;

const any = /^/;
const subcommands: Readonly<Record<string, RegExp>> = {
  git: /^(status|diff|log|show|add|blame)$/,
  npm: /^(test|t|run|ci|ls)$/,
  pnpm: /^(test|run|ls)$/,
  yarn: /^(test|run)$/,
  cargo: /^(build|check|test|clippy|fmt)$/,
  go: /^(build|test|vet|fmt)$/,
  tsc: any,
  vitest: any,
  eslint: any,
  jest: any,
  pytest: any,
  prettier: any,
  biome: any,
};
