import { readArgs } from '../argv.ts';
import { DECODED, parentProcess, shown, UNKNOWN } from '../marks.ts';
import type { Call, Category, Handler, Handlers } from '../model.ts';

const askPerson = 'Leave it to a person.';

function always(category: Category, what: string, instead = askPerson): Handler {
  return (call) => {
    if (
      call.words.length > 0 &&
      call.words.every((word) => /^(--version|--help|-h|-V|version|help)$/.test(word))
    )
      return UNKNOWN;
    call.act('deny', category, what, instead);
    return UNKNOWN;
  };
}

/** Denied when its words match, as one line of words that a shell has already taken apart. */
export function when(pattern: RegExp, category: Category, what: string, instead = askPerson): Handler {
  return (call) => {
    if (pattern.test(call.words.map(shown).join(' '))) call.act('deny', category, what, instead);
    return UNKNOWN;
  };
}

const onDevice: Handler = (call) => {
  for (const path of call.words) {
    if (path.startsWith('/dev/'))
      call.act('deny', 'disk', `changes the disk ${shown(path)}`, 'Work on a file that holds an image.');
    else if (/[./]/.test(path) && !path.startsWith('-')) call.file('write', path);
  }
  return UNKNOWN;
};

const kill: Handler = (call) => {
  if (call.words.some((word) => /^-(l|L|-list)$/.test(word))) return UNKNOWN;
  const [first = ''] = call.words;
  const targets = call.words.filter(
    (word, i) =>
      !(i === 0 && /^-([A-Z]+|\d+)$/i.test(first) && call.words.length > 1) &&
      !/^-[sn]$/.test(word) &&
      !/^(SIG)?(TERM|KILL|HUP|INT|STOP|USR[12])$/.test(word),
  );
  for (const target of targets) {
    if (target === '1' || target === '-1' || target === '0')
      call.act(
        'deny',
        'process',
        target === '1' ? 'ends the first process' : 'ends all processes of the user',
        'End the process that you started, by its id.',
      );
    if (target === parentProcess || /ralph|claude|codex|gemini|opencode|swarm/.test(target))
      call.act('deny', 'process', 'ends the agent or its loop', 'Finish the task instead.');
  }
  return '';
};

/** The loop, its agent, and what a session of the user lives in. */
const vital =
  /^\W*(ralph|swarm|claude|codex|gemini|opencode|amp|copilot|qwen|tmux|screen|sshd?|systemd|init|dbus\S*|x?org|gnome\S*|bash|zsh|sh|node|dockerd|containerd|postgres|mysqld|\.\*|\.)\b/i;

const killByName: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'usgtGUPF',
    long: ['user', 'signal', 'uid', 'euid', 'parent'],
  });
  const names = args.rest.filter((word) => !/^-/.test(word));
  if (args.has('l', 'list')) return UNKNOWN;
  if (args.has('u', 'user', 'U', 'uid') && names.length === 0)
    call.act(
      'deny',
      'process',
      'ends all processes of a user',
      'End the process that you started, by its id.',
    );
  for (const name of names) {
    if (vital.test(name) && !(/\s/.test(name.trim()) && /^\W*(node|bash|sh)\b/.test(name)))
      call.act(
        'deny',
        'process',
        `ends every process called ${shown(name)}`,
        'End the process that you started, by its id.',
      );
  }
  return '';
};

const findProcess: Handler = ({ words }) => {
  const name = readArgs(words, { letters: 'uPgG' }).rest[0] ?? '';
  return `${/ralph|claude|codex|gemini|opencode|swarm/.test(name) ? name.replace(/\s+/g, '-') : UNKNOWN}\n`;
};

