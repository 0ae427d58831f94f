import { readArgs, readLeadingArgs } from '../argv.ts';
import type { Handlers } from '../call.ts';
import { feed, runsSecret } from '../feed.ts';
import { isPlain, NETWORK, UNKNOWN } from '../marks.ts';
import { byName } from './rules.ts';

/** Returns the rules of a downloaded Makefile; those of an existing one are unknown and the project's own. */
function fetchedRules(content: string): string {
  return content === NETWORK ? `all:\n\t${NETWORK}` : '';
}

function atOnce(text: string): string[] {
  return [...text.matchAll(/\$\(shell\s+([^()]*)\)|^\w+\s*!=\s*(.+)$/gm)].map(
    ([, inline, line]) => inline ?? line ?? '',
  );
}

type Rule = { readonly needs: readonly string[]; readonly lines: string[] };

/** The recipes of the goals and of what they need; all recipes where a goal is not to be found by its name. */
function recipesOf(text: string, goals: readonly string[]): string[] {
  const rules = new Map<string, Rule>();
  let current: Rule = { needs: [], lines: [] };
  for (const line of text.replace(/\\\n\s*/g, ' ').split('\n')) {
    if (line.startsWith('\t')) current.lines.push(line.slice(1).replace(/^[@+-]+/, ''));
    const [, names, needs = '', first] = /^([^\s#=:][^#=:]*)::?(?!=)([^=;]*)(?:;(.*))?$/.exec(line) ?? [];
    if (names === undefined) continue;
    current = { needs: needs.trim().split(/\s+/), lines: first === undefined ? [] : [first] };
    for (const name of names.trim().split(/\s+/)) rules.set(name, current);
  }
  const first = [...rules.keys()].find((name) => !name.startsWith('.'));
  const wanted = new Set(goals.length > 0 || first === undefined ? goals : [first]);
  if (![...wanted].every((name) => rules.has(name))) return [...rules.values()].flatMap(({ lines }) => lines);
  for (const name of wanted) for (const need of rules.get(name)?.needs ?? []) wanted.add(need);
  return [...new Set([...wanted].map((name) => rules.get(name)))].flatMap((rule) => rule?.lines ?? []);
}

export const shells: Handlers = byName({
  'bash sh zsh dash ksh mksh ash fish rbash csh tcsh yash osh nu xonsh elvish': (call) => {
    // `+x` takes an option back.
    const words = call.words[0]?.startsWith('+')
      ? call.words.filter((word) => !/^\+\w$/.test(word))
      : call.words;
    const args = readLeadingArgs(words, 'oO', 'rcfile init-file');
    const { flags, rest } = args;
    const [first, ...more] = rest;
    const isSet = (letter: string, option: string) => flags.has(letter) || args.all('o').includes(option);
    const start = isSet('x', 'xtrace') ? 'set -x\n' : isSet('v', 'verbose') ? 'set -v\n' : '';
    if (flags.has('version') || flags.has('n') || flags.has('help')) return UNKNOWN;
    for (const file of args.all('rcfile', 'init-file'))
      feed(call, call.content(file), (text) => call.script(text, { stdin: null }));
    if (flags.has('c'))
      return feed(call, first ?? '', (text) =>
        call.script(start + text, {
          args: more.slice(1),
          ...(more[0] === undefined ? {} : { zero: more[0] }),
        }),
      );
    const name = first === undefined || flags.has('s') || first === '-' ? '/dev/stdin' : first;
    if (name === '/dev/stdin') {
      return call.stdin === null
        ? UNKNOWN
        : feed(call, call.stdin, (text) =>
            call.script(start + text, { args: flags.has('s') ? rest : more, stdin: null }),
          );
    }
    runsSecret(call, name, start !== '');
    return feed(call, call.content(name), (text) => call.script(start + text, { args: more, zero: name }));
  },
  'at batch': (call) => {
    if (call.stdin !== null) feed(call, call.stdin, (text) => call.script(text, { stdin: null }));
    if (!call.words.some((word) => /^-[lrdcVh]/.test(word)))
      call.deny('persistence', 'schedules a command for later', 'Run it now.');
    return '';
  },
  'make gmake': (call) => {
    const args = readArgs(call.words, 'fCIlo', 'file makefile directory eval');
    const folder = args.value('C', 'directory');
    const file = args.value('f', 'file', 'makefile');
    const named =
      file ??
      ['GNUmakefile', 'makefile', 'Makefile'].find((name) => call.shell.world.files.has(call.path(name)));
    const rules =
      named === '-' || named === '/dev/stdin'
        ? (call.stdin ?? '')
        : named === undefined
          ? fetchedRules(call.content('Makefile'))
          : call.content(named);
    const text = [...args.all('eval'), rules].join('\n').trimStart();
    if (text === '' && !args.rest.some((word) => word.includes('='))) return UNKNOWN;
    if (text.includes(NETWORK)) return feed(call, NETWORK, () => UNKNOWN);
    const defined = new Map(
      [...text.matchAll(/^(\w+)\s*[:?]?:?=[ \t]*(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    for (const word of args.rest) {
      const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(word) ?? [];
      if (name !== undefined) defined.set(name, value);
    }
    const goals = args.rest.filter((word) => !/=|^\d+$/.test(word));
    const script = [...atOnce(text), ...recipesOf(text, goals)]
      .join('\n')
      .replace(/\$[({](\w+)[)}]/g, (_, name: string) => defined.get(name) ?? `$${name}`)
      .replaceAll('$$', '$');
    for (const word of args.rest) {
      const [, value] = /^SHELL=(.*)$/.exec(word) ?? [];
      if (value) call.script(`${value} ''`, { stdin: null });
    }
    if (isPlain(script) && script.trim() === '') return UNKNOWN;
    return feed(call, script, (source) =>
      call.script(source, { stdin: null, ...(folder === undefined ? {} : { cwd: folder }) }),
    );
  },
});
