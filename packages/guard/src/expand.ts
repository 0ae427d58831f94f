import type { Word, WordPart } from 'unbash';
import { expandBraces } from './braces.ts';
import { Fields } from './fields.ts';
import { ANY, asGlob, isOpaque, STAR, show, UNKNOWN } from './marks.ts';
import type { Shell } from './model.ts';
import { lookUp, parameter, withHome } from './parameters.ts';
import { parseShell } from './parse.ts';
import { denial } from './private.ts';
import { spend, wordCost } from './shell.ts';

export function expandWord(word: Word, shell: Shell): string[] {
  const text = literalText(word, shell);
  if (text !== null) return [text];
  return bracedWords(word, shell).flatMap((one) => fieldsOf(one, shell, true));
}

/** The one text that a shell makes of a word where it does not split, as in an assignment or a redirection. */
export function expandText(word: Word, shell: Shell): string {
  return literalText(word, shell) ?? fieldsOf(word, shell, false).join(' ');
}

/** Returns the text of a word without expansions; null where there is something to expand. */
function literalText(word: Word, shell: Shell): string | null {
  if (!word.parts) return withHome(word.text, word.value, shell);
  const [part, more] = word.parts;
  if (more) return null;
  if (part?.type === 'SingleQuoted') return part.value;
  const [inner, another] = part?.type === 'DoubleQuoted' ? part.parts : [];
  return inner?.type === 'Literal' && !another ? inner.value : null;
}

type Mode = { readonly split: boolean; readonly quoted: boolean };

export function expandParts(parts: readonly WordPart[], shell: Shell): string {
  const fields = new Fields(' \t\n');
  for (const part of parts) addPart(part, fields, shell, { split: false, quoted: true });
  const text = fields.done().join(' ');
  spend(shell.world, text.length);
  return text;
}

function bracedWords(word: Word, shell: Shell): Word[] {
  if (!word.parts?.some(({ type }) => type === 'BraceExpansion')) return [word];
  const { world } = shell;
  const [, from, to] = /\{(-?\d+)\.\.(-?\d+)/.exec(word.text) ?? [];
  if (Math.abs(Number(to) - Number(from)) > 5e6)
    world.note(denial('exhaustion', `makes ${show(word.text)} into words, all at once`, 'Count with seq.'));
  const sources = expandBraces(word.text, world.work / wordCost);
  if (!sources) throw new RangeError('these braces make too many words');
  spend(world, sources.length * wordCost);
  if (sources.every((source) => /^[\w./:,@%+-]+$/.test(source)))
    return sources.map((text) => ({ type: 'Word', text, value: text, pos: 0, end: text.length }));
  const command = parseShell(`_ ${sources.join(' ')}`).commands[0]?.command;
  return command?.type === 'Command' ? command.args.filter((arg) => arg.type === 'Word') : [];
}

function fieldsOf(word: Word, shell: Shell, split: boolean): string[] {
  if (!word.parts) return [withHome(word.text, word.value, shell)];
  const ifs = shell.variables.get('IFS')?.items[0] ?? ' \t\n';
  const fields = new Fields(isOpaque(ifs) ? ' \t\n' : ifs);
  word.parts.forEach((part, index) => {
    if (index === 0 && part.type === 'Literal') fields.add(withHome(part.text, part.value, shell), true);
    else addPart(part, fields, shell, { split, quoted: false });
  });
  const words = fields.done();
  for (const { length } of words) spend(shell.world, length + wordCost);
  return words;
}

function addPart(part: WordPart, fields: Fields, shell: Shell, mode: Mode): void {
  const textOf = (word: Word) => fieldsOf(word, shell, false).join(' ');
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
      for (const inner of part.parts) addPart(inner, fields, shell, { split: false, quoted: true });
      return;
    case 'SimpleExpansion':
      addValues(joinedBy(part.text.slice(1), lookUp(part.text.slice(1), shell), shell, mode), fields, mode);
      return;
    case 'ParameterExpansion':
      addValues(
        joinedBy(part.index?.text ?? part.parameter, parameter(part, shell, textOf), shell, mode),
        fields,
        mode,
      );
      return;
    case 'CommandExpansion':
      addValues([withoutEnd(shell.world.walk.capture(part.script, shell))], fields, mode);
      return;
    case 'ProcessSubstitution':
      // What the file holds matters to a program that runs it; the name that a shell gives it does not.
      fields.add(processFile(shell.world.walk.capture(part.script, shell), shell), true);
      return;
    case 'ArithmeticExpansion': {
      const scripts = part.text.match(/\$\([^(][^)]*\)|`[^`]*`/g) ?? [];
      for (const text of scripts)
        shell.world.walk.capture(parseShell(text.replace(/^\$?[(`]|[)`]$/g, '')), shell);
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
  if (quoted) fields.addEach(values, true);
  else if (split) fields.addEach(values.map(asGlob), false);
  else fields.add(values.join(' '), true);
}
