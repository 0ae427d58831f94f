import type {
  AndOr,
  Assignment,
  Command,
  CompoundList,
  Function as FunctionNode,
  ParsedScript,
  PipelineNode,
  Statement,
} from 'unbash';
import { Call, noEnv } from './call.ts';
import { checkVariable } from './commands/variables.ts';
import { runCompound } from './compound.ts';
import { expandText, expandWord } from './expand.ts';
import { loading } from './loading.ts';
import { asText, hasGlob, isOpaque, UNKNOWN } from './marks.ts';
import type { Input, Shell, Start, Step, Walk } from './model.ts';
import { parseShell } from './parse.ts';
import { perform, runUnknown } from './programs.ts';
import { contentOf, fetchedWith, withRedirects } from './redirects.ts';
import { type Scope, scalar, type Value } from './scope.ts';
import { fork, isConstant, spend, stepCost, wordCost } from './shell.ts';

export class Unparsable extends Error {}

const maxDepth = 40;

/** Walks what a shell would run, gathers the effects, and answers with what would be printed. */
export function runSource(source: string, shell: Shell): string {
  spend(shell.world, 3 * source.length);
  return runScript(parseShell(source), shell);
}

function runScript(script: ParsedScript, shell: Shell): string {
  const [error] = script.errors ?? [];
  if (error) throw new Unparsable(error.message);
  if (shell.depth > maxDepth) throw new RangeError('this nests too deep to follow');
  return runAll(script.commands, shell);
}

const capture: Walk['capture'] = (script, shell) => (script ? runScript(script, fork(shell)) : UNKNOWN);

export const walk: Walk = {
  capture,
  source: runSource,
  words: runWords,
  list: ({ commands }, shell) => runAll(commands, shell),
  node: runNode,
};

function runAll(statements: readonly Statement[], shell: Shell): string {
  let output = '';
  for (const { command, background } of statements) {
    output += runNode(command, background ? fork(shell, { forked: true }) : shell);
  }
  return output;
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
      return runAll(node.commands, shell);
    default:
      return runCompound(node, shell);
  }
}

function runCommand(node: Command, shell: Shell): string {
  const words: string[] = [];
  if (node.name) words.push(...expandWord(node.name, shell));
  for (const arg of node.args) {
    if (arg.type === 'Word')
      words.push(...expandWord(arg, words[0] === 'export' ? loading(arg, shell) : shell));
    else words.push(declaration(arg, shell));
  }
  return withRedirects(node.redirects, shell, (input) => {
    const env = new Map<string, string>();
    let assigns = false;
    for (const item of node.prefix) {
      if (item.type !== 'Assignment') continue;
      assigns = true;
      const value = expandValue(item, shell);
      if (words.length === 0) setVariable(item.name, value, shell);
      else env.set(item.name, value.items.join(' '));
    }
    // `$(< file)` reads the file.
    if (words.length === 0) return assigns ? '' : (input?.text ?? '');
    const stdin = input === undefined ? shell.input.text : input.text;
    const seen = env.size === 0 ? shell : { ...shell, variables: withEnv(shell, env) };
    return runWords(words, { shell, stdin, env, seen });
  });
}

/** PATH is handed on to every program, also when nothing exports it. */
function setVariable(name: string, value: Value, shell: Shell): void {
  shell.variables.set(name, value);
  if (name !== 'PATH') return;
  const step = newStep([`PATH=${value.items.join(' ')}`], shell);
  const call = new Call(name, { shell, stdin: null, env: noEnv, seen: shell }, step);
  checkVariable(name, value.items.join(':'), call);
}

function newStep(words: readonly string[], { depth, world }: Shell): Step {
  const step: Step = { depth, words, effects: [] };
  world.steps.push(step);
  return step;
}

/** A function sees the variables that are set for its call; a built-in still changes the shell itself. */
function withEnv(shell: Shell, env: ReadonlyMap<string, string>): Scope {
  const variables = shell.variables.over();
  for (const [name, value] of env) variables.setText(name, value);
  return variables;
}

