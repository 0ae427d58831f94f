import { readArgs } from '../argv.ts';
import { tryScript } from '../feed.ts';
import { PRIVATE, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { fork, scalar } from '../shell.ts';
import { checkProcess } from './agent-process.ts';
import { checkVariable } from './variables.ts';

type Wrapper = {
  readonly letters?: string;
  readonly long?: readonly string[];
  readonly skip?: number;
  /** Takes a process that runs already by -p or --pid. */
  readonly attaches?: boolean;
};

/** Starts the command that stands after its own options and `skip` words. */
function wrapper({ letters = '', long = [], skip = 0, attaches = false }: Wrapper = {}): Handler {
  return (call) => {
    const args = readArgs(call.words, { letters, long, stop: true });
    if (attaches) for (const target of args.all('p', 'pid')) checkProcess(call, target);
    const inner = args.rest.slice(skip);
    return inner.length === 0 ? '' : call.run(inner);
  };
}

const env: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'uCS', long: ['unset', 'chdir', 'split-string'], stop: true });
  if (args.value('S', 'split-string') !== undefined) return splits(call);
  const rest = args.rest[0] === '-' ? args.rest.slice(1) : [...args.rest];
  const seen = fork(call.seen);
  while (/^[A-Za-z_]\w*=/.test(rest[0] ?? '')) {
    const [name = '', ...value] = (rest.shift() ?? '').split('=');
    checkVariable(name, value.join('='), call);
    seen.variables.set(name, scalar(value.join('=')));
  }
  const folder = args.value('C', 'chdir');
  if (rest.length === 0) return PRIVATE;
  return call.with({ seen }).run(rest, folder === undefined ? {} : { cwd: folder });
};

