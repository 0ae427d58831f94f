import type { ParameterExpansionPart, Word, WordPart } from 'unbash';
import { isSecretName } from '../secrets.ts';
import { expandBraces } from './braces.ts';
import { withHome } from './home.ts';
import { ANY, asGlob, isOpaque, PRIVATE, parentProcess, STAR, secretOf, UNKNOWN, unmarked } from './marks.ts';
import type { Capture, Shell } from './model.ts';
import { parseShell } from './parse.ts';
import { reference, spend, stepCost, TooLong, wordCost } from './shell.ts';

type Mode = { readonly split: boolean; readonly quoted: boolean };

/** The words that a shell makes of a word in which it has something to expand. */
export function expandFields(word: Word, shell: Shell, capture: Capture, split: boolean): string[] {
  const quick = word.text.startsWith('~') ? null : quickText(word.parts ?? [], shell, false);
  if (quick !== null) {
    spend(shell.world, quick.length);
    return [quick];
  }
  if (!split) return fieldsOf(word, shell, capture, false);
  return bracedWords(word, shell).flatMap((one) => fieldsOf(one, shell, capture, true));
}

/** Text and variables of one value each make one word, as most words do; null for all others. */
function quickText(parts: readonly WordPart[], shell: Shell, quoted: boolean): string | null {
  let text = '';
  for (const part of parts) {
    const more = quickPart(part, shell, quoted);
    if (more === null) return null;
    text += more;
  }
  return text;
}

function quickPart(part: WordPart, shell: Shell, quoted: boolean): string | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return part.value;
    case 'DoubleQuoted':
      return quickText(part.parts, shell, true);
    case 'SimpleExpansion': {
      if (part.text === '$@' || part.text === '$*') return null;
      const [value = '', another] = lookUp(part.text.slice(1), shell);
      const splits = !quoted && (!oneWord.test(value) || shell.variables.get('IFS') !== undefined);
      return another !== undefined || splits ? null : value;
    }
    default:
      return null;
  }
}