function declaration(assignment: Assignment, shell: Shell): string {
  const value = expandValue(assignment, shell);
  if (value.array) shell.variables.set(assignment.name, value);
  return `${assignment.name}=${value.items.join(' ')}`;
}

function expandValue({ name, value, append, index }: Assignment, shell: Shell): Value {
  const before = shell.variables.get(name)?.items ?? [];
  if (value.type === 'ArrayValue') {
    // Of `[key]=value` the keys are not told apart.
    const items = value.elements.flatMap((word) =>
      expandWord(word, shell).map((item) => item.replace(/^\[[^\]]*\]=/, '')),
    );
    return { items: append ? [...before, ...items] : items, array: true };
  }
  const text = expandText(value, shell);
  if (index) {
    expandText(index, shell);
    return { items: [...before, text], array: true };
  }
  return scalar(append ? (before[0] ?? '') + text : text);
}

/** Runs words as a command: a function, an alias, a file of this command, a built-in or a program. */
function runWords(given: readonly string[], start: Start): string {
  const { shell, seen, env } = start;
  const words = given.map(squeeze);
  const stdin = start.stdin === null ? null : squeeze(start.stdin);
  const [first = '', ...rest] = words;
  if (first === '') return rest.length === 0 ? '' : runWords(rest, { ...start, stdin });
  if (shell.depth > maxDepth) throw new RangeError('this nests too deep to follow');
  spend(shell.world, stepCost);
  const name = first.slice(first.lastIndexOf('/') + 1);
  const call = new Call(name, { shell, seen, stdin, env }, newStep(words, shell));
  for (const [variable, value] of env) checkVariable(variable, value, call);
  const body = shell.functions.get(first);
  if (body) return runFunction(first, body, call);
  const alias = shell.aliases.get(first);
  if (alias !== undefined) return call.script([alias, ...rest.map(quote)].join(' '));
  if (isOpaque(first) || hasGlob(first)) return runUnknown(first, call);
  const link = first.includes('/') ? shell.world.links.get(call.path(first)) : undefined;
  if (link !== undefined) return perform(call.with({ name: link.slice(link.lastIndexOf('/') + 1) }));
  const path = ownProgram(first, call);
  return path === undefined ? perform(call) : runFile(path, contentOf(path, shell), call);
}

/** Patterns that look for blanks would go through thousands of them again and again. */
function squeeze(text: string): string {
  if (text.length <= 2000) return text;
  return text.replace(/\s{100,}/g, (blanks) => (blanks.includes('\n') ? '\n' : ' '));
}

function ownProgram(name: string, call: Call): string | undefined {
  const { variables, world } = call.seen;
  if (world.files.size === 0 && world.fetched.size === 0) return undefined;
  const folders = name.includes('/') ? [''] : (variables.get('PATH')?.items.join(':').split(':') ?? []);
  spend(world, folders.length * wordCost);
  return folders
    .map((folder) => call.path(folder === '' ? name : `${folder}/${name}`))
    .find((path) => world.files.has(path) || (name.includes('/') && fetchedWith(path, world) !== undefined));
}

function runFunction(name: string, body: FunctionNode['body'], call: Call): string {
  const { seen, words, stdin } = call;
  const nested = seen.calls.filter((other) => other === name).length;
  if (nested > 0 && seen.forked)
    return call.deny('exhaustion', `${name} starts itself again and again`, 'Write a loop with an end.');
  if (nested > 2) return UNKNOWN;
  const depth = seen.depth + 1;
  // The forks that matter are those between two calls of the same function.
  const inside = { depth, calls: [...seen.calls, name], forked: false };
  return runNode(body, { ...seen, ...inside, args: words, input: { text: stdin } });
}

function runFile(path: string, content: string, call: Call): string {
  const interpreter = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(content)?.[1] ?? 'sh';
  return call.run([interpreter, path, ...call.words]);
}

/** Quotes a word so that it stays one word when it is parsed again; globs keep their meaning. */
function quote(word: string): string {
  return /^[\w@%+=:,./\uE000-\uE007-]+$/.test(word) ? word : `'${asText(word).replaceAll("'", `'\\''`)}'`;
}
