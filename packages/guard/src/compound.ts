import type {
  Case,
  Command,
  CommandNode,
  CompoundList,
  For,
  If,
  Select,
  Statement,
  TestExpression,
  While,
} from 'unbash';
import { expandText, expandWord } from './expand.ts';
import { isOpaque, mayMatch } from './marks.ts';
import type { Shell } from './model.ts';
import { denial } from './private.ts';
import { withRedirects } from './redirects.ts';
import type { Value } from './scope.ts';
import { fork, isConstant } from './shell.ts';

const looksLikeCommand = /^\s*[A-Za-z_./][\w./-]*\s+[-~/\w"'$]/;

/** Walks what is more than a command: conditions, loops, groups, functions. */
export function runCompound(node: Exclude<CommandNode, { type: 'Command' }>, shell: Shell): string {
  switch (node.type) {
    case 'Redirected':
      return withRedirects(node.redirects, shell, (input) =>
        shell.world.walk.node(node.command, input === undefined ? shell : { ...shell, input }),
      );
    case 'Subshell':
      return shell.world.walk.list(node.body, fork(shell));
    case 'BraceGroup':
      return shell.world.walk.list(node.body, shell);
    case 'If':
      return runIf(node, shell);
    case 'Case':
      return runCase(node, shell);
    case 'For':
    case 'Select':
      return runFor(node, shell);
    case 'While':
      return runWhile(node, shell);
    case 'ArithmeticFor':
      checkEndless(!node.test && fills(node.body), shell);
      return shell.world.walk.list(node.body, shell);
    case 'ArithmeticCommand':
      for (const text of node.body.match(/\$\([^(][^)]*\)/g) ?? [])
        shell.world.walk.source(text.slice(2, -1), fork(shell));
      // dash and other small shells know no arithmetic command: `((rm -rf x))` is two subshells there.
      if (looksLikeCommand.test(node.body)) shell.world.walk.source(node.body, fork(shell));
      return '';
    case 'TestCommand':
      walkTest(node.expression, shell);
      return '';
    case 'Function':
      shell.functions.set(node.name.value, node.body);
      return '';
    case 'Coproc':
      return shell.world.walk.node(node.body, fork(shell, { forked: true }));
  }
}

function runFor({ wordlist, name, body }: For | Select, shell: Shell): string {
  const items = wordlist?.flatMap((word) => expandWord(word, shell)) ?? shell.args;
  checkEndless(items.some((item) => /^\d{5,}$/.test(item)) && startsEach(body), shell);
  const outputs = items.filter(sampled).map((value) => {
    shell.variables.setText(name.value, value);
    return shell.world.walk.list(body, shell);
  });
  return outputs.join('');
}

/** Goes on for as long as the loop reads input or shifts arguments. */
function runWhile(node: While, shell: Shell): string {
  checkEndless(digs(node) || (isEndless(node) && fills(node.body)), shell);
  const { walk } = shell.world;
  for (let output = ''; ; ) {
    const before = shell.input.text;
    const left = shell.args.length;
    output += walk.list(node.clause, shell) + walk.list(node.body, shell);
    const reads = shell.input.text !== before && shell.input.text !== '';
    const shifts = shell.args.length < left && shell.args.length > 0;
    if (!reads && !shifts) return output;
  }
}

/** `while true` */
function isEndless({ clause, kind }: While): boolean {
  const [only, more] = clause.commands;
  if (!only || more || only.command.type === 'AndOr') return false;
  return isConstant(only.command, kind === 'while' ? 'true' : 'false');
}

/** `while mkdir x && cd x` goes one folder deeper for ever. */
function digs({ clause }: While): boolean {
  const [only] = clause.commands;
  return only?.command.type === 'AndOr' && only.command.commands.map(firstWord).join(' ') === 'mkdir cd';
}

function startsEach({ commands }: CompoundList): boolean {
  return (
    commands.some(({ background }) => background) &&
    !commands.some(
      ({ command, background }) => !background && /^(wait|sleep|break)$/.test(firstWord(command)),
    )
  );
}

function fills({ commands }: CompoundList): boolean {
  const waiting = commands.filter(({ background }) => !background);
  const words = waiting.map(({ command }) => firstWord(command));
  if (words.some((word) => /^(sleep|break|exit|return|wait|read|test|\[)$/.test(word))) return false;
  if (commands.some(({ command }) => command.type === 'Subshell' && fills(command.body))) return true;
  if (commands.some(({ command }) => command.type !== 'Command')) return false;
  if (
    waiting.length < commands.length ||
    words.some((word) => /^(mkdir|mktemp|touch|cp|dd|fallocate|truncate)$/.test(word))
  )
    return true;
  return commands.some(
    ({ command }) =>
      command.type === 'Command' &&
      (command.redirects.some(({ operator }) => operator === '>>') || command.prefix.some(doubles)),
  );
}

function checkEndless(endless: boolean, shell: Shell): void {
  if (endless)
    shell.world.note(denial('exhaustion', 'repeats without end or pause', 'Give the loop an end.'));
}

/** `x=$x$x` */
function doubles(item: Command['prefix'][number]): boolean {
  if (item.type !== 'Assignment') return false;
  const { name, value } = item;
  return value.type === 'Word' && value.text.split(`$${name}`).length > 2;
}

function firstWord(node: Statement['command']): string {
  return node.type === 'Command' ? (node.name?.text ?? '') : '';
}

/** Keeps only the first and last of many plain numbers, which name no file. */
function sampled(value: string, index: number, all: readonly string[]): boolean {
  return !/^\d+$/.test(value) || index === 0 || index === all.length - 1;
}

function runIf(node: If, shell: Shell): string {
  const only = node.clause.commands.length === 1 ? node.clause.commands[0]?.command : undefined;
  const constant = (word: 'true' | 'false') =>
    only !== undefined && only.type !== 'AndOr' && isConstant(only, word);
  let output = shell.world.walk.list(node.clause, shell);
  const branches: CompoundList[] = [];
  if (!constant('false')) branches.push(node.then);
  if (!constant('true')) {
    for (const { clause, then } of node.elif) {
      output += shell.world.walk.list(clause, shell);
      branches.push(then);
    }
    if (node.else) branches.push(node.else);
  }
  return output + runBranches(branches, shell);
}

function runCase(node: Case, shell: Shell): string {
  const word = expandText(node.word, shell);
  // In a pattern of `case`, a star also matches a slash and a dot at the start.
  const flat = (text: string) => text.replaceAll('/', '\u0001').replace(/^\./, '\u0002');
  const bodies: CompoundList[] = [];
  for (const { pattern, body, terminator } of node.items) {
    const patterns = pattern.map((one) => expandText(one, shell));
    const isKnown = ![word, ...patterns].some(isOpaque);
    if (isKnown && !patterns.some((one) => mayMatch(flat(one), flat(word)))) continue;
    bodies.push(body);
    if (isKnown && (terminator === ';;' || terminator === undefined)) break;
  }
  return runBranches(bodies, shell);
}

/** Runs all branches; afterwards a variable may have the value that any of them gave it. */
function runBranches(branches: readonly CompoundList[], shell: Shell): string {
  let output = '';
  const ends = branches.map((branch) => {
    const child: Shell = { ...shell, variables: shell.variables.over() };
    output += shell.world.walk.list(branch, child);
    if (child.cwd !== shell.cwd) shell.cwd = child.cwd;
    return child.variables;
  });
  const given = new Map<string, Value>();
  for (const variables of ends) {
    for (const [name, value] of variables.own()) {
      const items = new Set([...(given.get(name)?.items ?? []), ...value.items]);
      given.set(name, { items: [...items], array: value.array });
    }
  }
  for (const [name, value] of given) shell.variables.set(name, value);
  return output;
}

/** Expands all words of a test, for the commands in them. */
function walkTest(node: TestExpression, shell: Shell): void {
  if (node.type === 'TestUnary') expandText(node.operand, shell);
  else if (node.type === 'TestNot') walkTest(node.operand, shell);
  else if (node.type === 'TestGroup') walkTest(node.expression, shell);
  else if (node.type === 'TestLogical') for (const operand of node.operands) walkTest(operand, shell);
  else for (const word of [node.left, node.right]) expandText(word, shell);
}
