import {
  type AndOr,
  type Assignment,
  type Case,
  type Command,
  type CompoundList,
  type Function as FunctionNode,
  type If,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Statement,
  type TestExpression,
  type While,
} from 'unbash';
import { checkVariable } from './commands/variables.ts';
import { type Capture, expandText, expandWord } from './expand.ts';
import { asText, hasGlob, isOpaque, mayMatch, shown, UNKNOWN } from './marks.ts';
import type { Call, Effect, Input, Shell, Step, Value, World } from './model.ts';
import { resolvePath } from './paths.ts';
import { perform, runUnknown } from './programs.ts';
import { contentOf, fileEffect, throughLink, withRedirects } from './redirects.ts';

/** Following the command took more steps than any honest command needs. */
export class TooLong extends Error {}
/** The parser found something that no shell would run as it stands. */
export class Unparsable extends Error {}

const maxDepth = 40;

/** Walks what a shell would run, gathers the effects, and answers with what would be printed. */
export function runSource(source: string, shell: Shell): string {
  const script = parse(source);
  const [error] = script.errors ?? [];
  if (error) throw new Unparsable(error.message);
  return runScript(script, shell);
}

export function newShell(world: World): Shell {
  return {
    cwd: world.context.cwd,
    world,
    variables: new Map(),
    functions: new Map(),
    aliases: new Map(),
    calls: [],
    args: [],
    input: { text: null },
    depth: 0,
    forked: false,
  };
}

function runScript(script: ParsedScript, shell: Shell): string {
  if (shell.depth > maxDepth) throw new TooLong();
  return runAll(script.commands, shell);
}

const capture: Capture = (script, shell) => {
  const [error] = script?.errors ?? [];
  if (error) throw new Unparsable(error.message);
  return script ? runScript(script, fork(shell)) : UNKNOWN;
};

/** A subshell: it sees everything, and what it changes ends with it. */
function fork(shell: Shell, over: Partial<Shell> = {}): Shell {
  return { ...shell, variables: new Map(shell.variables), depth: shell.depth + 1, ...over };
}

function runAll(statements: readonly Statement[], shell: Shell): string {
  let output = '';
  for (const { command, background } of statements) {
    output += runNode(command, background ? fork(shell, { forked: true }) : shell);
  }
  return output;
}

function runList(list: CompoundList, shell: Shell): string {
  return runAll(list.commands, shell);
}

