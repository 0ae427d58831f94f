import { readArgs } from '../argv.ts';
import type { Handlers } from '../call.ts';
import { isOpaque, NETWORK, PRIVATE, secretsIn, shown, UNKNOWN } from '../marks.ts';
import { isLocal } from './hosts.ts';
import { byName, denying } from './rules.ts';

const tunnels = /^(?!(version|help|--version|--help|-v|-h)\b)/;

export const sockets: Handlers = byName(
  {
    'nc ncat netcat telnet': (call) => {
      const args = readArgs(call.words, 'ecpsgGiIoOPqTVwWxX', 'exec sh-exec lua-exec proxy source-port');
      for (const command of args.all('e', 'c', 'exec', 'sh-exec', 'lua-exec')) {
        call.deny(
          'remote-shell',
          `gives ${shown(command)} to another machine`,
          'Do not open shells to others.',
        );
      }
      const [host = ''] = args.rest;
      if (args.has('z')) return UNKNOWN;
      if (args.has('l', 'listen')) {
        call.deny('remote-shell', 'waits for raw connections', 'Use a server of the project on 127.0.0.1.');
        return UNKNOWN;
      }
      if (!isLocal(host) && call.stdin !== null)
        call.act(isOpaque(call.stdin) ? 'deny' : 'warn', 'exfiltration', `sends data to ${shown(host)}`);
      return isLocal(host) ? UNKNOWN : NETWORK;
    },
    socat: (call) => {
      const text = call.words.join(' ');
      if (/\b(exec|system|pty|shell):/i.test(text)) {
        const [, command] = /\b(?:exec|system):["']?([^,"']+)/i.exec(text) ?? [];
        if (command) call.script(command);
        if (/\b(tcp|udp|openssl|ssl|tcp4|tcp6|sctp)(-\w+)?:/i.test(text))
          call.deny('remote-shell', 'connects a program to the network', 'Do not open shells to others.');
      }
      for (const [, path = ''] of text.matchAll(/\b(?:file|open|gopen):([^,\s]+)/gi)) call.file('read', path);
      if (/\btcp\d?-listen:/i.test(text))
        call.warn('remote-shell', 'waits for connections', 'Listen on 127.0.0.1 only.');
    },
    // Asks for a name: data in the name reaches whoever answers.
    'dig nslookup host ping traceroute tracepath mtr drill': (call) => {
      const { rest } = readArgs(call.words, 'cfkpqtxybiIsWw');
      for (const name of rest) {
        if (
          secretsIn(name).length > 0 ||
          name.includes(PRIVATE) ||
          (/^[\uE000-\uE008]+\./.test(name) && call.name !== 'ping')
        ) {
          call.deny('exfiltration', 'hides data in a name that it looks up');
        }
      }
      return NETWORK;
    },
  },
  denying(
    'remote-shell',
    'opens this machine to the internet',
    {
      'ngrok cloudflared lt localtunnel bore frpc chisel zrok rathole pagekite inlets stunnel iodine':
        tunnels,
      'wstunnel gost sshuttle tmate sshx upterm gs-netcat ttyd gotty wetty ztcp': tunnels,
      'sshd dropbear telnetd rshd vncserver x11vnc x0vncserver xrdp': tunnels,
      'pwncat pwncat-cs dnscat dnscat2 reverse-ssh msfconsole msfvenom': tunnels,
      websocat: /(^|\s)(cmd|exec|sh-c|writefile):/,
      code: /^(tunnel|serve-web)\b/,
      'code-server': /0\.0\.0\.0|\[::\]|--auth[ =]none|--link\b/,
      tailscale: /^(funnel|serve|up)\b/,
    },
    'Test on 127.0.0.1.',
  ),
);
