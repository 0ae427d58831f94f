import { readArgs } from '../argv.ts';
import { asGlob, asText, mayMatch, PRIVATE, STAR, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { feed, joined } from './shells.ts';
import { checkVariable } from './variables.ts';

type Wrapper = { readonly letters?: string; readonly long?: readonly string[]; readonly skip?: number };

/** Starts the command that stands after its own options and `skip` words. */
function wrapper({ letters = '', long = [], skip = 0 }: Wrapper = {}): Handler {
  return (call) => {
    const { rest } = readArgs(call.words, { letters, long, stop: true });
    const inner = rest.slice(skip);
    return inner.length === 0 ? '' : call.run(inner);
  };
}

const env: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'uCS', long: ['unset', 'chdir', 'split-string'], stop: true });
  const split = args.value('S', 'split-string');
  const rest = [...args.rest];
  while (/^[A-Za-z_]\w*=/.test(rest[0] ?? '')) {
    const [name = '', ...value] = (rest.shift() ?? '').split('=');
    checkVariable(name, value.join('='), call);
  }
  const folder = args.value('C', 'chdir');
  if (split !== undefined) return call.script([split, ...rest].join(' '));
  if (rest.length === 0) return PRIVATE;
  return call.run(rest, folder === undefined ? {} : { cwd: folder });
};

const harmlessAsRoot =
  /^(apt(-get)?|dnf|yum|pacman|apk|brew|zypper|whoami|id|true|journalctl|lsof|ss|netstat|dmesg|ls|-v|-l)$/;

const sudo: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'ugpCrtThUDR',
    long: ['user', 'group', 'prompt', 'host', 'chdir'],
    stop: true,
  });
  const rest = args.rest.filter((word, i) => !(i === 0 && /^\w+=/.test(word)));
  const [program = ''] = rest;
  const looks = args.has('l', 'list', 'v', 'validate', 'k', 'K', 'V', 'version');
  if (!looks && !harmlessAsRoot.test(program)) {
    call.act(
      'deny',
      'privilege',
      `runs ${program || 'a shell'} as another user`,
      'Work without more rights, or ask a person to run it.',
    );
  } else
    call.act(
      'warn',
      'privilege',
      `runs ${program || 'sudo'} with more rights`,
      'Prefer what needs no more rights.',
    );
  return rest.length === 0 ? '' : call.run(rest);
};

const become: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'csgGu', long: ['command', 'shell', 'session-command'] });
  call.act('deny', 'privilege', 'becomes another user', 'Work as the user that you are.');
  for (const command of args.all('c', 'command', 'session-command')) call.script(command);
  return UNKNOWN;
};

