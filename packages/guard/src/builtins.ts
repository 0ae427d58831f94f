import { readArgs, readLeadingArgs } from './argv.ts';
import type { Call } from './call.ts';
import { checkVariable } from './commands/variables.ts';
import { printf } from './decode.ts';
import { feed, runsSecret } from './feed.ts';
import { PRIVATE, secretOf, UNKNOWN } from './marks.ts';
import { lookUp } from './parameters.ts';
import { namesOnly } from './private.ts';
import { isSecretName } from './secret-names.ts';
import { reference, spend, tracing } from './shell.ts';

/** Builtins that change the shell. Return the output, or null if the program of that name runs instead. */
export const builtins: Readonly<Record<string, (call: Call) => string | null>> = {
  cd: changeFolder,
  pushd: changeFolder,
  popd: (call) => moveTo(call, call.shell.variables.get('OLDPWD')?.items[0] ?? UNKNOWN),
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  read,
  mapfile: readLines,
  readarray: readLines,
  eval: (call) =>
    feed(call, call.words.slice(call.words[0] === '--' ? 1 : 0).join(' '), (text) => call.here(text)),
  source,
  '.': source,
  set({ shell, words }) {
    if (words.some((word) => /^-\w*[xv]|^(xtrace|verbose)$/.test(word))) shell.variables.setText(tracing, '');
    const from = words.indexOf('--');
    if (from !== -1) shell.args = words.slice(from + 1);
    return words.length === 0 ? PRIVATE : '';
  },
  shift({ shell, words }) {
    spend(shell.world, shell.args.length);
    shell.args = shell.args.slice(Number(words[0] ?? 1) || 1);
    return '';
  },
  unset({ shell, words }) {
    for (const name of words) shell.variables.delete(name);
    return '';
  },
  alias({ shell, words }) {
    for (const word of words) {
      const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
      if (name !== undefined && text !== undefined) shell.aliases.set(name, text);
    }
    return '';
  },
  unalias({ shell, words }) {
    for (const name of words) shell.aliases.delete(name);
    return '';
  },
  trap(call) {
    const [first = ''] = call.words.filter((word) => word !== '--');
    if (first.startsWith('-') || call.words.length < 2) return '';
    if (/\$/.test(first) && call.words.some((word) => /^(EXIT|0)$/.test(word)))
      call.shell.world.atExit.push(() => call.script(first));
    return call.script(first);
  },
  hash(call) {
    const args = readArgs(call.words, 'p');
    const path = args.value('p');
    if (path === undefined) return '';
    checkVariable('PATH', path.slice(0, path.lastIndexOf('/')), call);
    for (const name of args.rest) call.shell.aliases.set(name, path);
    return '';
  },
  enable(call) {
    if (readArgs(call.words, 'f').has('f'))
      call.deny('environment', 'loads code into the shell', 'Use the built-ins as they are.');
    return '';
  },
  compgen: ({ shell, words }) =>
    words.some((word) => /^-\w*[ev]/.test(word)) ? namesOnly(PRIVATE, shell.world.context) : UNKNOWN,
  command: inThisShell,
  builtin: inThisShell,
  exec: (call) => call.run(readLeadingArgs(call.words, 'a').rest),
  printf(call) {
    const { shell, words } = call;
    if (words[0] !== '-v') return null;
    shell.variables.setText(words[1] ?? '', printf(words.slice(2)));
    return '';
  },
};

/** `command cd x` still changes the shell itself; a program is left to those who know it. */
function inThisShell(call: Call): string | null {
  const [name = '', ...words] = readLeadingArgs(call.words).rest;
  const builtin =
    call.words[0]?.startsWith('-') || !Object.hasOwn(builtins, name) ? undefined : builtins[name];
  return builtin?.(call.with({ name, words })) ?? null;
}

function changeFolder(call: Call): string {
  const [target] = readArgs(call.words).rest;
  if (target === '-') return moveTo(call, call.shell.variables.get('OLDPWD')?.items[0] ?? UNKNOWN);
  const [start] = (call.env.get('CDPATH') ?? call.shell.variables.get('CDPATH')?.items[0] ?? '').split(':');
  if (start && target !== undefined && !/^(\/|\.{1,2}(\/|$))/.test(target))
    return moveTo(call, `${start}/${target}`);
  return moveTo(call, target ?? call.context.home);
}

function moveTo(call: Call, target: string): string {
  const { shell } = call;
  shell.variables.setText('OLDPWD', shell.cwd);
  shell.cwd = call.path(target);
  return '';
}

function declare(call: Call): string {
  const { shell, name, words } = call;
  if (words.length === 0 || (words.length === 1 && /^-[px]+$/.test(words[0] ?? ''))) return PRIVATE;
  if (words[0] === '-p')
    return words
      .slice(1)
      .map((one) => (isSecretName(one) ? secretOf(one) : UNKNOWN))
      .join('\n');
  const refers = words.some((option) => /^-\w*n/.test(option));
  for (const word of words) {
    const [, variable, text] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(word) ?? [];
    if (variable === undefined || text === undefined) continue;
    if (refers) shell.variables.setText(`${reference}${variable}`, text);
    else if (!shell.variables.get(variable)?.array) shell.variables.setText(variable, text);
    if (name === 'export' || words.some((option) => /^-\w*x/.test(option)))
      checkVariable(variable, text, call);
  }
  return '';
}

function read({ shell, words, stdin, env }: Call): string {
  const args = readArgs(words, 'pdntuNia');
  const source = shell.input.text === null ? { text: stdin } : shell.input;
  const text = source.text ?? UNKNOWN;
  const end = text.indexOf('\n');
  const line = end === -1 ? text : text.slice(0, end);
  if (shell.input.text !== null) shell.input.text = end === -1 ? '' : text.slice(end + 1);
  const names = args.rest.length === 0 ? ['REPLY'] : args.rest;
  const [separators = ''] = env.has('IFS') ? [env.get('IFS')] : lookUp('IFS', shell);
  const fields = /^\s*$/.test(separators)
    ? line.trim().split(/\s+/)
    : line.split(new RegExp(`[${separators.replace(/[\\\]^-]/g, '\\$&')}]`));
  const list = args.value('a');
  if (list !== undefined) {
    shell.variables.set(list, { items: fields, array: true });
    return '';
  }
  names.forEach((name, i) => {
    const value = i === names.length - 1 ? fields.slice(i).join(' ') : (fields[i] ?? '');
    shell.variables.setText(name, value);
  });
  return '';
}

function readLines({ shell, words, stdin }: Call): string {
  const { rest } = readArgs(words, 'dnOsuCc');
  const items = (stdin ?? UNKNOWN).split('\n').filter((line) => line !== '');
  shell.variables.set(rest[0] ?? 'MAPFILE', { items, array: true });
  return '';
}

function source(call: Call): string {
  const [file = ''] = call.words;
  runsSecret(call, file, call.shell.variables.get(tracing) !== undefined);
  const text = file === '/dev/stdin' ? (call.stdin ?? '') : call.content(file);
  return feed(call, text, (script) => call.here(script));
}
