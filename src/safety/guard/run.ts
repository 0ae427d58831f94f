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
import { checkVariable } from './commands/variables.ts';
import { runCompound } from './compound.ts';
import { expandText, expandWord } from './expand.ts';
import { asText, hasGlob, isOpaque, shown, UNKNOWN } from './marks.ts';
import type { Call, Capture, Effect, Input, Shell, Step, Value, Walk } from './model.ts';
import { parseShell } from './parse.ts';
import { resolvePath } from './paths.ts';
import { perform, runUnknown } from './programs.ts';
import { contentOf, fileEffect, throughLink, withRedirects } from './redirects.ts';
import { fork, isConstant, scalar } from './shell.ts';

/** Following the command took more steps than any honest command needs. */
export class TooLong extends Error {}
/** The parser found something that no shell would run as it stands. */
export class Unparsable extends Error {}

const maxDepth = 40;

/** Walks what a shell would run, gathers the effects, and answers with what would be printed. */
export function runSource(source: string, shell: Shell): string {
  const script = parseShell(source);
  const [error] = script.errors ?? [];
  if (error) throw new Unparsable(error.message);
  return runScript(script, shell);
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
  const words = [
    ...(node.name ? expandWord(node.name, shell, capture) : []),
    ...node.args.flatMap((arg) => argument(arg, shell)),
  ];
  const assignments = node.prefix.filter((item) => item.type === 'Assignment');
  return withRedirects(node.redirects, shell, capture, (input) => {
    const env = new Map<string, string>();
    for (const assignment of assignments) {
      const value = assigned(assignment, shell);
      if (words.length === 0) setVariable(assignment.name, value, shell);
      else env.set(assignment.name, value.items.join(' '));
    }
    const stdin = input === undefined ? shell.input.text : input.text;
    const inner = env.size === 0 ? shell : { ...shell, variables: withEnv(shell, env) };
    return words.length === 0 ? '' : runWords(words, shell, { stdin, env, seen: inner });
  });
}

/** PATH is handed on to every program, also when nothing exports it. */
function setVariable(name: string, value: Value, shell: Shell): void {
  shell.variables.set(name, value);
  if (name !== 'PATH') return;
  const step: Step = { depth: shell.depth, text: shown(`PATH=${value.items.join(' ')}`), effects: [] };
  shell.world.steps.push(step);
  checkVariable(
    name,
    value.items.join(':'),
    callOf(name, [], shell, { stdin: null, env: noEnv, seen: shell }, step),
  );
}

const noEnv: ReadonlyMap<string, string> = new Map();

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
  const path = shell.world.files.size === 0 ? undefined : ownProgram(first, call, seen);
  if (path !== undefined) return runFile(path, shell.world.files.get(path) ?? '', call);
  return perform(call);
}

/** Where a program lies that this command has written itself, called by its path or found through PATH. */
function ownProgram(name: string, call: Call, { variables, world }: Shell): string | undefined {
  const folders = name.includes('/') ? [''] : (variables.get('PATH')?.items.join(':').split(':') ?? []);
  return folders
    .map((folder) => call.path(folder === '' ? name : `${folder}/${name}`))
    .find((path) => world.files.has(path));
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
      add(fileEffect(kind, throughLink(kind, target, path(target), shell.world), more, by)),
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