const xargs: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'IdEnPsLa',
    long: ['replace', 'delimiter', 'max-args', 'max-procs', 'arg-file', 'max-lines'],
    stop: true,
  });
  const file = args.value('a', 'arg-file');
  const text = file === undefined ? (call.stdin ?? UNKNOWN) : call.content(file);
  const mark = args.value('I', 'replace') ?? (args.has('i', 'replace') ? '{}' : undefined);
  const command = args.rest.length === 0 ? ['echo'] : [...args.rest];
  const byLine = mark !== undefined || args.has('0', 'null') || args.has('d', 'delimiter');
  const items = text
    .split(byLine ? /[\n\0]/ : /\s+/)
    .map((item) => (byLine ? item.trim() : item.replace(/^(['"])(.*)\1$/, '$2').replace(/\\(.)/g, '$1')))
    .filter((item) => item !== '');
  if (items.length === 0) return call.run(command, { stdin: null });
  if (mark === undefined) return call.run([...command, ...items], { stdin: null });
  return items
    .map((item) =>
      call.run(
        command.map((word) => word.replaceAll(mark, () => item)),
        { stdin: null },
      ),
    )
    .join('');
};

/** Tests that pick files by more than their kind. */
const narrow =
  /^-(i?name|i?path|i?wholename|i?regex|newer\w*|[amc](min|time)|size|empty|user|group|perm|links|inum|samefile)$/;

const find: Handler = (call) => {
  const start = call.words.findIndex((word) => /^[-(!,]/.test(word) && !/^-[HLPOD]/.test(word));
  const roots = call.words.slice(0, start === -1 ? undefined : start).filter((word) => !word.startsWith('-'));
  const tests = start === -1 ? [] : call.words.slice(start);
  const found = (roots.length === 0 ? ['.'] : roots).flatMap((root) => foundUnder(root, tests));
  for (let i = 0; i < tests.length; i++) {
    const test = tests[i] ?? '';
    if (test === '-delete') for (const path of found) call.file('delete', path, { recursive: true });
    if (/^-fprintf?0?$|^-fls$/.test(test)) call.file('write', tests[i + 1] ?? '');
    if (!/^-(exec|execdir|ok|okdir)$/.test(test)) continue;
    const end = tests.findIndex((word, at) => at > i && (word === ';' || word === '+'));
    const command = tests.slice(i + 1, end === -1 ? undefined : end);
    for (const path of found)
      call.run(
        command.map((word) => word.replaceAll('{}', () => path)),
        { stdin: null },
      );
    i = end === -1 ? tests.length : end;
  }
  return `${found.join('\n')}\n`;
};

/** Without a test that narrows it down, everything under the root is found, and the root itself. */
function foundUnder(root: string, tests: readonly string[]): string[] {
  const base = root.replace(/\/+$/, '') || '/';
  const names = tests.flatMap((test, i) =>
    /^-i?(name|path|wholename)$/.test(test) && tests[i - 1] !== '!' && tests[i - 1] !== '-not'
      ? [tests[i + 1] ?? '']
      : [],
  );
  const narrowed = tests.some(
    (test, i) =>
      narrow.test(test) &&
      !/^[*]+$/.test(asText(tests[i + 1] ?? '')) &&
      tests[i - 1] !== '!' &&
      tests[i - 1] !== '-not',
  );
  if (!narrowed) return tests.includes('-mindepth') ? [`${base}/${STAR}`] : [root, `${base}/${STAR}`];
  if (names.length === 0) return [`${base}/${UNKNOWN}`];
  const guarded = names.flatMap((name) => /\.(?:claude|ralph|git|codex|ssh)\b/.exec(name)?.[0] ?? []);
  const last = names.map((name) => asGlob(name).replace(/^.*\//, ''));
  const ofLoop = ['.ralph/settings.json', '.ralph/guard.json', '.claude/settings.json'].filter((path) =>
    last.some((name) => !tests.includes('-prune') && mayMatch(name, path.slice(path.indexOf('/') + 1))),
  );
  return [
    ...(/^\.$|^\.\/$/.test(root) && last.every((name) => !name.startsWith(STAR)) ? ofLoop : []),
    ...last.map((name) => `${base}/${UNKNOWN}/${name}`),
    ...guarded.flatMap((folder) => last.map((name) => `${base}/${folder}/${name}`)),
  ];
}

const fd: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'etEdSj',
    long: ['exec', 'exec-batch', 'type', 'extension', 'exclude', 'max-depth'],
    stop: false,
  });
  const at = call.words.findIndex((word) => /^(-x|-X|--exec|--exec-batch)$/.test(word));
  const [, root = '.'] = readArgs(call.words.slice(0, at === -1 ? undefined : at), {
    letters: 'etEdSj',
  }).rest;
  const vague = /^(\.|\.\*|)$/.test(args.rest[0] ?? '') && !args.has('e', 'extension');
  const path = vague ? `${root}/${STAR}` : `${root}/${UNKNOWN}`;
  if (at === -1) return `${path}\n`;
  const command = call.words.slice(at + 1);
  call.run(
    command.includes('{}') ? command.map((word) => word.replaceAll('{}', () => path)) : [...command, path],
  );
  return UNKNOWN;
};

const ssh: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'bcDEeFIiJLlmOopQRSWw', stop: true });
  const [host = '', ...command] = args.rest;
  if (args.has('R'))
    call.act('deny', 'remote-shell', `opens a tunnel from ${host} into this machine`, 'Do not open tunnels.');
  if (args.has('D'))
    call.act('warn', 'remote-shell', `opens a proxy through ${host}`, 'Do not open tunnels.');
  for (const option of args.all('o')) {
    const [, proxy] = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ](.*)$/i.exec(option) ?? [];
    if (proxy && proxy !== 'none') call.script(proxy);
  }
  if (call.stdin !== null && /^(ba|z|da)?sh$/.test(command[0] ?? 'sh'))
    feed(call, call.stdin, (text) => call.script(text));
  return command.length === 0 ? UNKNOWN : joined(call, command);
};

const watch: Handler = (call) => {
  const { rest } = readArgs(call.words, { letters: 'nd', long: ['interval'], stop: true });
  return rest.length === 0 ? '' : joined(call, rest);
};

