import type {
  AndOr,
  Assignment,
  Command,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
  Word,
} from 'unbash';

/** A word with nothing to expand in it but `~`, or one quoted text. */
const wordPattern = /'[^']*'|"[^"\\$`!]*"|[\w./:,@%+~=-]+/y;
const assignmentPattern = /([A-Za-z_]\w*)=/y;
const redirectPattern = /(\d?)(>&(?=\d)|>>|>(?![&|])|<(?![<&>]))[ \t]*/y;
/** What may stand after a word: blanks before the next one, or the end of a command. */
const borderPattern = /[ \t]*(&&|\|\||\|(?!&)|;(?![;&])|\n|$)|[ \t]+/y;
const blanks = /[ \t]*/y;
const space = /[ \t\n]*/y;
const reserved = new Set([
  ...['if', 'then', 'elif', 'else', 'fi', 'do', 'done', 'case', 'esac', 'while', 'until', 'for', 'in'],
  ...['select', 'function', 'time', 'coproc'],
]);
/** After these, `a=b` is no word. */
const declaring = new Set(['alias', 'export', 'declare', 'typeset', 'local', 'readonly']);

type Place = { readonly source: string; at: number };
/** A part of a statement, and the operator after it: empty at the end of the source. */
type Read<T> = { readonly node: T; readonly operator: string };

/**
 * The tree of a command that has nothing but such words, redirections to them, and `&&`, `||`, `|`, `;` or new lines
 * between; null for all others. It is the very one that the parser makes: a test holds the two against each other.
 */
export function parseSimple(source: string): ParsedScript | null {
  const place: Place = { source, at: 0 };
  const commands: Statement[] = [];
  for (match(space, place); place.at < source.length; match(space, place)) {
    const statement = readStatement(place);
    if (statement === null) return null;
    commands.push(statement);
  }
  return { type: 'Script', pos: 0, end: source.length, shebang: undefined, commands };
}

function readStatement(place: Place): Statement | null {
  const pos = place.at;
  const first = readPipeline(place);
  if (first === null) return null;
  const commands = [first.node];
  const operators: AndOr['operators'][number][] = [];
  let { operator } = first;
  while (operator === '&&' || operator === '||') {
    operators.push(operator);
    const next = readPipeline(place);
    if (next === null) return null;
    commands.push(next.node);
    operator = next.operator;
  }
  const end = commands.at(-1)?.end ?? pos;
  const command: Statement['command'] =
    operators.length === 0 ? first.node : { type: 'AndOr', pos, end, commands, operators };
  return { type: 'Statement', pos, end, command, background: undefined };
}

function readPipeline(place: Place): Read<PipelineNode> | null {
  const first = readCommand(place);
  if (first?.operator !== '|') return first;
  const commands = [first.node];
  let operator: string = first.operator;
  while (operator === '|') {
    const next = readCommand(place);
    if (next === null) return null;
    commands.push(next.node);
    operator = next.operator;
  }
  const operators = commands.slice(1).map(() => '|' as const);
  const end = commands.at(-1)?.end ?? place.at;
  const node = { type: 'Pipeline', pos: first.node.pos, end, prefixes: [], commands, operators } as const;
  return { node, operator };
}

function readCommand(place: Place): Read<Command> | null {
  match(blanks, place);
  const pos = place.at;
  const prefix: Assignment[] = [];
  for (let item = readAssignment(place); item !== undefined; item = readAssignment(place)) {
    if (item === null) return null;
    prefix.push(item);
    const border = match(borderPattern, place);
    if (border === null) return null;
    const [, operator] = border;
    if (operator !== undefined) {
      const { end } = item;
      const none = { name: undefined, suffix: [], args: [], redirects: [] };
      return { node: { type: 'Command', pos, end, prefix, ...none }, operator };
    }
  }
  const name = readWord(place);
  if (name === null || /^[-=]|^\w+\+?=/.test(name.text) || reserved.has(name.text)) return null;
  const args: Word[] = [];
  const redirects: Redirection[] = [];
  const suffix: (Word | Redirection)[] = [];
  for (let { end } = name; ; ) {
    const border = match(borderPattern, place);
    if (border === null) return null;
    const [, operator] = border;
    if (operator !== undefined) {
      return { node: { type: 'Command', pos, end, name, prefix, suffix, args, redirects }, operator };
    }
    const redirect = readRedirect(place);
    const word = redirect === undefined ? readWord(place) : null;
    const item = redirect ?? word;
    if (!item || (word?.text.includes('=') && declaring.has(name.text))) return null;
    if (redirect) redirects.push(redirect);
    if (word) args.push(word);
    suffix.push(item);
    end = item.end;
  }
}

/** `NAME=word` before a command. Undefined where there is none, null where it is not one of these. */
function readAssignment(place: Place): Assignment | null | undefined {
  const pos = place.at;
  const name = match(assignmentPattern, place)?.[1];
  if (name === undefined) return undefined;
  const at = place.at;
  const value = readWord(place) ?? { type: 'Word', text: '', pos: at, end: at, value: '' };
  const { end } = value;
  const text = place.source.slice(pos, end);
  return { type: 'Assignment', pos, end, text, name, value, append: undefined, index: undefined };
}

/** Undefined where there is none, null where it is not one of these. */
function readRedirect(place: Place): Redirection | null | undefined {
  const pos = place.at;
  const [, digit = '', operator] = match(redirectPattern, place) ?? [];
  if (operator !== '>' && operator !== '>>' && operator !== '<' && operator !== '>&') return undefined;
  const target = readWord(place);
  if (target === null) return null;
  const descriptor =
    digit === '' ? undefined : ({ type: 'FileDescriptor', pos, end: pos + 1, value: Number(digit) } as const);
  return { type: 'Redirect', pos, end: target.end, operator, descriptor, target };
}

function readWord(place: Place): Word | null {
  const pos = place.at;
  const text = match(wordPattern, place)?.[0];
  if (text === undefined) return null;
  const end = place.at;
  const [quote] = text;
  if (quote !== "'" && quote !== '"') return { type: 'Word', text, pos, end, value: text };
  const value = text.slice(1, -1);
  const inner = { type: 'Literal', pos: pos + 1, end: end - 1, value, text: value } as const;
  const part =
    quote === "'"
      ? ({ type: 'SingleQuoted', pos, end, value, text } as const)
      : ({ type: 'DoubleQuoted', pos, end, text, parts: [inner] } as const);
  return { type: 'Word', text, pos, end, parts: [part], value };
}

/** What stands at this place, which then is behind it; null where it is something else. */
function match(pattern: RegExp, place: Place): RegExpExecArray | null {
  pattern.lastIndex = place.at;
  const found = pattern.exec(place.source);
  if (found !== null) place.at = pattern.lastIndex;
  return found;
}
