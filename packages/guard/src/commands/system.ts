import { readArgs } from '../argv.ts';
import type { Handlers } from '../call.ts';
import { NETWORK, show, UNKNOWN } from '../marks.ts';
import { installer } from './publishing.ts';
import { always, byName, denying, denyLines, type LineRule } from './rules.ts';

const managers = 'apt apt-get dpkg rpm dnf yum pacman apk zypper aptitude snap flatpak port';
const removals: readonly LineRule[] = [
  [
    /^(remove|rm|del|downgrade|purge|autoremove|erase|uninstall|full-upgrade|dist-upgrade|module (disable|reset|remove))( |$)/,
    'system-config',
    'removes packages of the system',
    'Leave the system as it is.',
  ],
];

export const system: Handlers = byName(
  denying('system-config', 'changes the users of the machine', {
    'useradd adduser userdel deluser usermod groupadd groupdel groupmod gpasswd passwd chpasswd': always,
    'chsh chfn vipw dscl dseditgroup sysadminctl': always,
    chage: /^(?!(-l|--list)\b)/,
    'net net.exe': /^(user|localgroup|stop|share)\b.*(\/(add|delete)|^stop)/i,
  }),
  denying('privilege', 'gives more rights', { 'visudo setcap capsh newgrp': always }),
  denying('privilege', 'runs a program as another user', { 'gosu su-exec runas run0': always }),
  denying('privilege', 'enters or changes a machine', {
    machinectl: /^(shell|login|poweroff|terminate|remove)\b/,
  }),
  denying('system-config', 'changes the network of the machine', {
    ip: /^(-\w+ )*(?!netns-list)\S+ (add|del|delete|set|flush|replace|change)\b/,
    'route tc': /^(\S+ )?(add|del|delete|flush|replace|change)\b/,
    rfkill: /^(un)?block\b/,
    nmcli: /\b(delete|del|down|modify|mod|add|disconnect|off)\b/,
    'resolvectl systemd-resolve': /^(dns|domain|revert|dnssec|llmnr)\b|--set-/,
    networksetup: /^-(set|add|remove|create|delete|switch)/,
    netsh: /\b(set|add|delete|reset)\b/i,
    netplan: /^(apply|try|set)\b/,
    'wg-quick openvpn ifup ifdown dhclient macchanger': always,
    arp: /(^|\s)-[sd]\b/,
    networkctl: /^(up|down|delete|reconfigure|renew)\b/,
    wpa_cli: /\b(disconnect|disable_network|remove_network|terminate)\b/,
    ethtool: /^-[A-Zs]\b/,
  }),
  denying('system-config', 'changes the name or the network of the machine', {
    scutil: /^--(set|dns|proxy) \S/,
  }),
  denying('system-config', 'sets the clock of the machine', {
    hwclock: /--(set|systohc|hctosys)|(^|\s)-[ws]\b/,
    'ntpdate rdate': always,
    chronyc: /\b(makestep|settime|online|offline|delete|add)\b/,
  }),
  denying('system-config', 'changes the protection of the system', {
    apparmor_parser: /^(-R|--remove|-C|--Complain)\b/,
    'setsebool semanage aa-teardown aa-disable aa-complain pam-auth-update authselect': always,
    'fdesetup tccutil': /^(disable|reset|remove|authrestart)\b/,
    'csrutil spctl': always,
  }),
  denying('system-config', 'changes a service of the system', {
    'sc sc.exe': /^(stop|delete|config|create|start)\b/i,
    'rc-service sv initctl apachectl apache2ctl': /\b(stop|start|restart|graceful|down|force-\w+)\b/,
    nginx: /^(?!.*(^|\s)-[pc]).*(^|\s)-s/,
  }),
  denying('system-config', 'changes which certificates the machine trusts', {
    'update-ca-certificates update-ca-trust': always,
    trust: /^anchor\b/,
  }),
  denying('system-config', 'changes preferences of the user', {
    defaults: /^(write|delete|import)\b/,
    gsettings: /^(set|reset|reset-recursively)\b/,
    dconf: /^(write|reset|load)\b/,
    'xdg-settings': /^set\b/,
    'xdg-mime': /^(default|install)\b/,
  }),
  denying('system-config', 'changes how the machine is set up', {
    'update-alternatives': /--(set|install|remove|config)/,
    localectl: /^set-/,
    systemsetup: /^-set/,
    softwareupdate: /(^|\s)(-i|-ia|--install)\b/,
    'do-release-upgrade': always,
    wmic: /\b(delete|call)\b/i,
    reg: /^(add|delete|import)/i,
    'dpkg-divert dpkg-reconfigure dpkg-statoverride debconf-set-selections': /^(?!-*list)./,
  }),
  denying('supply-chain', 'changes whose packages are trusted', { 'apt-key': /^(add|del|adv)/ }),
  denying('supply-chain', 'changes where packages come from', {
    'add-apt-repository apt-add-repository': always,
  }),
  denying('disk', 'changes what the machine boots', {
    nvram: /=|(^|\s)-[cdf]\b/,
    bcdedit: /\/(set|delete|import|default)/i,
  }),
  denying('process', 'changes the kernel', {
    'kextload kextunload kmutil': always,
    kmod: /^(load|unload|insmod|rmmod)\b/,
  }),
  denying('process', 'stops the machine or its services', {
    rtcwake: /^(?!.*-m (no|show)\b)/,
    'dbus-send busctl gdbus':
      /\b(Reboot|PowerOff|Halt|Suspend|Hibernate|Terminate\w+|Kill\w+|StopUnit|DisableUnitFiles)\b/,
  }),
  denying('environment', 'changes where programs find their libraries', { ldconfig: /(^|\s)[^-\s]/ }),
  denying('remote-code', 'runs a page as a program', { mshta: always }),
  denying('container', 'enters another container or the host', { nsenter: always }),
  denying('destructive-files', 'deletes the history', { history: /(^|\s)-c(\s|$)/ }),
  denying(
    'destructive-files',
    'deletes folders',
    { 'cmd cmd.exe': /\b(rd|rmdir|del|erase|format)\b.*\/[sq]|\bformat\s+[a-z]:/i },
    'Delete single files of the project.',
  ),
  {
    'iptables ip6tables nft ufw firewall-cmd pfctl': (call) => {
      const looks = call.words.some((word) =>
        /^(-L|-S|--list|-nL|-nvL|-vnL|status|list|--list-all)$/.test(word),
      );
      if (!looks && call.words.length > 0) call.deny('system-config', 'changes the firewall');
    },
    ifconfig: (call) => {
      const [, action = ''] = readArgs(call.words, 'tn').rest;
      if (call.words.length > 1 && /^(up|down|\d+\.\d+)/.test(action))
        call.deny('system-config', 'changes the network of the machine');
    },
    'hostnamectl timedatectl hostname': (call) => {
      if (readArgs(call.words).rest.some((word) => word !== 'status'))
        call.deny('system-config', 'changes the name or the clock of the machine');
    },
    osascript: (call) => {
      const code = call.words.join('\n');
      for (const [, command = ''] of code.matchAll(/do (?:shell )?script "((?:[^"\\]|\\.)*)"/g))
        call.script(command.replace(/\\(.)/g, '$1'));
      if (/with administrator privileges/.test(code))
        call.deny('privilege', 'runs a program as another user');
      if (/\bto\s+(shut down|restart|log out|sleep)\b/.test(code)) call.deny('process', 'stops the machine');
    },
    taskkill: (call) => {
      const [, name] = /\/im\s+(\S+)/i.exec(call.words.join(' ')) ?? [];
      return name === undefined ? UNKNOWN : call.run(['killall', name.replace(/\.exe$/i, '')]);
    },
    chroot: (call) => {
      call.deny('container', 'changes the root folder', 'Work in the project.');
      return call.words.length > 1 ? call.run(call.words.slice(1)) : UNKNOWN;
    },
    xset: () => UNKNOWN,
  },
  denying('system-config', 'changes packages or services of the system', {
    'emerge xbps-remove nix-env': /(^|\s)(--unmerge|-C|--depclean|-e|--uninstall|-R\S*)(\s|$)/,
    pacman: /(^|\s)-R/,
    'dpkg rpm': /(^|\s)(-r|-P|--remove|--purge|-e|--erase)(\s|$)/,
    brew: /^(services (stop|start|restart|kill)|(uninstall|remove|rm)\b)/,
    'apt-mark': /^(hold|unhold|auto|manual)\b/,
  }),
  denying('supply-chain', 'installs what nobody has signed', {
    [managers]: /--(dangerous|allow-unauthenticated|nogpgcheck)\b/,
  }),
  {
    [managers]: (call) => {
      const { rest } = readArgs(call.words, 'oct');
      denyLines(call, rest, removals);
      for (const path of rest)
        if (/^https?:/.test(path) || (/\.(deb|rpm|apk)$/.test(path) && call.content(path).includes(NETWORK)))
          call.deny('supply-chain', `installs ${show(path)}`, 'Install from the packages of the system.');
    },
    brew: installer,
  },
  // Any other program that is given a disk and does more than look at it is denied, too.
  denying('disk', 'changes disks, volumes or what the machine boots', {
    'lvremove vgremove pvremove lvreduce lvresize vgreduce pvcreate vgcreate': always,
    'grub-install grub-mkconfig update-grub update-initramfs dracut mkinitcpio vssadmin umount': always,
    'zpool zfs': /^(?!(list|status|get|iostat|history)\b)/,
    diskutil: /^(?!(list|info|activity)\b)/,
    efibootmgr: /^(?!(-v|--verbose)?$)/,
    bootctl: /^(?!(status|list)?$)/,
    losetup: /^(?!(-a|-l|--list|--all)?$)/,
    dmsetup: /^(?!(ls|info|status|table)\b)/,
    swapon: /^(?!(-s|--summary|--show\S*)?$)/,
    mount: /^(?!-l\b)./,
    btrfs: /\b(delete|remove|replace)\b/,
    grubby: /^(?!--(info|default-\w+)\b)/,
    format: /^[a-z]:/i,
    tmutil: /^(delete|disable)/,
  }),
  denying('disk', 'writes the firmware of the machine', {
    flashrom: /(^|\s)(-[wE]|--write|--erase)/,
    fwupdmgr: /^(install|update|downgrade)\b/,
  }),
);