/** A word and another that is no operator, as no arithmetic begins. */
const looksLikeCommand = /^\s*[A-Za-z_./][\w./-]*\s+[-~/\w"'$]/;

function runNode(node: PipelineNode | AndOr | CompoundList, shell: Shell): string {
  switch (node.type) {
    case 'AndOr':
      return node.commands
        .map((command, i) => {
          const before = node.commands[i - 1];
          const skipped = before && isConstant(before, node.operators[i - 1] === '&&' ? 'false' : 'true');
          return skipped ? '' : runNode(command, shell);
        })
        .join('');
    case 'Pipeline': {
      let text: string | null = shell.input.text;
      node.commands.forEach((command, i) => {
        const input: Input = i === 0 ? shell.input : { text };
        text = runNode(command, node.commands.length === 1 ? shell : fork(shell, { input, forked: true }));
      });
      return text ?? '';
    }
    case 'Command':
      return runCommand(node, shell);
    case 'Redirected':
      return withRedirects(node.redirects, shell, capture, (input) =>
        runNode(node.command, input === undefined ? shell : { ...shell, input }),
      );
    case 'CompoundList':
      return runList(node, shell);
    case 'Subshell':
      return runList(node.body, fork(shell));
    case 'BraceGroup':
      return runList(node.body, shell);
    case 'If':
      return runIf(node, shell);
    case 'Case':
      return runCase(node, shell);
    case 'For':
    case 'Select':
      return (node.wordlist?.flatMap((word) => expandWord(word, shell, capture)) ?? [...shell.args])
        .filter(sampled)
        .map((value) => {
          shell.variables.set(node.name.value, scalar(value));
          return runList(node.body, shell);
        })
        .join('');
    case 'While': {
      let output = '';
      checkEndless(node, shell);
      let before: string | null;
      do {
        before = shell.input.text;
        output += runList(node.clause, shell) + runList(node.body, shell);
      } while (shell.input.text !== before && shell.input.text !== '');
      return output;
    }
    case 'ArithmeticFor':
      return runList(node.body, shell);
    case 'ArithmeticCommand':
      for (const text of node.body.match(/\$\([^(][^)]*\)/g) ?? []) runSource(text.slice(2, -1), fork(shell));
      // dash and other small shells know no arithmetic command: `((rm -rf x))` is two subshells there.
      if (looksLikeCommand.test(node.body)) runSource(node.body, fork(shell));
      return '';
    case 'TestCommand':
      walkTest(node.expression, shell);
      return '';
    case 'Function':
      shell.functions.set(node.name.value, node.body);
      return '';
    case 'Coproc':
      return runNode(node.body, fork(shell, { forked: true }));
  }
}

/** A loop without an end that writes or starts something at each turn fills the machine. */
function checkEndless(node: While, shell: Shell): void {
  const [only, more] = node.clause.commands;
  if (
    !only ||
    more ||
    only.command.type === 'AndOr' ||
    !isConstant(only.command, node.kind === 'while' ? 'true' : 'false')
  )
    return;
  const waiting = node.body.commands.filter(({ background }) => !background);
  const words = waiting.map(({ command }) => firstWord(command));
  const starts = waiting.length < node.body.commands.length || words.includes('mkdir');
  const writes = node.body.commands.some(
    ({ command }) =>
      command.type === 'Command' && command.redirects.some(({ operator }) => operator === '>>'),
  );
  if (!(starts || writes) || words.some((word) => /^(sleep|break|exit|return|wait|read|test|\[)$/.test(word)))
    return;
  if (node.body.commands.some(({ command }) => command.type !== 'Command')) return;
  shell.world.effects.push({
    kind: 'act',
    category: 'exhaustion',
    verdict: 'deny',
    what: 'repeats without end or pause',
    instead: 'Give the loop an end.',
    by: 'while',
  });
}

function firstWord(node: Statement['command']): string {
  return node.type === 'Command' ? (node.name?.text ?? '') : '';
}

/** Of many plain numbers the first and the last will do: they name nothing that could be harmed. */
function sampled(value: string, index: number, all: readonly string[]): boolean {
  return !/^\d+$/.test(value) || index === 0 || index === all.length - 1;
}

function isConstant(node: PipelineNode, word: 'true' | 'false'): boolean {
  if (node.type !== 'Command' || node.args.length > 0 || node.redirects.length > 0) return false;
  return node.name?.text === word || (word === 'true' && node.name?.text === ':');
}

function runIf(node: If, shell: Shell): string {
  const only = node.clause.commands.length === 1 ? node.clause.commands[0]?.command : undefined;
  const constant = (word: 'true' | 'false') =>
    only !== undefined && only.type !== 'AndOr' && isConstant(only, word);
  let output = runList(node.clause, shell);
  const branches: CompoundList[] = [];
  if (!constant('false')) branches.push(node.then);
  if (!constant('true')) {
    for (const { clause, then } of node.elif) {
      output += runList(clause, shell);
      branches.push(then);
    }
    if (node.else) branches.push(node.else);
  }
  return output + runBranches(branches, shell);
}

function runCase(node: Case, shell: Shell): string {
  const word = expandText(node.word, shell, capture);
  const bodies: CompoundList[] = [];
  for (const { pattern, body, terminator } of node.items) {
    const patterns = pattern.map((one) => expandText(one, shell, capture));
    if (!isOpaque(word) && patterns.every((one) => !isOpaque(one))) {
      const flat = (text: string) => text.replaceAll('/', '\u0001').replace(/^\./, '\u0002');
      if (!patterns.some((one) => mayMatch(flat(one), flat(word)))) continue;
      bodies.push(body);
      if (terminator === ';;' || terminator === undefined) break;
      continue;
    }
    bodies.push(body);
  }
  return runBranches(bodies, shell);
}

/** Any of the branches may be taken: afterwards a variable may have the value that each of them gave it. */
function runBranches(branches: readonly CompoundList[], shell: Shell): string {
  const before = new Map(shell.variables);
  let output = '';
  const ends = branches.map((branch) => {
    const child: Shell = { ...shell, variables: new Map(before) };
    output += runList(branch, child);
    if (child.cwd !== shell.cwd) shell.cwd = child.cwd;
    return child.variables;
  });
  for (const variables of ends) {
    for (const [name, value] of variables) {
      const known = shell.variables.get(name);
      if (value === before.get(name) || known === value) continue;
      const items =
        known && known !== before.get(name) ? [...new Set([...known.items, ...value.items])] : value.items;
      shell.variables.set(name, { items, array: value.array });
    }
  }
  return output;
}

function walkTest(node: TestExpression, shell: Shell): void {
  switch (node.type) {
    case 'TestUnary':
      expandText(node.operand, shell, capture);
      return;
    case 'TestBinary':
      expandText(node.left, shell, capture);
      expandText(node.right, shell, capture);
      return;
    case 'TestLogical':
      for (const operand of node.operands) walkTest(operand, shell);
      return;
    case 'TestNot':
      walkTest(node.operand, shell);
      return;
    case 'TestGroup':
      walkTest(node.expression, shell);
  }
}

function scalar(text: string): Value {
  return { items: [text], array: false };
}

function runCommand(node: Command, shell: Shell): string {
  const words = [
    ...(node.name ? expandWord(node.name, shell, capture) : []),
    ...node.args.flatMap((arg) => argument(arg, shell)),
  ];
  const assignments = node.prefix.filter((item) => item.type === 'Assignment');
  return withRedirects(node.redirects, shell, capture, (input) => {
    const env = new Map<string, string>();
    for (const assignment of assignments) {
      const value = assigned(assignment, shell);
      if (words.length === 0) shell.variables.set(assignment.name, value);
      else env.set(assignment.name, value.items.join(' '));
    }
    const stdin = input === undefined ? shell.input.text : input.text;
    const inner = env.size === 0 ? shell : { ...shell, variables: withEnv(shell, env) };
    return words.length === 0 ? '' : runWords(words, shell, { stdin, env, seen: inner });
  });
}

/** A function sees the variables that are set for its call; a built-in still changes the shell itself. */
function withEnv(shell: Shell, env: ReadonlyMap<string, string>): Map<string, Value> {
  const variables = new Map(shell.variables);
  for (const [name, value] of env) variables.set(name, scalar(value));
  return variables;
}

function argument(arg: Command['args'][number], shell: Shell): string[] {
  if (arg.type === 'Word') return expandWord(arg, shell, capture);
  const value = assigned(arg, shell);
  if (value.array) shell.variables.set(arg.name, value);
  return [`${arg.name}=${value.items.join(' ')}`];
}

function assigned({ name, value, append, index }: Assignment, shell: Shell): Value {
  const before = shell.variables.get(name)?.items ?? [];
  if (value.type === 'ArrayValue') {
    const items = value.elements.flatMap((word) => expandWord(word, shell, capture));
    return { items: append ? [...before, ...items] : items, array: true };
  }
  const text = expandText(value, shell, capture);
  if (index) {
    expandText(index, shell, capture);
    return { items: [...before, text], array: true };
  }
  return scalar(append ? (before[0] ?? '') + text : text);
}

type Calling = { stdin: string | null; env: ReadonlyMap<string, string>; seen: Shell };

/** Runs words as a command: a function, an alias, a file of this command, a built-in or a program. */
function runWords(words: readonly string[], shell: Shell, { stdin, env, seen }: Calling): string {
  const [first = '', ...rest] = words;
  if (first === '') return rest.length === 0 ? '' : runWords(rest, shell, { stdin, env, seen });
  if (--shell.world.budget < 0 || shell.depth > maxDepth) throw new TooLong();
  const step = { depth: shell.depth, text: summary(words), effects: [] as Effect[] };
  shell.world.steps.push(step);
  const name = first.slice(first.lastIndexOf('/') + 1);
  const call = callOf(name, rest, shell, { stdin, env, seen }, step);
  for (const [variable, value] of env) checkVariable(variable, value, call);
  shell.variables.set('_', scalar(words.at(-1) ?? ''));
  const body = shell.functions.get(first);
  if (body) return runFunction(first, body, rest, seen, call);
  const alias = shell.aliases.get(first);
  if (alias !== undefined) return call.script([alias, ...rest.map(quote)].join(' '));
  if (isOpaque(first) || hasGlob(first)) return runUnknown(first, call);
  const link = shell.world.links.get(call.path(first));
  if (link !== undefined && first.includes('/'))
    return perform({ ...call, name: link.slice(link.lastIndexOf('/') + 1) });
  const own = first.includes('/') ? shell.world.files.get(call.path(first)) : undefined;
  if (own !== undefined) return runFile(call.path(first), own, call);
  return perform(call);
}

/** The beginning of a command, for people. */
function summary(words: readonly string[]): string {
  return shown(words.slice(0, 40).join(' ')).slice(0, 200);
}

function runFunction(
  name: string,
  body: FunctionNode['body'],
  args: readonly string[],
  shell: Shell,
  call: Call,
): string {
  const nested = shell.calls.filter((other) => other === name).length;
  if (nested > 0 && shell.forked) {
    call.act('deny', 'exhaustion', `${name} starts itself again and again`, 'Write a loop with an end.');
    return '';
  }
  if (nested > 2) return UNKNOWN;
  // The forks that matter are those between two calls of the same function.
  return runNode(body, {
    ...shell,
    args,
    calls: [...shell.calls, name],
    depth: shell.depth + 1,
    forked: false,
    input: { text: call.stdin },
  });
}

/** A script that the command wrote or downloaded itself, called by its name. */
function runFile(path: string, content: string, call: Call): string {
  const interpreter = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(content)?.[1] ?? 'sh';
  return call.run([interpreter, path, ...call.words]);
}

function callOf(
  name: string,
  words: readonly string[],
  shell: Shell,
  { stdin, env, seen }: Calling,
  step: Step,
): Call {
  const by = step.text;
  const add = (effect: Effect) => {
    shell.world.effects.push(effect);
    step.effects.push(effect);
  };
  const inner = (cwd: string | undefined) =>
    fork(seen, cwd === undefined ? {} : { cwd: resolvePath(cwd, shell.cwd, shell.world) });
  const path = (text: string) => resolvePath(text, shell.cwd, shell.world);
  return {
    shell,
    name,
    words,
    stdin,
    env,
    path,
    act: (verdict, category, what, instead) => {
      add({ kind: 'act', verdict, category, what, instead, by });
      return '';
    },
    file: (kind, target, more = {}) =>
      add(fileEffect(kind, throughLink(kind, path(target), shell.world), more, by)),
    content: (target) => contentOf(path(target), shell),
    keep: (target, content) => shell.world.files.set(path(target), content),
    run: (inside, more = {}) => {
      const child = inner(more.cwd);
      return runWords(inside, child, {
        stdin: more.stdin === undefined ? stdin : more.stdin,
        env: new Map(),
        seen: child,
      });
    },
    here: (source) => runSource(source, { ...shell, depth: shell.depth + 1, variables: shell.variables }),
    script: (source, more = {}) => {
      const child = {
        ...inner(more.cwd),
        input: { text: more.stdin === undefined ? stdin : more.stdin },
        args: more.args ?? [],
      };
      if (more.zero !== undefined) child.variables.set('0', scalar(more.zero));
      return runSource(source, child);
    },
  };
}

/** Quotes a word so that it stays one word when it is parsed again; globs keep their meaning. */
export function quote(word: string): string {
  return /^[\w@%+=:,./\uE000-\uE007-]+$/.test(word) ? word : `'${asText(word).replaceAll("'", `'\\''`)}'`;
}
