import { readArgs } from '../argv.ts';
import { askPerson } from '../categories.ts';
import { UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { always, byName, unless, when } from './rules.ts';

const defaults: Handler = (call) => {
  if (/^(write|delete|import)$/.test(call.words[0] ?? ''))
    call.deny('system-config', 'changes preferences of the user');
};

const network: Handler = (call) => {
  const [first = '', action = ''] = readArgs(call.words, 'tn').rest;
  const changes =
    call.name === 'ip'
      ? /^(add|del|delete|set|flush|replace|change)$/.test(action) && first !== 'netns-list'
      : call.name === 'route' || call.name === 'tc'
        ? /\b(add|del|delete|flush|replace|change)\b/.test(call.words.slice(0, 2).join(' '))
        : call.words.length > 1 && /^(up|down|\d+\.\d+)/.test(action);
  if (changes) call.deny('system-config', 'changes the network of the machine');
};

const firewall: Handler = (call) => {
  const looks = call.words.some((word) => /^(-L|-S|--list|-nL|-nvL|-vnL|status|list|--list-all)$/.test(word));
  if (!looks && call.words.length > 0) call.deny('system-config', 'changes the firewall');
};

const networkChange = ['system-config', 'changes the network of the machine'] as const;

const hostname: Handler = (call) => {
  if (readArgs(call.words).rest.some((word) => !/^(status)$/.test(word)))
    call.deny('system-config', 'changes the name or the clock of the machine');
};

/** How the system is set up. */
export const system: Handlers = byName({
  'useradd adduser userdel deluser usermod groupadd groupdel groupmod gpasswd passwd chpasswd chsh chfn vipw dscl':
    always('system-config', 'changes the users of the machine'),
  chage: unless(/^(-l|--list)\b/, always('system-config', 'changes the users of the machine')),
  'visudo setcap capsh newgrp': always('privilege', 'gives more rights'),
  'update-alternatives': when(
    /--(set|install|remove|config)/,
    'system-config',
    'changes which program a name means',
  ),
  'iptables ip6tables nft ufw firewall-cmd pfctl': firewall,
  'ip ifconfig route tc': network,
  rfkill: when(/^(un)?block\b/, ...networkChange),
  hwclock: when(/--(set|systohc|hctosys)|(^|\s)-[ws]\b/, 'system-config', 'sets the clock of the machine'),
  apparmor_parser: when(
    /^(-R|--remove|-C|--Complain)\b/,
    'system-config',
    'changes the protection of the system',
  ),
  'sc sc.exe': when(
    /^(stop|delete|config|create|start)\b/i,
    'system-config',
    'changes a service of the system',
  ),
  'net net.exe': when(
    /^(user|localgroup|stop|share)\b.*(\/(add|delete)|^stop)/i,
    'system-config',
    'changes the users of the machine',
  ),
  localectl: when(/^set-/, 'system-config', 'changes the language of the system'),
  'apt-key': when(/^(add|del|adv)/, 'supply-chain', 'changes whose packages are trusted'),
  'hostnamectl timedatectl hostname': hostname,
  defaults,
  nvram: when(/=|(^|\s)-[cdf]\b/, 'disk', 'changes what the machine boots'),
  bcdedit: when(/\/(set|delete|import|default)/i, 'disk', 'changes what the machine boots'),
  nmcli: when(
    /\b(delete|del|down|modify|mod|add|disconnect|off)\b/,
    'system-config',
    'changes the network of the machine',
  ),
  'resolvectl systemd-resolve': when(/^(dns|domain|revert|dnssec|llmnr)\b|--set-/, ...networkChange),
  networksetup: when(/^-(set|add|remove|create|delete|switch)/, ...networkChange),
  netsh: when(/\b(set|add|delete|reset)\b/i, ...networkChange),
  netplan: when(/^(apply|try|set)\b/, ...networkChange),
  'wg-quick openvpn ifup ifdown dhclient macchanger': always(...networkChange),
  scutil: when(/^--(set|dns|proxy) \S/, 'system-config', 'changes the name or the network of the machine'),
  'update-ca-certificates update-ca-trust': always(
    'system-config',
    'changes which certificates the machine trusts',
  ),
  trust: when(/^anchor\b/, 'system-config', 'changes which certificates the machine trusts'),
  'setsebool semanage aa-teardown aa-disable aa-complain pam-auth-update authselect': always(
    'system-config',
    'changes the protection of the system',
  ),
  'rc-service sv initctl apachectl apache2ctl': when(
    /\b(stop|start|restart|graceful|down|force-\w+)\b/,
    'system-config',
    'changes a service of the system',
  ),
  nginx: (call) => {
    const args = readArgs(call.words, 'spcg');
    return args.has('s') && !args.has('p', 'c')
      ? always('system-config', 'changes a service of the system')(call)
      : UNKNOWN;
  },
  arp: when(/(^|\s)-[sd]\b/, ...networkChange),
  networkctl: when(/^(up|down|delete|reconfigure|renew)\b/, ...networkChange),
  wpa_cli: when(/\b(disconnect|disable_network|remove_network|terminate)\b/, ...networkChange),
  ethtool: when(/^-[A-Zs]\b/, ...networkChange),
  'ntpdate rdate': always('system-config', 'sets the clock of the machine'),
  chronyc: when(
    /\b(makestep|settime|online|offline|delete|add)\b/,
    'system-config',
    'sets the clock of the machine',
  ),
  'dseditgroup sysadminctl': always('system-config', 'changes the users of the machine'),
  'fdesetup tccutil': when(
    /^(disable|reset|remove|authrestart)\b/,
    'system-config',
    'changes the protection of the system',
  ),
  'kextload kextunload kmutil': always('process', 'changes the kernel'),
  systemsetup: when(/^-set/, 'system-config', 'changes the machine'),
  softwareupdate: when(/(^|\s)(-i|-ia|--install)\b/, 'system-config', 'changes the system'),
  'do-release-upgrade': always('system-config', 'changes the system'),
  wmic: when(/\b(delete|call)\b/i, 'system-config', 'changes the machine'),
  rtcwake: unless(/-m (no|show)\b/, always('process', 'stops the machine')),
  kmod: when(/^(load|unload|insmod|rmmod)\b/, 'process', 'changes the kernel'),
  gsettings: when(/^(set|reset|reset-recursively)\b/, 'system-config', 'changes preferences of the user'),
  dconf: when(/^(write|reset|load)\b/, 'system-config', 'changes preferences of the user'),
  'xdg-settings': when(/^set\b/, 'system-config', 'changes preferences of the user'),
  'xdg-mime': when(/^(default|install)\b/, 'system-config', 'changes preferences of the user'),
  'dpkg-divert dpkg-reconfigure dpkg-statoverride debconf-set-selections': when(
    /^(?!-*list)./,
    'system-config',
    'changes packages of the system',
  ),
  'dbus-send busctl gdbus': when(
    /\b(Reboot|PowerOff|Halt|Suspend|Hibernate|Terminate\w+|Kill\w+|StopUnit|DisableUnitFiles)\b/,
    'process',
    'stops the machine or its services',
  ),
  taskkill: (call) => {
    const [, name] = /\/im\s+(\S+)/i.exec(call.words.join(' ')) ?? [];
    return name === undefined ? UNKNOWN : call.run(['killall', name.replace(/\.exe$/i, '')]);
  },
  ldconfig: (call) =>
    readArgs(call.words, 'fCr').rest.length > 0
      ? always('environment', 'changes where programs find their libraries')(call)
      : UNKNOWN,
  'add-apt-repository apt-add-repository': always('supply-chain', 'changes where packages come from'),
  mshta: always('remote-code', 'runs a page as a program'),
  'gosu su-exec runas': always('privilege', 'runs a program as another user'),
  run0: always('privilege', 'runs a program as another user'),
  machinectl: when(/^(shell|login|poweroff|terminate|remove)\b/, 'privilege', 'enters or changes a machine'),
  csrutil: always('system-config', 'changes the protection of the system'),
  spctl: always('system-config', 'changes the protection of the system'),
  xset: () => UNKNOWN,
  osascript: (call) => {
    for (const [, command = ''] of call.words
      .join('\n')
      .matchAll(/do (?:shell )?script "((?:[^"\\]|\\.)*)"/g))
      call.script(command.replace(/\\(.)/g, '$1'));
    if (/with administrator privileges/.test(call.words.join('\n')))
      call.deny('privilege', 'runs a program as another user');
    if (/\bto\s+(shut down|restart|log out|sleep)\b/.test(call.words.join('\n')))
      call.deny('process', 'stops the machine', askPerson);
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
  chroot: (call) => {
    call.deny('container', 'changes the root folder', 'Work in the project.');
    return call.words.length > 1 ? call.run(call.words.slice(1)) : UNKNOWN;
  },
  nsenter: always('container', 'enters another container or the host'),
  history: (call: Call) =>
    call.words.includes('-c') ? call.deny('destructive-files', 'deletes the history') : UNKNOWN,
});