const parallel: Handler = (call) => {
  const at = call.words.findIndex((word) => /^::::?\+?$/.test(word));
  const { rest } = readArgs(call.words.slice(0, at === -1 ? undefined : at), {
    letters: 'jNI',
    long: ['jobs'],
    stop: true,
  });
  const items = at === -1 ? (call.stdin ?? UNKNOWN).split('\n').filter(Boolean) : call.words.slice(at + 1);
  for (const item of items.length === 0 ? [''] : items) {
    const command = rest.join(' ');
    feed(call, command.includes('{}') ? command.replaceAll('{}', () => item) : `${command} ${item}`, (text) =>
      call.script(text),
    );
  }
  return UNKNOWN;
};

const script: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'cEIOBTm', long: ['command'] });
  for (const command of args.all('c', 'command')) call.script(command);
  for (const path of args.rest) call.file('write', path);
  return UNKNOWN;
};

const flock: Handler = (call) => {
  const { values, rest } = readArgs(call.words, { letters: 'cwE', long: ['command', 'timeout'], stop: true });
  for (const command of [...(values.get('c') ?? []), ...(values.get('command') ?? [])]) call.script(command);
  if (rest[1] === '-c') return call.script(rest[2] ?? '');
  return rest.length > 1 ? call.run(rest.slice(1)) : '';
};

