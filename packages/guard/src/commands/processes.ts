import { readArgs } from '../argv.ts';
import { askPerson } from '../categories.ts';
import { PRIVATE, parentProcess, shown, UNKNOWN } from '../marks.ts';
import type { Handler, Handlers } from '../model.ts';
import { agent, checkProcess } from './agent-process.ts';
import { always, asksHelp, byName, when } from './rules.ts';

const kill: Handler = (call) => {
  if (call.words.some((word) => /^-(l|L|-list)$/.test(word))) return UNKNOWN;
  const [first = ''] = call.words;
  const targets = call.words.filter(
    (word, i) =>
      !(i === 0 && /^-([A-Z]+|\d+)$/i.test(first) && call.words.length > 1) &&
      !/^-[sn]$/.test(word) &&
      !/^(SIG)?(TERM|KILL|HUP|INT|STOP|USR[12])$/.test(word),
  );
  for (const target of targets) checkProcess(call, target);
  return '';
};

/** The loop, its agent, and what a session of the user lives in. */
const vital =
  /^\W*(ralph|swarm|claude|codex|gemini|opencode|amp|copilot|qwen|tmux|screen|sshd?|systemd|init|dbus\S*|x?org|gnome\S*|bash|zsh|sh|node|dockerd|containerd|postgres|mysqld|\.\*|\.)\b/i;

/** Also at the end of a path or after a program that starts it. */
const ownAgent = /(^|[/\s*])(ralph|claude|codex|opencode)(\s|$)/;

const killByName: Handler = (call) => {
  const args = readArgs(call.words, 'usgtGUPF', 'user signal uid euid parent');
  const names = args.rest.filter((word) => !/^-/.test(word));
  for (const parent of args.all('P', 'parent')) checkProcess(call, parent);
  // Signal 0 only asks whether they are there.
  if (args.has('l', 'list', '0')) return UNKNOWN;
  if (args.has('u', 'user', 'U', 'uid') && names.length === 0)
    call.deny('process', 'ends all processes of a user');
  for (const name of names) {
    if (
      (vital.test(name) || ownAgent.test(name) || /^\W+$/.test(name)) &&
      !(/\s/.test(name.trim()) && /^\W*(node|bash|sh)\b/.test(name))
    )
      call.deny('process', `ends every process called ${shown(name)}`);
  }
  return '';
};

const findProcess: Handler = ({ words }) => {
  const name = readArgs(words, 'uPgG').rest[0] ?? '';
  return `${agent.test(name) ? name.replace(/\s+/g, '-') : UNKNOWN}\n`;
};

const services: Handler = (call) => {
  const args = readArgs(call.words, 'pHMtn');
  const [action = ''] = args.rest;
  if (asksHelp(call)) return UNKNOWN;
  if (
    /^(enable|reenable|link|edit|set-default|add-wants|import-environment|set-environment|set-property)$/.test(
      action,
    )
  )
    call.deny('persistence', 'makes a program start by itself', 'Start it in this session.');
  else if (
    /^(start|stop|restart|reload|disable|mask|unmask|kill|isolate|poweroff|reboot|halt|suspend|hibernate|rescue|emergency|kexec|soft-reboot|daemon-reload|daemon-reexec|revert)$/.test(
      action,
    )
  ) {
    call.deny(
      'system-config',
      `${action}s a service of the system`,
      'Start what you need as a process of your own.',
    );
  }
};

const service: Handler = (call) => {
  if (/^(start|stop|restart|reload|force-reload)$/.test(call.words[1] ?? ''))
    call.deny(
      'system-config',
      'changes a service of the system',
      'Start what you need as a process of your own.',
    );
};

const crontab: Handler = (call) => {
  if (call.words.includes('-l')) return UNKNOWN;
  call.deny(
    call.words.includes('-r') ? 'system-config' : 'persistence',
    'changes what runs by itself at fixed times',
    'Run it now.',
  );
  return '';
};

const sysctl: Handler = (call) => {
  const changes = call.words.some(
    (word) => /^(-w|--write|-p|--load|--system)/.test(word) || /^[\w.]+=/.test(word),
  );
  if (changes) call.deny('process', 'changes the kernel', askPerson);
};

/** Processes, the kernel, and what starts by itself. */
export const processes: Handlers = byName({
  kill,
  'pkill killall skill': killByName,
  killall5: always('process', 'ends all processes', 'End the process that you started, by its id.'),
  loginctl: (call) =>
    call.words[0] === 'enable-linger'
      ? always('persistence', 'lets programs go on when the user has left')(call)
      : when(/^(terminate|kill)-/, 'process', 'ends sessions of users')(call),
  fuser: (call) => {
    const args = readArgs(call.words);
    const wide =
      args.has('m', 'mount') ||
      args.rest.some((word) => /^\/|^([1-9]\d{0,2}|10[01]\d|102[0-3])\/(tcp|udp)$/.test(word));
    if (args.has('k', 'kill') && wide) call.deny('process', 'ends programs of the system');
  },
  xkill: always('process', 'ends a program that is not known yet'),
  journalctl: when(/--(vacuum|rotate|flush)/, 'destructive-files', 'deletes the log of the system'),
  auditctl: when(/(^|\s)-(e|D|a|w|d|W|R)\b/, 'system-config', 'changes what the system records'),
  renice: (call) => {
    for (const target of readArgs(call.words, 'n').rest) if (target !== '0') checkProcess(call, target);
  },
  ps: ({ words }) =>
    words.some((word) => /^(-o)?ppid=?$/.test(word))
      ? `${parentProcess}\n`
      : words.some((word) => agent.test(word))
        ? `${words.find((word) => agent.test(word))}\n`
        : words.some((word) => /^[a-z]*e[a-z]*$/.test(word))
          ? PRIVATE
          : /(^|\s)-?\w*[eA]\w*o\s*pid=?(\s|$)/.test(words.join(' '))
            ? `1\n${UNKNOWN}\n`
            : UNKNOWN,
  'pgrep pidof': findProcess,
  'reboot shutdown halt poweroff init telinit kexec': always('process', 'stops the machine'),
  'insmod rmmod modprobe swapoff depmod bpftool setenforce': always('process', 'changes the kernel'),
  sysctl,
  systemctl: services,
  service,
  supervisorctl: when(
    /^(stop|shutdown|restart|remove|reload)\b/,
    'system-config',
    'changes services of the system',
  ),
  'rc-update': always('persistence', 'makes a program start by itself'),
  'update-rc.d': always('persistence', 'makes a program start by itself'),
  chkconfig: always('persistence', 'makes a program start by itself'),
  launchctl: (call) =>
    /^(list|print|blame)$/.test(call.words[0] ?? '')
      ? UNKNOWN
      : always('persistence', 'changes what starts by itself')(call),
  crontab,
  schtasks: when(/\/(create|change)/i, 'persistence', 'makes a program start by itself'),
  hping3: when(/--flood\b/, 'exhaustion', 'floods another machine', 'Send a few packets.'),
  stress: always('exhaustion', 'uses up the machine', 'Measure with a small load.'),
  'stress-ng': always('exhaustion', 'uses up the machine', 'Measure with a small load.'),
});
