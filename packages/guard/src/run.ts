import type {
  AndOr,
  Assignment,
  Command,
  CompoundList,
  Function as FunctionNode,
  ParsedScript,
  PipelineNode,
  Statement,
  Word,
} from 'unbash';
import { remedyOf } from './categories.ts';
import { checkVariable } from './commands/variables.ts';
import { runCompound } from './compound.ts';
import { expandText, expandWord, literalText } from './expand.ts';
import { loading } from './loading.ts';
import { asText, hasGlob, isOpaque, PRIVATE, UNKNOWN } from './marks.ts';
import type {
  Act,
  Call,
  Capture,
  Category,
  Effect,
  FileEffect,
  Input,
  Shell,
  Step,
  Value,
  Variables,
  Walk,
} from './model.ts';
import { parseShell } from './parse.ts';
import { resolvePath } from './paths.ts';
import { perform, runUnknown } from './programs.ts';
import {
  contentOf,
  fetchedWith,
  fileEffect,
  isLoaded,
  throughLink,
  withRedirects,
  written,
} from './redirects.ts';
import { fork, isConstant, scalar, spend, stepCost, wordCost } from './shell.ts';

/** The parser found something that no shell would run as it stands. */
export class Unparsable extends Error {}

const maxDepth = 40;

/** Walks what a shell would run, gathers the effects, and answers with what would be printed. */
export function runSource(source: string, shell: Shell): string {
  // A parser reads a text more than once.
  spend(shell.world, 3 * source.length);
  const script = parseShell(source);
  const [error] = script.errors ?? [];
  if (error) throw new Unparsable(error.message);
  return runScript(script, shell);
}

function runScript(script: ParsedScript, shell: Shell): string {
  if (shell.depth > maxDepth) throw new RangeError('this nests too deep to follow');
  return runAll(script.commands, shell);
}

const capture: Capture = (script, shell) => {
  const [error] = script?.errors ?? [];
  if (error) throw new Unparsable(error.message);
  return script ? runScript(script, fork(shell)) : UNKNOWN;
};

const walk: Walk = { capture, source: runSource, list: runList, node: runNode };

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
        if (i > 0) spend(shell.world, text?.length ?? 0);
        text = runNode(command, node.commands.length === 1 ? shell : fork(shell, { input, forked: true }));
      });
      return text ?? '';
    }
    case 'Command':
      return runCommand(node, shell);
    case 'CompoundList':
      return runList(node, shell);
    default:
      return runCompound(node, shell, walk);
  }
}

function runCommand(node: Command, shell: Shell): string {
  const words: string[] = [];
  if (node.name) addWords(words, node.name, shell);
  for (const arg of node.args) {
    if (arg.type === 'Word') addWords(words, arg, words[0] === 'export' ? loading(arg, shell) : shell);
    else words.push(declared(arg, shell));
  }
  if (node.prefix.length === 0 && node.redirects.length === 0)
    return words.length === 0
      ? ''
      : runWords(words, shell, { stdin: shell.input.text, env: noEnv, seen: shell });
  return withRedirects(node.redirects, shell, capture, (input) => {
    const env = new Map<string, string>();
    let assigns = false;
    for (const item of node.prefix) {
      if (item.type !== 'Assignment') continue;
      assigns = true;
      const value = assigned(item, shell);
      if (words.length === 0) setVariable(item.name, value, shell);
      else env.set(item.name, value.items.join(' '));
    }
    // `$(< file)` reads the file.
    if (words.length === 0) return assigns ? '' : (input?.text ?? '');
    const stdin = input === undefined ? shell.input.text : input.text;
    const seen = env.size === 0 ? shell : { ...shell, variables: withEnv(shell, env) };
    return runWords(words, shell, { stdin, env, seen });
  });
}

function addWords(words: string[], word: Word, shell: Shell): void {
  const text = literalText(word, shell);
  if (text === null) words.push(...expandWord(word, shell, capture));
  else words.push(text);
}