const services: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'pHMtn' });
  const [action = ''] = args.rest;
  if (/^(enable|reenable|link|edit|set-default|add-wants|import-environment|set-environment)$/.test(action))
    call.act('deny', 'persistence', 'makes a program start by itself', 'Start it in this session.');
  else if (
    /^(start|stop|restart|reload|disable|mask|unmask|kill|isolate|poweroff|reboot|halt|suspend|hibernate|rescue|emergency|daemon-reload|daemon-reexec|revert)$/.test(
      action,
    )
  ) {
    call.act(
      'deny',
      'system-config',
      `${action}s a service of the system`,
      'Start what you need as a process of your own.',
    );
  }
  return UNKNOWN;
};

const service: Handler = (call) => {
  if (/^(start|stop|restart|reload|force-reload)$/.test(call.words[1] ?? ''))
    call.act(
      'deny',
      'system-config',
      'changes a service of the system',
      'Start what you need as a process of your own.',
    );
  return UNKNOWN;
};

const crontab: Handler = (call) => {
  if (call.words.includes('-l')) return UNKNOWN;
  call.act(
    'deny',
    call.words.includes('-r') ? 'system-config' : 'persistence',
    'changes what runs by itself at fixed times',
    'Run it now.',
  );
  return '';
};

const mount: Handler = (call) => {
  if (call.name === 'mount' && (call.words.length === 0 || call.words[0] === '-l')) return UNKNOWN;
  call.act('deny', 'disk', 'changes which disks are mounted', askPerson);
  return '';
};

const sysctl: Handler = (call) => {
  const changes = call.words.some(
    (word) => /^(-w|--write|-p|--load|--system)/.test(word) || /^[\w.]+=/.test(word),
  );
  if (changes) call.act('deny', 'process', 'changes the kernel', askPerson);
  return UNKNOWN;
};

const defaults: Handler = (call) => {
  if (/^(write|delete|import)$/.test(call.words[0] ?? ''))
    call.act('deny', 'system-config', 'changes preferences of the user', askPerson);
  return UNKNOWN;
};

const network: Handler = (call) => {
  const [first = '', action = ''] = readArgs(call.words, { letters: 'tn' }).rest;
  const changes =
    call.name === 'ip'
      ? /^(add|del|delete|set|flush|replace|change)$/.test(action) && first !== 'netns-list'
      : call.words.length > 1 && /^(up|down|\d+\.\d+)/.test(action);
  if (changes) call.act('deny', 'system-config', 'changes the network of the machine', askPerson);
  return UNKNOWN;
};

const firewall: Handler = (call) => {
  const looks = call.words.some((word) => /^(-L|-S|--list|-nL|-nvL|-vnL|status|list|--list-all)$/.test(word));
  if (!looks && call.words.length > 0) call.act('deny', 'system-config', 'changes the firewall', askPerson);
  return UNKNOWN;
};

const hostname: Handler = (call) => {
  if (readArgs(call.words).rest.some((word) => !/^(status)$/.test(word)))
    call.act('deny', 'system-config', 'changes the name or the clock of the machine', askPerson);
  return UNKNOWN;
};

const keychain: Handler = (call) => {
  if (/^(find-\w+-password|dump-keychain|export)/.test(call.words[0] ?? ''))
    call.act('deny', 'credentials', 'reads the keychain', 'Let the program that needs it ask for it.');
  return UNKNOWN;
};

const gpg: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'oru' });
  if (args.has('export-secret-keys', 'export-secret-subkeys'))
    call.act('deny', 'credentials', 'prints a private key', 'It need not be seen.');
  if (args.has('delete-secret-keys', 'delete-secret-and-public-key', 'delete-secret-key'))
    call.act('deny', 'destructive-files', 'deletes a private key', askPerson);
  return args.has('d', 'decrypt') ? DECODED : UNKNOWN;
};

const capture: Handler = (call) => {
  call.act(
    'warn',
    'process',
    'watches other programs or the network',
    'Look at the output of your own program.',
  );
  return UNKNOWN;
};

const open: Handler = () => UNKNOWN;