/** `env -S TEXT` takes the text apart as a shell does; what stands behind it stays as it is. */
function splits(call: Call): string {
  const at = call.words.findIndex((word) => /^(-\w*S|--split-string)/.test(word));
  const [, inline] = /^(?:-\w*S|--split-string=)(.+)$/s.exec(call.words[at] ?? '') ?? [];
  const after = call.words.slice(at + 1);
  const [text = '', ...words] = inline === undefined ? after : [inline, ...after];
  return words.length === 0 ? call.script(text) : call.run([...text.trim().split(/\s+/), ...words]);
}

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
  if ((!looks && !harmlessAsRoot.test(program)) || args.has('S', 'stdin')) {
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

const flock: Handler = (call) => {
  const { values, rest } = readArgs(call.words, { letters: 'cwE', long: ['command', 'timeout'], stop: true });
  for (const command of [...(values.get('c') ?? []), ...(values.get('command') ?? [])]) call.script(command);
  if (rest[1] === '-c') return call.script(rest[2] ?? '');
  return rest.length > 1 ? call.run(rest.slice(1)) : '';
};

/** Where a program lies; one that the command wrote itself is found by its name. */
function placeOf({ shell }: Call, name: string): string {
  const own = [...shell.world.files.keys()].some((path) => path.endsWith(`/${name}`));
  return name.includes('/') || own ? `${name}\n` : `/usr/bin/${name}\n`;
}

const lookUp: Handler = (call) => {
  const args = readArgs(call.words, { stop: true });
  if (args.has('v', 'V')) return placeOf(call, args.rest[0] ?? '');
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

const machine = /^(x86_64|i[3-6]86|aarch64|arm\w*|linux(32|64)|uname26)$/;

const setarch: Handler = (call) => {
  const { rest } = readArgs(call.words, { stop: true });
  if (rest.length === 0) return UNKNOWN;
  return machine.test(rest[0] ?? '') ? setarch(call.with({ words: rest.slice(1) })) : call.run(rest);
};

const many: Handler = (call) => {
  for (const command of readArgs(call.words, { letters: 'ncpl', long: ['names', 'prefix'] }).rest)
    tryScript(call, command);
  return UNKNOWN;
};

const noValue =
  /^--(unshare-.*|share-net|die-with-parent|new-session|as-pid-1|clearenv|disable-userns|assert-userns-disabled)$/;
const twoValues = /^--((ro-|dev-)?bind(-try|-data)?|ro-bind-data|symlink|setenv|file|chmod|overlay)$/;

/** What the sandbox may write under its own name is the world as it is. */
const bwrap: Handler = (call) => {
  const { words } = call;
  let open = false;
  let i = 0;
  for (; words[i]?.startsWith('--'); i++) {
    const word = words[i] ?? '';
    if (word === '--') {
      i++;
      break;
    }
    if (
      /^--(dev-)?bind(-try)?$/.test(word) &&
      call.path(words[i + 1] ?? '') === call.path(words[i + 2] ?? '')
    )
      open = true;
    i += noValue.test(word) ? 0 : twoValues.test(word) ? 2 : 1;
  }
  return open && i < words.length ? call.run(words.slice(i)) : UNKNOWN;
};

const skipNone = wrapper();

/** Programs that run another with something changed. */
export const wrappers: Handlers = {
  env,
  sudo,
  doas: sudo,
  pkexec: sudo,
  su: become,
  runuser: become,
  entr: (call) => {
    const { rest } = readArgs(call.words, { stop: true });
    return rest.length === 0 ? '' : call.run(rest, { stdin: null });
  },
  nodemon: (call) =>
    call.words.includes('--exec') ? call.script(call.words[call.words.indexOf('--exec') + 1] ?? '') : UNKNOWN,
  flock,
  'ssh-agent': (call) => {
    const { rest } = readArgs(call.words, { letters: 'aEtP', stop: true });
    return rest.length === 0 ? UNKNOWN : call.run(rest);
  },
  command: lookUp,
  which: (call) => placeOf(call, call.words.at(-1) ?? ''),
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
  strace: wrapper({ letters: 'aeEIoOpPsSuUX', long: ['attach'], attaches: true }),
  ltrace: wrapper({ letters: 'aeDlnopsuX', attaches: true }),
  valgrind: skipNone,
  perf: (call) =>
    call.words[0] === 'stat' || call.words[0] === 'record'
      ? wrapper({ letters: 'eoFp' })(call.with({ words: call.words.slice(1) }))
      : UNKNOWN,
  catchsegv: skipNone,
  eatmydata: skipNone,
  fakeroot: skipNone,
  bwrap,
  'nix-shell': (call) => {
    for (const code of readArgs(call.words, { letters: 'pIA', long: ['run', 'command'] }).all(
      'run',
      'command',
    ))
      call.script(code);
    return UNKNOWN;
  },
  proot: wrapper({ letters: 'rbwS' }),
  firejail: skipNone,
  caffeinate: wrapper({ letters: 'tw' }),
  'xvfb-run': wrapper({ letters: 'nesfp' }),
  'dbus-run-session': skipNone,
  'systemd-run': (call) => {
    if (call.words.some((word) => /^--(on-|timer-property)/.test(word)))
      call.act('deny', 'persistence', 'schedules a command for later', 'Run it now.');
    return wrapper({ letters: 'pEutHM', long: ['unit', 'property', 'setenv', 'uid', 'on-calendar'] })(call);
  },
  'systemd-inhibit': skipNone,
  prlimit: wrapper({ letters: 'po', long: ['pid'], attaches: true }),
  choom: wrapper({ letters: 'np' }),
  numactl: wrapper({ letters: 'CNmipl' }),
  cpulimit: wrapper({ letters: 'lpePc', long: ['pid'], attaches: true }),
  cgexec: wrapper({ letters: 'g' }),
  faketime: wrapper({ letters: 'fp', skip: 1 }),
  uclampset: wrapper({ letters: 'mMp' }),
  proxychains: wrapper({ letters: 'f' }),
  proxychains4: wrapper({ letters: 'f' }),
  torsocks: wrapper({ letters: 'ap' }),
  ccache: skipNone,
  ifne: skipNone,
  nocache: wrapper({ letters: 'n' }),
  gtime: wrapper({ letters: 'fo', long: ['format', 'output'] }),
  setarch,
  linux32: setarch,
  linux64: setarch,
  shx: busybox,
  chpst: wrapper({ letters: 'uUbeo' }),
  setpriv: (call) => {
    if (call.words.some((word) => /^--(re|ru|e)?uid[= ]?(0|root)?$/.test(word)))
      call.act('deny', 'privilege', 'becomes another user', 'Work as the user that you are.');
    return skipNone(call);
  },
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
  caller: () => '',
};