/** PATH is handed on to every program, also when nothing exports it. */
function setVariable(name: string, value: Value, shell: Shell): void {
  shell.variables.set(name, value);
  if (name !== 'PATH') return;
  const step: Step = {
    depth: shell.depth,
    words: [`PATH=${value.items.join(' ')}`],
    effects: [],
    text: undefined,
  };
  shell.world.steps.push(step);
  checkVariable(
    name,
    value.items.join(':'),
    new ShellCall(name, [], shell, { stdin: null, env: noEnv, seen: shell }, step),
  );
}

const noEnv: ReadonlyMap<string, string> = new Map();

/** A function sees the variables that are set for its call; a built-in still changes the shell itself. */
function withEnv(shell: Shell, env: ReadonlyMap<string, string>): Variables {
  const variables = shell.variables.over();
  for (const [name, value] of env) variables.set(name, scalar(value));
  return variables;
}

function declared(assignment: Assignment, shell: Shell): string {
  const value = assigned(assignment, shell);
  if (value.array) shell.variables.set(assignment.name, value);
  return `${assignment.name}=${value.items.join(' ')}`;
}

function assigned({ name, value, append, index }: Assignment, shell: Shell): Value {
  const before = shell.variables.get(name)?.items ?? [];
  if (value.type === 'ArrayValue') {
    // Of `[key]=value` the keys are not told apart.
    const items = value.elements.flatMap((word) =>
      expandWord(word, shell, capture).map((item) => item.replace(/^\[[^\]]*\]=/, '')),
    );
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
function runWords(given: readonly string[], shell: Shell, { stdin: read, env, seen }: Calling): string {
  const words = given.some(isLong) ? given.map(squeezed) : given;
  const stdin = read !== null && isLong(read) ? squeezed(read) : read;
  const first = words[0] ?? '';
  const rest = words.slice(1);
  if (first === '') return rest.length === 0 ? '' : runWords(rest, shell, { stdin, env, seen });
  if (shell.depth > maxDepth) throw new RangeError('this nests too deep to follow');
  spend(shell.world, stepCost);
  const step: Step = { depth: shell.depth, words, effects: [], text: undefined };
  shell.world.steps.push(step);
  const name = first.slice(first.lastIndexOf('/') + 1);
  const call = new ShellCall(name, rest, shell, { stdin, env, seen }, step);
  for (const [variable, value] of env) checkVariable(variable, value, call);
  const body = shell.functions.get(first);
  if (body) return runFunction(first, body, rest, seen, call);
  const alias = shell.aliases.get(first);
  if (alias !== undefined) return call.script([alias, ...rest.map(quote)].join(' '));
  if (isOpaque(first) || hasGlob(first)) return runUnknown(first, call);
  const link = first.includes('/') ? shell.world.links.get(call.path(first)) : undefined;
  if (link !== undefined) return perform(call.with({ name: link.slice(link.lastIndexOf('/') + 1) }));
  const path = ownProgram(first, call, seen);
  if (path !== undefined) return runFile(path, contentOf(path, shell), call);
  return perform(call);
}

function isLong(text: string): boolean {
  return text.length > 2000;
}

/** Patterns that look for blanks would go through thousands of them again and again. */
function squeezed(text: string): string {
  return text.replace(/\s{100,}/g, (blanks) => (blanks.includes('\n') ? '\n' : ' '));
}

/** Where a program lies that this command has written itself, called by its path or found through PATH. */
function ownProgram(name: string, call: Call, { variables, world }: Shell): string | undefined {
  if (world.files.size === 0 && world.fetched.size === 0) return undefined;
  const folders = name.includes('/') ? [''] : (variables.get('PATH')?.items.join(':').split(':') ?? []);
  spend(world, folders.length * wordCost);
  return folders
    .map((folder) => call.path(folder === '' ? name : `${folder}/${name}`))
    .find((path) => world.files.has(path) || (name.includes('/') && fetchedWith(path, world) !== undefined));
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
    call.deny('exhaustion', `${name} starts itself again and again`, 'Write a loop with an end.');
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

class ShellCall implements Call {
  readonly name: string;
  readonly words: readonly string[];
  readonly shell: Shell;
  readonly stdin: string | null;
  readonly env: ReadonlyMap<string, string>;
  readonly seen: Shell;
  readonly step: Step;

  constructor(
    name: string,
    words: readonly string[],
    shell: Shell,
    { stdin, env, seen }: Calling,
    step: Step,
  ) {
    this.name = name;
    this.words = words;
    this.shell = shell;
    this.stdin = stdin;
    this.env = env;
    this.seen = seen;
    this.step = step;
  }

  with(over: Partial<Call>): Call {
    const copy: Call = Object.create(ShellCall.prototype);
    return Object.assign(copy, this, over);
  }

  path(text: string): string {
    return resolvePath(text, this.shell.cwd, this.shell.world);
  }

  act(verdict: Act['verdict'], category: Category, what: string, instead = remedyOf(category)): '' {
    this.add({ kind: 'act', verdict, category, what, instead });
    return '';
  }

  deny(category: Category, what: string, instead?: string): '' {
    return this.act('deny', category, what, instead);
  }

  warn(category: Category, what: string, instead?: string): '' {
    return this.act('warn', category, what, instead);
  }

  file(kind: FileEffect['kind'], target: string, more: Partial<FileEffect> = {}): void {
    const path = throughLink(kind, target, this.path(target), this.shell.world);
    if (kind === 'read' && isLoaded(path, this.shell)) return;
    this.add(fileEffect(kind, path, more));
  }

  content(target: string): string {
    if (target === '/dev/stdin' && this.stdin !== null) return this.stdin;
    const path = this.path(target);
    return contentOf(this.shell.world.links.get(path) ?? path, this.shell);
  }

  keep(target: string, content: string): void {
    const path = this.path(target);
    this.shell.world.files.set(path, content);
    // A file that is copied as a whole keeps its name, mostly.
    if (content === PRIVATE && /^(cp|mv|install)$/.test(this.name)) return;
    for (const act of written(content, path, this.shell.world))
      this.act(act.verdict, act.category, act.what, act.instead);
  }

  run(
    words: readonly string[],
    { stdin = this.stdin, cwd }: { stdin?: string | null; cwd?: string } = {},
  ): string {
    const inner = this.inner(cwd);
    const [name = ''] = words;
    // A program that starts another knows nothing of the shell's functions.
    const child = inner.functions.has(name) ? { ...inner, functions: without(inner.functions, name) } : inner;
    return runWords(words, child, { stdin, env: noEnv, seen: child });
  }

  here(source: string): string {
    return runSource(source, { ...this.shell, depth: this.shell.depth + 1 });
  }

  script(
    source: string,
    { stdin = this.stdin, args = [], zero, cwd }: Parameters<Call['script']>[1] = {},
  ): string {
    const child = { ...this.inner(cwd), input: { text: stdin }, args };
    if (zero !== undefined) child.variables.set('0', scalar(zero));
    return runSource(source, child);
  }

  private add(effect: Effect): void {
    this.shell.world.note(effect, this.step);
  }

  private inner(cwd: string | undefined): Shell {
    return fork(
      this.seen,
      cwd === undefined ? {} : { cwd: resolvePath(cwd, this.shell.cwd, this.shell.world) },
    );
  }
}

function without<T>(all: ReadonlyMap<string, T>, name: string): Map<string, T> {
  const others = new Map(all);
  others.delete(name);
  return others;
}

/** Quotes a word so that it stays one word when it is parsed again; globs keep their meaning. */
function quote(word: string): string {
  return /^[\w@%+=:,./\uE000-\uE007-]+$/.test(word) ? word : `'${asText(word).replaceAll("'", `'\\''`)}'`;
}
