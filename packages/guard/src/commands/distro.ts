import { readArgs } from '../argv.ts';
import type { Handlers } from '../call.ts';
import { NETWORK, shown } from '../marks.ts';
import { installer } from './publishing.ts';
import { byName, denying } from './rules.ts';

export const distro: Handlers = byName(
  denying('system-config', 'changes packages or services of the system', {
    'emerge xbps-remove nix-env': /(^|\s)(--unmerge|-C|--depclean|-e|--uninstall|-R\S*)(\s|$)/,
    brew: /^(services (stop|start|restart|kill)|(uninstall|remove|rm)\b)/,
    'apt-mark': /^(hold|unhold|auto|manual)\b/,
  }),
  {
    'apt apt-get dpkg rpm dnf yum pacman apk zypper aptitude snap flatpak port': (call) => {
      const args = readArgs(call.words, 'oct');
      const [action = ''] = args.rest;
      if (
        /^(remove|rm|del|downgrade|purge|autoremove|erase|uninstall|full-upgrade|dist-upgrade|-R.*)$/.test(
          action,
        ) ||
        call.words.some((word) => /^-R/.test(word) && call.name === 'pacman')
      ) {
        call.deny('system-config', 'removes packages of the system', 'Leave the system as it is.');
      }
      if (args.rest[0] === 'module' && /^(disable|reset|remove)$/.test(args.rest[1] ?? ''))
        call.deny('system-config', 'changes packages of the system', 'Leave the system as it is.');
      if (args.has('dangerous', 'allow-unauthenticated', 'nogpgcheck'))
        call.deny(
          'supply-chain',
          'installs what nobody has signed',
          'Install from the packages of the system.',
        );
      const removes = call.words.some((word) => /^(-r|-P|--remove|--purge|-e|--erase)$/.test(word));
      if (removes && /^(dpkg|rpm)$/.test(call.name))
        call.deny('system-config', 'removes packages of the system', 'Leave the system as it is.');
      for (const path of args.rest)
        if (/^https?:/.test(path) || (/\.(deb|rpm|apk)$/.test(path) && call.content(path).includes(NETWORK)))
          call.deny('supply-chain', `installs ${shown(path)}`, 'Install from the packages of the system.');
    },
    brew: installer,
  },
);
