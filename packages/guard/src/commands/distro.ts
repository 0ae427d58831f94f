import { readArgs } from '../argv.ts';
import type { Handlers } from '../call.ts';
import { NETWORK, shown } from '../marks.ts';
import { installer } from './publishing.ts';
import { byName, denying, denyLines, type LineRule } from './rules.ts';

const managers = 'apt apt-get dpkg rpm dnf yum pacman apk zypper aptitude snap flatpak port';
const removals: readonly LineRule[] = [
  [
    /^(remove|rm|del|downgrade|purge|autoremove|erase|uninstall|full-upgrade|dist-upgrade|module (disable|reset|remove))( |$)/,
    'system-config',
    'removes packages of the system',
    'Leave the system as it is.',
  ],
];

export const distro: Handlers = byName(
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
          call.deny('supply-chain', `installs ${shown(path)}`, 'Install from the packages of the system.');
    },
    brew: installer,
  },
);
