import type { ParameterExpansionPart, Word } from 'unbash';
import { ANY, asGlob, isOpaque, PRIVATE, parentProcess, STAR, secretOf, UNKNOWN, unmarked } from './marks.ts';
import type { Shell } from './model.ts';
import { isSecretName } from './secret-names.ts';
import { reference } from './shell.ts';

/** The values of a variable: what the command set, what a shell always has, or what the environment holds. */
export function lookUp(name: string, shell: Shell): readonly string[] {
  const { variables, args, world } = shell;
  const { context } = world;
  const value = variables.get(name);
  if (value) return value.array ? value.items.slice(0, 1) : value.items;
  if (name === 'HOME') return [context.home];
  const [other] = variables.get(`${reference}${name}`)?.items ?? [];
  if (other !== undefined && other !== name) return lookUp(other, shell);
  if (name === '@' || name === '*') return args;
  if (name === '_') return [world.steps.at(-1)?.words.at(-1) ?? ''];
  if (name === '0') return ['bash'];
  if (/^\d+$/.test(name)) return [args[Number(name) - 1] ?? ''];
  if (/^[#?-]$/.test(name) || /^(RANDOM|SECONDS|LINENO|EPOCH\w+)$/.test(name)) return ['1'];
  if (/^([$!]|BASHPID)$/.test(name)) return ['4242'];
  if (name === 'PPID') return [parentProcess];
  if (name === 'PWD') return [shell.cwd];
  if (name === 'IFS') return [' \t\n'];
  if (isSecretName(name)) return [secretOf(name)];
  const fromEnvironment = context.env[name];
  if (fromEnvironment !== undefined) return [unmarked(fromEnvironment)];
  if (name === 'TMPDIR') return ['/tmp'];
  if (name === 'SHELL' || name === 'BASH') return ['/bin/bash'];
  if (name === 'USER' || name === 'LOGNAME') return [context.home.slice(context.home.lastIndexOf('/') + 1)];
  return [alwaysSet.test(name) ? UNKNOWN : ''];
}

const alwaysSet =
  /^(PATH|U?ID|EUID|HOST\w*|OSTYPE|MACHTYPE|BASH\w+|PS\d|OPTARG|REPLY|OLDPWD|PIPESTATUS|FUNCNAME)$/;

/** The values of `${…}`; `textOf` expands the words in it. */
export function parameter(
  part: ParameterExpansionPart,
  shell: Shell,
  textOf: (word: Word) => string,
): readonly string[] {
  const { parameter: name, prefix, index } = part;
  if (prefix === '#') return ['1'];
  if (prefix === '!') return indirect(part, shell);
  const items = shell.variables.get(name)?.items;
  if (!index) return operated(part, lookUp(name, shell), shell, textOf);
  const picked = isWhole(part) ? (items ?? lookUp(name, shell)) : elementAt(items ?? [], textOf(index));
  return operated(part, picked, shell, textOf);
}

function isWhole({ parameter: name, index }: ParameterExpansionPart): boolean {
  return name === '@' || /^[@*]$/.test(index?.text ?? '');
}

function operated(
  part: ParameterExpansionPart,
  items: readonly string[],
  shell: Shell,
  textOf: (word: Word) => string,
): readonly string[] {
  const { parameter: name, operation } = part;
  if (!operation) return items;
  const text = (word: Word | undefined) => (word ? textOf(word) : '');
  switch (operation.type) {
    case 'Default': {
      const empty = items.every((item) => item === '');
      const operand = text(operation.operand);
      if (operation.operator.includes('+')) return [empty ? '' : operand];
      if (operation.operator.includes('?')) return items;
      if (empty && operation.operator.includes('=')) shell.variables.setText(name, operand);
      return empty ? [operand] : items;
    }
    case 'Remove': {
      const pattern = asGlob(text(operation.operand));
      if (isTooVague(pattern)) return [UNKNOWN];
      return items.map((item) => removePattern(item, pattern, operation.operator));
    }
    case 'Replace': {
      const pattern = asGlob(text(operation.pattern));
      if (isTooVague(pattern)) return [UNKNOWN];
      const anchor = operation.operator === '/#' ? '^' : '';
      const end = operation.operator === '/%' ? '$' : '';
      const by = text(operation.replacement);
      const source = anchor + patternSource(pattern, true) + end;
      const regex = new RegExp(source, operation.operator === '//' ? 'gs' : 's');
      return items.map((item) => (isTooLong(item, pattern) ? UNKNOWN : item.replace(regex, () => by)));
    }
    case 'Slice': {
      const offset = Number(text(operation.offset));
      const length = operation.length ? Number(text(operation.length)) : undefined;
      if (!Number.isInteger(offset) || (length !== undefined && !Number.isInteger(length))) return [UNKNOWN];
      if (isWhole(part)) return items.slice(Math.max(0, offset - (name === '@' ? 1 : 0)));
      return items.map((item) => slice(item, offset, length));
    }
    case 'CaseModification': {
      const up = operation.operator.startsWith('^');
      const all = operation.operator.length === 2;
      const change = (item: string) => (up ? item.toUpperCase() : item.toLowerCase());
      return items.map((item) => (all ? change(item) : change(item.slice(0, 1)) + item.slice(1)));
    }
    default:
      return operation.type === 'Transform' && operation.operand.text !== 'P' ? items : [UNKNOWN];
  }
}

function indirect(
  { parameter: name, index, operation }: ParameterExpansionPart,
  shell: Shell,
): readonly string[] {
  if (operation?.type === 'Names')
    return Object.keys(shell.world.context.env).filter((variable) => variable.startsWith(name));
  if (index) return [UNKNOWN];
  return lookUp(name, shell).flatMap((target) => {
    if (isOpaque(target)) return [target.includes(PRIVATE) ? PRIVATE : UNKNOWN];
    return lookUp(target, shell);
  });
}

function elementAt(items: readonly string[], index: string): readonly string[] {
  const item = items.at(Number(index));
  return /^-?\d+$/.test(index) ? [item ?? ''] : items;
}

function slice(item: string, offset: number, length: number | undefined): string {
  if (isOpaque(item)) return item;
  const rest = item.slice(offset);
  return length === undefined ? rest : rest.slice(0, length);
}

/** A star makes the search quadratic. */
function isTooLong(item: string, pattern: string): boolean {
  return item.length > 1000 && pattern.includes(STAR);
}

/** Many stars take a backtracking matcher too long. */
function isTooVague(pattern: string): boolean {
  return pattern.split(STAR).length > 3;
}

function patternSource(pattern: string, greedy: boolean): string {
  return pattern
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\uE003+/g, greedy ? '.*' : '.*?')
    .replaceAll(ANY, '.');
}

function removePattern(item: string, pattern: string, operator: string): string {
  if (isTooLong(item, pattern)) return UNKNOWN;
  const source = patternSource(pattern, operator.length === 2);
  if (operator.startsWith('#')) return item.replace(new RegExp(`^${source}`, 's'), '');
  if (operator === '%%') return item.replace(new RegExp(`${source}$`, 's'), '');
  // The shortest end: the last place where the pattern fits.
  const whole = new RegExp(`^${source}$`, 's');
  for (let at = item.length; at >= 0; at--) {
    if (whole.test(item.slice(at))) return item.slice(0, at);
  }
  return item;
}

/** `~` counts only where it is written without quotes; `value` is the same text without backslashes. */
export function withHome(text: string, value: string, shell: Shell): string {
  if (!text.startsWith('~')) return value;
  const home = shell.variables.get('HOME')?.items[0] ?? shell.world.context.home;
  const [, user = ''] = /^~([\w.+-]*)(?=\/|$)/.exec(text) ?? [];
  if (user === '' || home.endsWith(`/${user}`)) return home + value.slice(1 + user.length);
  if (user === '+') return shell.cwd + value.slice(2);
  if (user === 'root') return `/root${value.slice(5)}`;
  return /^[\w.-]+$/.test(user) ? `/home/${value.slice(1)}` : value;
}