const oneWord = /^[^ \t\n*?[]+$/;

export function expandParts(parts: readonly WordPart[], shell: Shell, capture: Capture): string {
  const fields = new Fields(' \t\n');
  for (const part of parts) addPart(part, fields, shell, capture, { split: false, quoted: true });
  return fields.done().join(' ');
}

function bracedWords(word: Word, shell: Shell): Word[] {
  if (!word.parts?.some(({ type }) => type === 'BraceExpansion')) return [word];
  const { world } = shell;
  const sources = expandBraces(word.text, world.work / stepCost);
  if (!sources) throw new TooLong();
  spend(world, sources.length * stepCost);
  if (sources.every((source) => /^[\w./:,@%+-]+$/.test(source)))
    return sources.map((text) => ({ type: 'Word', text, value: text, pos: 0, end: text.length }));
  const command = parseShell(`_ ${sources.join(' ')}`).commands[0]?.command;
  return command?.type === 'Command' ? command.args.filter((arg) => arg.type === 'Word') : [];
}

function textOf(word: Word, shell: Shell, capture: Capture): string {
  return fieldsOf(word, shell, capture, false).join(' ');
}

function fieldsOf(word: Word, shell: Shell, capture: Capture, split: boolean): string[] {
  if (!word.parts) return [withHome(word.text, word.value, shell)];
  const ifs = shell.variables.get('IFS')?.items[0] ?? ' \t\n';
  const fields = new Fields(isOpaque(ifs) ? ' \t\n' : ifs);
  word.parts.forEach((part, index) => {
    if (index === 0 && part.type === 'Literal') fields.add(withHome(part.text, part.value, shell), true);
    else addPart(part, fields, shell, capture, { split, quoted: false });
  });
  const words = fields.done();
  for (const { length } of words) spend(shell.world, length + wordCost);
  return words;
}

function addPart(part: WordPart, fields: Fields, shell: Shell, capture: Capture, mode: Mode): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      fields.add(part.value, true);
      return;
    case 'Glob':
      fields.add(part.kind === 'star' ? STAR : ANY, true);
      return;
    case 'ExtendedGlob':
    case 'BraceExpansion':
      fields.add(part.type === 'ExtendedGlob' ? STAR : part.text, true);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      fields.add('', true);
      for (const inner of part.parts) addPart(inner, fields, shell, capture, { split: false, quoted: true });
      return;
    case 'SimpleExpansion':
      addValues(joinedBy(part.text.slice(1), lookUp(part.text.slice(1), shell), shell, mode), fields, mode);
      return;
    case 'ParameterExpansion':
      addValues(
        joinedBy(part.index?.text ?? part.parameter, parameter(part, shell, capture), shell, mode),
        fields,
        mode,
      );
      return;
    case 'CommandExpansion':
      addValues([withoutEnd(capture(part.script, shell))], fields, mode);
      return;
    case 'ProcessSubstitution':
      // What the file holds matters to a program that runs it; the name that a shell gives it does not.
      fields.add(processFile(capture(part.script, shell), shell), true);
      return;
    case 'ArithmeticExpansion': {
      const scripts = part.text.match(/\$\([^(][^)]*\)|`[^`]*`/g) ?? [];
      for (const text of scripts)
        capture(parseShell(text.startsWith('$(') ? text.slice(2, -1) : text.slice(1, -1)), shell);
      fields.add(/^\$\(\(\s*(\d+)\s*\)\)$/.exec(part.text)?.[1] ?? UNKNOWN, true);
      return;
    }
  }
}

/** `"$*"` is one word, joined by what IFS begins with. */
function joinedBy(
  name: string,
  values: readonly string[],
  shell: Shell,
  { quoted }: Mode,
): readonly string[] {
  if (name !== '*' || !quoted || values.length < 2) return values;
  const [ifs = ''] = lookUp('IFS', shell);
  return [values.join(ifs.slice(0, 1))];
}

/** Without the new lines at its end. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end--;
  return text.slice(0, end);
}

function processFile(content: string, shell: Shell): string {
  const path = `/dev/fd/${63 + shell.world.files.size}`;
  shell.world.files.set(path, content);
  return path;
}

function addValues(values: readonly string[], fields: Fields, { split, quoted }: Mode): void {
  if (quoted) fields.addEach(values);
  else if (!split) fields.add(values.join(' '), true);
  else
    values.forEach((value, index) => {
      if (index > 0) fields.break();
      fields.add(asGlob(value), false);
    });
}

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
  const given = context.env[name];
  if (given !== undefined) return [unmarked(given)];
  if (name === 'TMPDIR') return ['/tmp'];
  if (name === 'SHELL' || name === 'BASH') return ['/bin/bash'];
  if (name === 'USER' || name === 'LOGNAME') return [context.home.slice(context.home.lastIndexOf('/') + 1)];
  return [alwaysSet.test(name) ? UNKNOWN : ''];
}

const alwaysSet =
  /^(PATH|U?ID|EUID|HOST\w*|OSTYPE|MACHTYPE|BASH\w+|PS\d|OPTARG|REPLY|OLDPWD|PIPESTATUS|FUNCNAME)$/;

function parameter(part: ParameterExpansionPart, shell: Shell, capture: Capture): readonly string[] {
  const { parameter: name, operation, prefix, index } = part;
  const value = shell.variables.get(name);
  const whole = index && /^[@*]$/.test(index.text);
  if (prefix === '#') return ['1'];
  if (prefix === '!') return indirect(part, shell);
  let items = index
    ? whole
      ? (value?.items ?? lookUp(name, shell))
      : elementAt(value?.items ?? [], textOf(index, shell, capture))
    : lookUp(name, shell);
  if (!operation) return items;
  const text = (word: Word | undefined) => (word ? textOf(word, shell, capture) : '');
  switch (operation.type) {
    case 'Default': {
      const empty = items.every((item) => item === '');
      const operand = text(operation.operand);
      if (operation.operator.includes('+')) return [empty ? '' : operand];
      if (operation.operator.includes('?')) return items;
      if (empty && operation.operator.includes('='))
        shell.variables.set(name, { items: [operand], array: false });
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
      const source = patternSource(pattern, true);
      const anchor = operation.operator === '/#' ? '^' : '';
      const end = operation.operator === '/%' ? '$' : '';
      const by = text(operation.replacement);
      const regex = new RegExp(anchor + source + end, operation.operator === '//' ? 'gs' : 's');
      return items.map((item) => item.replace(regex, () => by));
    }
    case 'Slice': {
      const offset = Number(text(operation.offset));
      const length = operation.length ? Number(text(operation.length)) : undefined;
      if (!Number.isInteger(offset) || (length !== undefined && !Number.isInteger(length))) return [UNKNOWN];
      if (name === '@' || whole) items = items.slice(Math.max(0, offset - (name === '@' ? 1 : 0)));
      else items = items.map((item) => slice(item, offset, length));
      return items;
    }
    case 'CaseModification': {
      const up = operation.operator.startsWith('^');
      const all = operation.operator.length === 2;
      const change = (item: string) => (up ? item.toUpperCase() : item.toLowerCase());
      return items.map((item) => (all ? change(item) : change(item.slice(0, 1)) + item.slice(1)));
    }
    case 'Transform':
      return operation.operand.text === 'P' ? [UNKNOWN] : items;
    default:
      return [UNKNOWN];
  }
}

function indirect(
  { parameter: name, index, operation }: ParameterExpansionPart,
  shell: Shell,
): readonly string[] {
  if (operation?.type === 'Names')
    return Object.keys(shell.world.context.env).filter((known) => known.startsWith(name));
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
  if (item.length > 1000 && pattern.includes(STAR)) return UNKNOWN;
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

const whitespace = /[ \t\n]+/;

/** Collects the words that grow out of one. */
class Fields {
  readonly #ifs: RegExp;
  readonly #fields: string[] = [];
  #current: string | null = null;

  constructor(ifs: string) {
    if (ifs === ' \t\n') this.#ifs = whitespace;
    else this.#ifs = ifs === '' ? /(?!)/ : new RegExp(`[${ifs.replace(/[\\\]^-]/g, '\\$&')}]+`);
  }

  add(text: string, whole: boolean): void {
    if (whole) {
      this.#current = (this.#current ?? '') + text;
      return;
    }
    text.split(this.#ifs).forEach((piece, index) => {
      if (index > 0) this.break();
      if (piece !== '') this.#current = (this.#current ?? '') + piece;
    });
  }

  /** One value makes one word more of the same kind: what stands before them is repeated for none. */
  addEach(values: readonly string[]): void {
    values.forEach((value, index) => {
      if (index > 0) this.break();
      this.add(value, true);
    });
  }

  break(): void {
    if (this.#current !== null) this.#fields.push(this.#current);
    this.#current = null;
  }

  done(): string[] {
    this.break();
    return this.#fields;
  }
}
