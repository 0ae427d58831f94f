import { readArgs } from '../argv.ts';
import type { Call, Handlers } from '../call.ts';
import { hasGlob, PRIVATE, parentProcess, show, UNKNOWN } from '../marks.ts';
import { always, byName, denying } from './rules.ts';

const agent = /ralph|claude|codex|gemini|opencode|swarm/;

/** Denies to end, stop or attach to the agent, its loop or all processes. */
export function checkProcess(call: Call, target: string): void {
  const all = hasGlob(target) || (target.includes(UNKNOWN) && listsProc(call));
  if (target === '1' || target === '-1' || target === '0' || all)
    call.deny('process', target === '1' ? 'ends the first process' : 'ends all processes of the user');
  if (target === parentProcess || agent.test(target) || (target.includes(UNKNOWN) && soughtAgent(call)))
    call.deny('process', 'ends the agent or its loop', 'Finish the task instead.');
}

function listsProc({ shell }: Call): boolean {
  return shell.world.steps.some(
    ({ words }) => words[0] === 'ls' && words.some((word) => /^\/proc\/?$/.test(word)),
  );
}

function soughtAgent({ shell }: Call): boolean {
  const { steps, effects } = shell.world;
  if (effects.some((effect) => effect.kind === 'read' && /\/\.ralph\/|\/state\/ralph\//.test(effect.path)))
    return true;
  return (
    steps.some(({ words }) => words[0] === 'ps') &&
    steps.some(
      ({ words }) =>
        /^([efrz]?grep|rg|g?awk|sed)$/.test(words[0] ?? '') &&
        words.slice(1).some((word) => agent.test(word.replace(/[[\]]/g, ''))) &&
        !words.includes('-v'),
    )
  );
}

const vital =
  /^\W*(ralph|swarm|claude|codex|gemini|opencode|amp|copilot|qwen|tmux|screen|sshd?|systemd|init|dbus\S*|x?org|gnome\S*|bash|zsh|sh|node|dockerd|containerd|postgres|mysqld|\.\*|\.)\b/i;

/** Also at the end of a path or after a program that starts it. */
const ownAgent = /(^|[/\s*])(ralph|claude|codex|opencode)(\s|$)/;

export const processes: Handlers = byName(
  {
    kill: (call) => {
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
    },
    'pkill killall skill': (call) => {
      const args = readArgs(call.words, 'usgtGUPF', 'user signal uid euid parent');
      const names = args.rest.filter((word) => !/^-/.test(word));
      for (const parent of args.all('P', 'parent')) checkProcess(call, parent);
      // Signal 0 only asks whether they are there.
      if (args.has('l', 'list', '0')) return UNKNOWN;
      if (args.has('u', 'user', 'U', 'uid') && names.length === 0)
        call.deny('process', 'ends all processes of a user');
      for (const name of names) {
        const startsOther = /\s/.test(name.trim()) && /^\W*(node|bash|sh)\b/.test(name);
        if ((vital.test(name) || ownAgent.test(name) || /^\W+$/.test(name)) && !startsOther)
          call.deny('process', `ends every process called ${show(name)}`);
      }
      return '';
    },
    fuser: (call) => {
      const args = readArgs(call.words);
      const wide =
        args.has('m', 'mount') ||
        args.rest.some((word) => /^\/|^([1-9]\d{0,2}|10[01]\d|102[0-3])\/(tcp|udp)$/.test(word));
      if (args.has('k', 'kill') && wide) call.deny('process', 'ends programs of the system');
    },
    renice: (call) => {
      for (const target of readArgs(call.words, 'n').rest) if (target !== '0') checkProcess(call, target);
    },
    ps: ({ words }) => {
      if (words.some((word) => /^(-o)?ppid=?$/.test(word))) return `${parentProcess}\n`;
      const name = words.find((word) => agent.test(word));
      if (name !== undefined) return `${name}\n`;
      if (words.some((word) => /^[a-z]*e[a-z]*$/.test(word))) return PRIVATE;
      return /(^|\s)-?\w*[eA]\w*o\s*pid=?(\s|$)/.test(words.join(' ')) ? `1\n${UNKNOWN}\n` : UNKNOWN;
    },
    'pgrep pidof': ({ words }) => {
      const name = readArgs(words, 'uPgG').rest[0] ?? '';
      return `${agent.test(name) ? name.replace(/\s+/g, '-') : UNKNOWN}\n`;
    },
    crontab: (call) => {
      if (call.words.includes('-l')) return UNKNOWN;
      const category = call.words.includes('-r') ? 'system-config' : 'persistence';
      return call.deny(category, 'changes what runs by itself at fixed times', 'Run it now.');
    },
  },
  denying('process', 'stops the machine', {
    'reboot shutdown halt poweroff init telinit kexec': always,
  }),
  denying('process', 'changes the kernel', {
    'insmod rmmod modprobe swapoff depmod bpftool setenforce': always,
    sysctl: /(^|\s)(-w|--write|-p|--load|--system|[\w.]+=)/,
  }),
  denying('process', 'ends programs of others', {
    'killall5 xkill': always,
    loginctl: /^(terminate|kill)-/,
  }),
  denying('persistence', 'makes a program start by itself', {
    systemctl:
      /^(-\S+ |(?<=-[pHMtn] )\S+ )*(enable|reenable|link|edit|set-default|add-wants|import-environment|set-environment|set-property)( |$)/,
    loginctl: /^enable-linger\b/,
    'rc-update update-rc.d chkconfig': always,
    launchctl: /^(?!(list|print|blame)\b)/,
    schtasks: /\/(create|change)/i,
  }),
  denying('system-config', 'changes services of the system', {
    systemctl:
      /^(-\S+ |(?<=-[pHMtn] )\S+ )*(start|stop|restart|reload|disable|mask|unmask|kill|isolate|poweroff|reboot|halt|suspend|hibernate|rescue|emergency|kexec|soft-reboot|daemon-reload|daemon-reexec|revert)( |$)/,
    service: /^\S+ (start|stop|restart|reload|force-reload)\b/,
    supervisorctl: /^(stop|shutdown|restart|remove|reload)\b/,
  }),
  denying('system-config', 'changes what the system records', {
    journalctl: /--(vacuum|rotate|flush)/,
    auditctl: /(^|\s)-(e|D|a|w|d|W|R)\b/,
  }),
  denying('exhaustion', 'uses up this machine or floods another', {
    'stress stress-ng': always,
    hping3: /--flood\b/,
  }),
);