const tmux: Handler = (call) => {
  const [action = '', ...words] = call.words.filter((word, i) => !(i < 2 && /^-[LSf]/.test(word)));
  const { rest } = readArgs(words, { letters: 'tsncFxyel' });
  if (action === 'send-keys' || action === 'send') {
    const typed = rest.filter((word) => !/^(Enter|C-m|C-c|Escape|Space)$/.test(word)).join(' ');
    // Keys are not always a command: what does not parse is typed into some other program.
    if (/^[\w./~$("'-]+\s/.test(typed)) tryScript(call, typed);
    return '';
  }
  if (
    /^(new(-session|-window)?|neww|split(-window|w)?|respawn-(pane|window)|run(-shell)?|if(-shell)?|display-popup|popup|pipe-pane)$/.test(
      action,
    )
  ) {
    for (const command of rest) tryScript(call, command);
  }
  if (/^kill-server$/.test(action))
    call.act(
      'deny',
      'process',
      'ends every tmux session of the user',
      'End the one session that you started.',
    );
  return UNKNOWN;
};

function tryScript(call: Call, text: string): void {
  if (text.includes(' ')) feed(call, text, (source) => call.script(source));
}

const editor: Handler = (call) => {
  call.words.forEach((word, i) => {
    const before = call.words[i - 1] ?? '';
    const command = /^(-\w*c|--cmd|-S)$/.test(before) ? word : /^\+(.+)$/.exec(word)?.[1];
    const [, shellCommand] =
      /^(?:silent\s*|exe(?:cute)?\s*["']?)?[!]\s*(.+)$/s.exec(command ?? '') ??
      /^:?!(.+)$/s.exec(command ?? '') ??
      /\bsystem\(["'](.+)["']\)/.exec(command ?? '') ??
      [];
    if (shellCommand) call.script(shellCommand);
    const [, target] = /^w!?\s+(\S+)/.exec(command ?? '') ?? [];
    if (target) call.file('write', target);
  });
  const [, inside] = /^!(.+)$/m.exec(call.stdin ?? '') ?? [];
  if (call.name === 'ed' && inside) call.script(inside);
  for (const path of call.words)
    if (/[/~]/.test(path) && !path.startsWith('-') && !path.startsWith('+')) call.file('read', path);
  return UNKNOWN;
};

const lookUp: Handler = (call) => {
  const args = readArgs(call.words, { stop: true });
  if (args.has('v', 'V')) return `${args.rest[0] ?? ''}\n`;
  return args.rest.length === 0 ? '' : call.run(args.rest);
};

const unshare: Handler = (call) => {
  const { rest } = readArgs(call.words, {
    letters: 'SGRw',
    long: ['setuid', 'setgid', 'root', 'wd'],
    stop: true,
  });
  return rest.length === 0 ? UNKNOWN : call.run(rest);
};

const busybox: Handler = (call) =>
  call.words.length === 0 || call.words[0]?.startsWith('-') ? UNKNOWN : call.run(call.words);

const expect: Handler = (call) => {
  const code = readArgs(call.words, { letters: 'cf' }).value('c') ?? '';
  for (const [, command = ''] of code.matchAll(/\b(?:spawn|exec|system)\s+([^;\n]+)/g)) call.script(command);
  return UNKNOWN;
};

const gdb: Handler = (call) => {
  call.words.forEach((word, i) => {
    const [, command] = /^(?:shell|!)\s*(.+)$/s.exec(word) ?? [];
    if (command && /^-?-(ex|eval-command)$/.test(call.words[i - 1] ?? '')) call.script(command);
  });
  const at = call.words.indexOf('--args');
  return at === -1 ? UNKNOWN : call.run(call.words.slice(at + 1));
};

const many: Handler = (call) => {
  for (const command of readArgs(call.words, { letters: 'ncpl', long: ['names', 'prefix'] }).rest)
    tryScript(call, command);
  return UNKNOWN;
};

const skipNone = wrapper();

export const wrappers: Handlers = {
  env,
  sudo,
  doas: sudo,
  pkexec: sudo,
  su: become,
  runuser: become,
  xargs,
  gxargs: xargs,
  find,
  gfind: find,
  fd,
  fdfind: fd,
  ssh,
  mosh: ssh,
  autossh: ssh,
  watch,
  entr: (call) => {
    const { rest } = readArgs(call.words, { stop: true });
    return rest.length === 0 ? '' : call.run(rest, { stdin: null });
  },
  nodemon: (call) =>
    call.words.includes('--exec') ? call.script(call.words[call.words.indexOf('--exec') + 1] ?? '') : UNKNOWN,
  parallel,
  script,
  flock,
  tmux,
  screen: (call) => {
    const { rest } = readArgs(call.words, { letters: 'SXcehptT', stop: true });
    return rest.length === 0 ? UNKNOWN : call.run(rest);
  },
  vim: editor,
  vi: editor,
  nvim: editor,
  ex: editor,
  ed: editor,
  emacs: editor,
  nano: editor,
  command: lookUp,
  builtin: skipNone,
  nohup: skipNone,
  setsid: wrapper({ letters: '' }),
  time: wrapper({ letters: 'fo', long: ['format', 'output'] }),
  nice: wrapper({ letters: 'n', long: ['adjustment'] }),
  ionice: wrapper({ letters: 'cnpPu' }),
  chrt: wrapper({ letters: 'TPD', skip: 1 }),
  taskset: wrapper({ letters: 'p', skip: 1 }),
  timeout: wrapper({ letters: 'sk', long: ['signal', 'kill-after'], skip: 1 }),
  gtimeout: wrapper({ letters: 'sk', long: ['signal', 'kill-after'], skip: 1 }),
  stdbuf: wrapper({ letters: 'ioe', long: ['input', 'output', 'error'] }),
  unbuffer: skipNone,
  strace: wrapper({ letters: 'aeEIoOpPsSuUX' }),
  ltrace: wrapper({ letters: 'aeDlnopsuX' }),
  valgrind: skipNone,
  perf: (call) =>
    call.words[0] === 'stat' || call.words[0] === 'record'
      ? wrapper({ letters: 'eoFp' })({ ...call, words: call.words.slice(1) })
      : UNKNOWN,
  catchsegv: skipNone,
  eatmydata: skipNone,
  fakeroot: skipNone,
  proot: wrapper({ letters: 'rbwS' }),
  firejail: skipNone,
  caffeinate: wrapper({ letters: 'tw' }),
  'xvfb-run': wrapper({ letters: 'nesfp' }),
  'dbus-run-session': skipNone,
  'systemd-run': wrapper({ letters: 'pEutHM', long: ['unit', 'property', 'setenv', 'uid', 'on-calendar'] }),
  'systemd-inhibit': skipNone,
  chpst: wrapper({ letters: 'uUbeo' }),
  setpriv: skipNone,
  unshare,
  'start-stop-daemon': (call) => {
    const at = call.words.findIndex((word) => /^(--exec|-x|--startas|-a)$/.test(word));
    const dash = call.words.indexOf('--');
    return at === -1
      ? UNKNOWN
      : call.run([call.words[at + 1] ?? '', ...(dash === -1 ? [] : call.words.slice(dash + 1))]);
  },
  'run-parts': () => UNKNOWN,
  'ld-linux-x86-64.so.2': skipNone,
  'ld.so': skipNone,
  busybox,
  toybox: busybox,
  rlwrap: skipNone,
  chronic: skipNone,
  ts: skipNone,
  hyperfine: many,
  concurrently: many,
  'npm-run-all': () => UNKNOWN,
  'cross-env': env,
  'env-cmd': wrapper({ letters: 'fe' }),
  dotenv: wrapper({ letters: 'efvp' }),
  direnv: (call) => (call.words[0] === 'exec' ? call.run(call.words.slice(2)) : UNKNOWN),
  expect,
  gdb,
  lldb: gdb,
  man: (call) => {
    const pager = readArgs(call.words, { letters: 'PMS', long: ['pager'] }).value('P', 'pager');
    if (pager) call.script(pager);
    return UNKNOWN;
  },
  caller: () => '',
};
