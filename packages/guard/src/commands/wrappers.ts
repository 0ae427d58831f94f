import { readArgs, readLeadingArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { tryScript } from '../feed.ts';
import { PRIVATE, UNKNOWN } from '../marks.ts';
import { fork } from '../shell.ts';
import { checkProcess } from './processes.ts';
import { byName } from './rules.ts';
import { checkVariable } from './variables.ts';

function wrapper(letters = '', long = '', skip = 0): Handler {
  return (call) => call.run(readLeadingArgs(call.words, letters, long).rest.slice(skip));
}

/** A wrapper that also takes a process that runs already, by -p or --pid. */
function attacher(letters: string, long = ''): Handler {
  const start = wrapper(letters, long);
  return (call) => {
    for (const target of readLeadingArgs(call.words, letters, long).all('p', 'pid'))
      checkProcess(call, target);
    return start(call);
  };
}

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

function placeOf({ shell }: Call, name: string): string {
  const own = [...shell.world.files.keys()].some((path) => path.endsWith(`/${name}`));
  return name.includes('/') || own ? `${name}\n` : `/usr/bin/${name}\n`;
}

const machine = /^(x86_64|i[3-6]86|aarch64|arm\w*|linux(32|64)|uname26)$/;

const setarch: Handler = (call) => {
  const { rest } = readLeadingArgs(call.words);
  if (rest.length === 0) return UNKNOWN;
  return machine.test(rest[0] ?? '') ? setarch(call.with({ words: rest.slice(1) })) : call.run(rest);
};

const noValue =
  /^--(unshare-.*|share-net|die-with-parent|new-session|as-pid-1|clearenv|disable-userns|assert-userns-disabled)$/;
const twoValues = /^--((ro-|dev-)?bind(-try|-data)?|ro-bind-data|symlink|setenv|file|chmod|overlay)$/;
const plain = wrapper();

export const wrappers: Handlers = byName({
  'env cross-env': (call) => {
    const args = readLeadingArgs(call.words, 'uCS', 'unset chdir split-string');
    if (args.value('S', 'split-string') !== undefined) return splits(call);
    const rest = args.rest[0] === '-' ? args.rest.slice(1) : [...args.rest];
    const view = fork(call.seen);
    while (/^[A-Za-z_]\w*=/.test(rest[0] ?? '')) {
      const [name = '', ...value] = (rest.shift() ?? '').split('=');
      checkVariable(name, value.join('='), call);
      view.variables.setText(name, value.join('='));
    }
    const folder = args.value('C', 'chdir');
    if (rest.length === 0) return PRIVATE;
    return call.with({ seen: view }).run(rest, folder === undefined ? {} : { cwd: folder });
  },
  'sudo doas pkexec': (call) => {
    const args = readLeadingArgs(call.words, 'ugpCrtThUDR', 'user group prompt host chdir');
    const rest = args.rest.filter((word, i) => !(i === 0 && /^\w+=/.test(word)));
    const [program = ''] = rest;
    const looks = args.has('l', 'list', 'v', 'validate', 'k', 'K', 'V', 'version');
    const ask = 'Work without more rights, or ask a person to run it.';
    if ((!looks && !harmlessAsRoot.test(program)) || args.has('S', 'stdin'))
      call.deny('privilege', `runs ${program || 'a shell'} as another user`, ask);
    else {
      const what = `runs ${program || 'sudo'} with more rights`;
      call.warn('privilege', what, 'Prefer what needs no more rights.');
    }
    return call.run(rest);
  },
  'su runuser': (call) => {
    const args = readArgs(call.words, 'csgGu', 'command shell session-command');
    call.deny('privilege', 'becomes another user', 'Work as the user that you are.');
    for (const command of args.all('c', 'command', 'session-command')) call.script(command);
  },
  entr: (call) => call.run(readLeadingArgs(call.words).rest, { stdin: null }),
  nodemon: (call) =>
    call.words.includes('--exec') ? call.script(call.words[call.words.indexOf('--exec') + 1] ?? '') : UNKNOWN,
  flock: (call) => {
    const args = readLeadingArgs(call.words, 'cwE', 'command timeout');
    for (const command of args.all('c', 'command')) call.script(command);
    const [, first, script = ''] = args.rest;
    return first === '-c' ? call.script(script) : call.run(args.rest.slice(1));
  },
  command: (call) => {
    const args = readLeadingArgs(call.words);
    return args.has('v', 'V') ? placeOf(call, args.rest[0] ?? '') : call.run(args.rest);
  },
  which: (call) => placeOf(call, call.words.at(-1) ?? ''),
  'builtin nohup setsid unbuffer valgrind catchsegv eatmydata fakeroot firejail dbus-run-session': plain,
  'systemd-inhibit ccache ifne ld-linux-x86-64.so.2 ld.so rlwrap chronic ts': plain,
  'time gtime': wrapper('fo', 'format output'),
  'timeout gtimeout': wrapper('sk', 'signal kill-after', 1),
  nice: wrapper('n', 'adjustment'),
  ionice: wrapper('cnpPu'),
  chrt: wrapper('TPD', '', 1),
  taskset: wrapper('p', '', 1),
  stdbuf: wrapper('ioe', 'input output error'),
  strace: attacher('aeEIoOpPsSuUX', 'attach'),
  ltrace: attacher('aeDlnopsuX'),
  prlimit: attacher('po', 'pid'),
  cpulimit: attacher('lpePc', 'pid'),
  perf: (call) =>
    /^(stat|record)$/.test(call.words[0] ?? '')
      ? wrapper('eoFp')(call.with({ words: call.words.slice(1) }))
      : UNKNOWN,
  // A folder bound to its own path is the real one, so the command is judged.
  bwrap: (call) => {
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
  },
  'nix-shell': (call) => {
    for (const code of readArgs(call.words, 'pIA', 'run command').all('run', 'command')) call.script(code);
  },
  proot: wrapper('rbwS'),
  caffeinate: wrapper('tw'),
  'xvfb-run': wrapper('nesfp'),
  'ssh-agent': wrapper('aEtP'),
  unshare: wrapper('SGRw', 'setuid setgid root wd'),
  'systemd-run': (call) => {
    if (call.words.some((word) => /^--(on-|timer-property)/.test(word)))
      call.deny('persistence', 'schedules a command for later', 'Run it now.');
    return wrapper('pEutHM', 'unit property setenv uid on-calendar')(call);
  },
  choom: wrapper('np'),
  numactl: wrapper('CNmipl'),
  cgexec: wrapper('g'),
  faketime: wrapper('fp', '', 1),
  uclampset: wrapper('mMp'),
  'proxychains proxychains4': wrapper('f'),
  torsocks: wrapper('ap'),
  nocache: wrapper('n'),
  'setarch linux32 linux64': setarch,
  chpst: wrapper('uUbeo'),
  setpriv: (call) => {
    if (call.words.some((word) => /^--(re|ru|e)?uid[= ]?(0|root)?$/.test(word)))
      call.deny('privilege', 'becomes another user', 'Work as the user that you are.');
    return plain(call);
  },
  'start-stop-daemon': (call) => {
    const at = call.words.findIndex((word) => /^(--exec|-x|--startas|-a)$/.test(word));
    const dash = call.words.indexOf('--');
    return at === -1
      ? UNKNOWN
      : call.run([call.words[at + 1] ?? '', ...(dash === -1 ? [] : call.words.slice(dash + 1))]);
  },
  'busybox toybox shx': (call) =>
    call.words.length === 0 || call.words[0]?.startsWith('-') ? UNKNOWN : call.run(call.words),
  'hyperfine concurrently': (call) => {
    for (const command of readArgs(call.words, 'ncpl', 'names prefix').rest) tryScript(call, command);
  },
  'env-cmd': wrapper('fe'),
  dotenv: wrapper('efvp'),
  direnv: (call) => (call.words[0] === 'exec' ? call.run(call.words.slice(2)) : UNKNOWN),
  'run-parts npm-run-all': () => UNKNOWN,
  caller: () => '',
});
