import { readArgs } from '../argv.ts';
import { feed } from '../feed.ts';
import { isPlain, UNKNOWN } from '../marks.ts';
import type { Handler, Handlers } from '../model.ts';

const shell: Handler = (call) => {
  const { flags, rest } = readArgs(call.words, { letters: 'oO', long: ['rcfile', 'init-file'], stop: true });
  const [first, ...more] = rest;
  if (flags.has('version') || flags.has('n') || flags.has('help')) return UNKNOWN;
  if (flags.has('c'))
    return feed(call, first ?? '', (text) =>
      call.script(text, { args: more.slice(1), ...(more[0] === undefined ? {} : { zero: more[0] }) }),
    );
  const name = first === undefined || flags.has('s') || first === '-' ? '/dev/stdin' : first;
  if (name === '/dev/stdin') {
    return call.stdin === null
      ? UNKNOWN
      : feed(call, call.stdin, (text) =>
          call.script(text, { args: flags.has('s') ? rest : more, stdin: null }),
        );
  }
  return feed(call, call.content(name), (text) => call.script(text, { args: more }));
};

const at: Handler = (call) => {
  if (call.stdin !== null) feed(call, call.stdin, (text) => call.script(text, { stdin: null }));
  call.act('warn', 'persistence', 'schedules a command for later', 'Run it now.');
  return '';
};

const make: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'fCIjlo', long: ['file', 'makefile', 'directory'] });
  const folder = args.value('C', 'directory');
  const file = args.value('f', 'file', 'makefile');
  const named =
    file ??
    ['GNUmakefile', 'makefile', 'Makefile'].find((name) => call.shell.world.files.has(call.path(name)));
  const text =
    named === '-' || named === '/dev/stdin'
      ? (call.stdin ?? '')
      : named === undefined
        ? ''
        : call.content(named);
  const recipes = text.split('\n').flatMap((line) => {
    if (line.startsWith('\t')) return [line.slice(1).replace(/^[@+-]+/, '')];
    return /^[^\s#=]*:[^=;]*;(.*)$/.exec(line)?.[1] ?? [];
  });
  const script = recipes
    .join('\n')
    .replace(/\$\((\w+)\)/g, '$$$1')
    .replaceAll('$$', '$');
  for (const word of args.rest) {
    const [, value] = /^SHELL=(.*)$/.exec(word) ?? [];
    if (value) call.script(`${value} ''`, { stdin: null });
  }
  if (isPlain(script) && script.trim() === '') return UNKNOWN;
  return feed(call, script, (source) =>
    call.script(source, { stdin: null, ...(folder === undefined ? {} : { cwd: folder }) }),
  );
};

export const shells: Handlers = {
  bash: shell,
  sh: shell,
  zsh: shell,
  dash: shell,
  ksh: shell,
  mksh: shell,
  ash: shell,
  fish: shell,
  rbash: shell,
  at,
  batch: at,
  make,
  gmake: make,
};