export const system: Handlers = {
  mkswap: onDevice,
  wipefs: onDevice,
  sgdisk: onDevice,
  parted: onDevice,
  sfdisk: onDevice,
  fdisk: (call) => (call.words.includes('-l') ? UNKNOWN : onDevice(call)),
  gdisk: onDevice,
  cfdisk: onDevice,
  hdparm: (call) =>
    call.words.some((word) => /security|^-[yYzZFMwW]|trim/.test(word)) ? onDevice(call) : UNKNOWN,
  nvme: (call) => (/^(format|sanitize|write|delete-ns)/.test(call.words[0] ?? '') ? onDevice(call) : UNKNOWN),
  blkdiscard: onDevice,
  badblocks: onDevice,
  e2fsck: onDevice,
  fsck: onDevice,
  resize2fs: onDevice,
  tune2fs: onDevice,
  debugfs: onDevice,
  cryptsetup: onDevice,
  mdadm: onDevice,
  ...Object.fromEntries(
    [
      'mkfs',
      'mkfs.ext4',
      'mkfs.ext3',
      'mkfs.ext2',
      'mkfs.xfs',
      'mkfs.btrfs',
      'mkfs.vfat',
      'mkfs.fat',
      'mkfs.ntfs',
      'mke2fs',
      'newfs',
    ].map((name) => [name, onDevice]),
  ),
  ...Object.fromEntries(
    [
      'lvremove',
      'vgremove',
      'pvremove',
      'lvreduce',
      'zpool',
      'zfs',
      'diskutil',
      'grub-install',
      'update-grub',
      'grub-mkconfig',
      'efibootmgr',
      'bootctl',
      'losetup',
      'dmsetup',
      'swapon',
    ].map((name) => [name, always('disk', 'changes disks, volumes or what the machine boots')]),
  ),
  mount,
  umount: mount,
  kill,
  pkill: killByName,
  killall: killByName,
  skill: killByName,
  killall5: always('process', 'ends all processes', 'End the process that you started, by its id.'),
  loginctl: when(/^(terminate|kill)-/, 'process', 'ends sessions of users'),
  ps: ({ words }) =>
    /(^|\s)-?\w*[eA]\w*o\s*pid=?(\s|$)/.test(words.join(' ')) ? `1\n${UNKNOWN}\n` : UNKNOWN,
  pgrep: findProcess,
  pidof: findProcess,
  ...Object.fromEntries(
    ['reboot', 'shutdown', 'halt', 'poweroff', 'init', 'telinit', 'kexec'].map((name) => [
      name,
      always('process', 'stops the machine'),
    ]),
  ),
  ...Object.fromEntries(
    ['insmod', 'rmmod', 'modprobe', 'swapoff', 'depmod', 'bpftool', 'setenforce'].map((name) => [
      name,
      always('process', 'changes the kernel'),
    ]),
  ),
  sysctl,
  systemctl: services,
  service,
  'rc-update': always('persistence', 'makes a program start by itself'),
  'update-rc.d': always('persistence', 'makes a program start by itself'),
  chkconfig: always('persistence', 'makes a program start by itself'),
  launchctl: (call) =>
    /^(list|print|blame)$/.test(call.words[0] ?? '')
      ? UNKNOWN
      : always('persistence', 'changes what starts by itself')(call),
  crontab,
  ...Object.fromEntries(
    [
      'useradd',
      'adduser',
      'userdel',
      'deluser',
      'usermod',
      'groupadd',
      'groupdel',
      'gpasswd',
      'passwd',
      'chpasswd',
      'chsh',
      'chfn',
      'vipw',
      'dscl',
    ].map((name) => [name, always('system-config', 'changes the users of the machine')]),
  ),
  ...Object.fromEntries(
    ['visudo', 'setcap', 'capsh', 'newgrp'].map((name) => [name, always('privilege', 'gives more rights')]),
  ),
  'update-alternatives': when(
    /--(set|install|remove|config)/,
    'system-config',
    'changes which program a name means',
  ),
  iptables: firewall,
  ip6tables: firewall,
  nft: firewall,
  ufw: firewall,
  'firewall-cmd': firewall,
  pfctl: firewall,
  ip: network,
  ifconfig: network,
  route: network,
  localectl: when(/^set-/, 'system-config', 'changes the language of the system'),
  brew: when(/^services (stop|start|restart|kill)/, 'system-config', 'changes a service of the system'),
  'apt-key': when(/^(add|del|adv)/, 'supply-chain', 'changes whose packages are trusted'),
  stress: always('exhaustion', 'uses up the machine', 'Measure with a small load.'),
  'stress-ng': always('exhaustion', 'uses up the machine', 'Measure with a small load.'),
  claude: when(
    /^config (set|add|remove)\b.*\b(hooks|permission|disable)/i,
    'agent-settings',
    'changes what you may do',
  ),
  hostnamectl: hostname,
  timedatectl: hostname,
  hostname,
  defaults,
  nvram: defaults,
  csrutil: always('system-config', 'changes the protection of the system'),
  spctl: always('system-config', 'changes the protection of the system'),
  security: keychain,
  'secret-tool': when(
    /^(lookup|search)/,
    'credentials',
    'reads the keyring',
    'Let the program that needs it ask for it.',
  ),
  pass: when(
    /^(show|-c|[\w/]+$)/,
    'credentials',
    'prints a stored password',
    'Let the program that needs it ask for it.',
  ),
  op: when(
    /^(read|item get|document get)/,
    'credentials',
    'prints a stored password',
    'Let the program that needs it ask for it.',
  ),
  bw: when(
    /^(get|export|list)/,
    'credentials',
    'prints stored passwords',
    'Let the program that needs it ask for it.',
  ),
  vault: when(
    /^(kv get|read|token)/,
    'credentials',
    'prints a stored secret',
    'Let the program that needs it ask for it.',
  ),
  gpg,
  gpg2: gpg,
  'ssh-copy-id': always('persistence', 'lets this key into another machine'),
  'ssh-keygen': (call) => {
    const args = readArgs(call.words, { letters: 'fNtbCP' });
    const file = args.value('f');
    if (file !== undefined && args.has('t')) call.file('write', file);
    return UNKNOWN;
  },
  'ssh-keyscan': open,
  'ssh-add': open,
  tcpdump: capture,
  strace: capture,
  gcore: always('credentials', 'reads the memory of another program'),
  nmap: capture,
  xset: open,
  osascript: (call) => {
    for (const [, command = ''] of call.words.join('\n').matchAll(/do shell script "((?:[^"\\]|\\.)*)"/g))
      call.script(command.replace(/\\(.)/g, '$1'));
    return UNKNOWN;
  },
  'cmd.exe': when(
    /\b(rd|rmdir|del|erase|format)\b.*\/[sq]|\bformat\s+[a-z]:/i,
    'destructive-files',
    'deletes folders',
    'Delete single files of the project.',
  ),
  cmd: when(
    /\b(rd|rmdir|del|erase|format)\b.*\/[sq]|\bformat\s+[a-z]:/i,
    'destructive-files',
    'deletes folders',
    'Delete single files of the project.',
  ),
  reg: when(/^(add|delete|import)/i, 'system-config', 'changes the registry'),
  schtasks: when(/\/(create|change)/i, 'persistence', 'makes a program start by itself'),
  vssadmin: always('disk', 'changes disk snapshots'),
  chroot: (call) => {
    call.act('deny', 'container', 'changes the root folder', 'Work in the project.');
    return call.words.length > 1 ? call.run(call.words.slice(1)) : UNKNOWN;
  },
  nsenter: always('container', 'enters another container or the host'),
  history: (call: Call) =>
    call.words.includes('-c')
      ? call.act('deny', 'destructive-files', 'deletes the history', askPerson)
      : UNKNOWN,
};
