import { type Args, readArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { isOpaque, NETWORK, PRIVATE, secretsIn, show, UNKNOWN } from '../marks.ts';
import { hostOf, isLocal, sends, sendsFile } from './hosts.ts';
import { byName, denying } from './rules.ts';

const curlOptions = [
  'data data-raw data-binary data-urlencode data-ascii json form form-string upload-file header user url output',
  'request user-agent cookie cookie-jar referer proxy unix-socket config max-time connect-timeout retry output-dir',
  'cacert cert key resolve write-out dump-header',
].join(' ');

const curl: Handler = (call) => {
  const args = readArgs(call.words, 'AbcCdDeEFhHKmoPQrTtuUwxXyYz', curlOptions);
  const urls = [...args.rest, ...args.all('url')];
  const [first = ''] = urls;
  const host = hostOf(first);
  for (const url of urls) askFor(call, url);
  if (args.value('unix-socket')?.includes('docker.sock'))
    call.deny('container', 'talks to the container engine directly', 'Use docker.');
  sendsValues(call, args, host);
  for (const file of args.all('c', 'cookie-jar', 'D', 'dump-header'))
    if (file !== '-') call.file('write', file);
  const saved = args.value('o', 'output') ?? (args.has('O', 'remote-name') ? lastPart(first) : '-');
  const content = isLocal(host) ? UNKNOWN : NETWORK;
  if (/^delete$/i.test(args.value('X', 'request') ?? '')) deletesRemotely(call, first);
  if (/\/_delete_by_query\b/.test(first))
    call.deny('database', 'deletes documents', 'Work on an index of your own.');
  if (saved === '-') return content;
  const folder = args.value('output-dir');
  return call.save(folder === undefined || saved.startsWith('/') ? saved : `${folder}/${saved}`, content);
};

function askFor(call: Call, url: string): void {
  const [, file] = /^file:\/\/(\/.*)$/.exec(url) ?? [];
  if (file) call.file('read', file);
  sends(call, url, hostOf(url));
  if (/^(169\.254\.169\.254|metadata\.google\.internal)$/.test(hostOf(url)))
    call.deny('credentials', 'asks the cloud for the credentials of this machine');
}

function sendsValues(call: Call, args: Args, host: string): void {
  const urlencoded = new Set(args.all('data-urlencode'));
  const data = 'd data data-binary data-ascii data-urlencode json F form'.split(' ');
  for (const value of args.all(...data)) {
    const [, file] =
      /^(?:[^=<@]*=)?@([^;]*)/.exec(value) ??
      (urlencoded.has(value) ? /^[\w.-]+@(.*)/.exec(value) : null) ??
      /^[^=<@]+=<([^;]*)/.exec(value) ??
      [];
    if (file !== undefined) sendsFile(call, file, host);
    else sends(call, value, host);
  }
  for (const value of args.all('data-raw', 'form-string', 'A', 'user-agent', 'b', 'cookie', 'e', 'referer'))
    sends(call, value, host);
  // Without a `=` it is no cookie but a file with cookies.
  const cookies = args.all('b', 'cookie').filter((file) => /^[~/.]/.test(file) && !file.includes('='));
  for (const file of [...cookies, ...args.all('T', 'upload-file')]) sendsFile(call, file, host);
  for (const value of args.all('H', 'header', 'u', 'user')) sends(call, value, host, true);
}

/** Deleting through a local API is allowed, but not in a local search index. */
function deletesRemotely(call: Call, url: string): void {
  if (!isLocal(hostOf(url))) call.deny('cloud', `deletes something on ${show(hostOf(url))}`);
  else if (/:9200(\/|$)/.test(url))
    call.deny('database', 'deletes an index', 'Work on an index of your own.');
}

function lastPart(url: string): string {
  return /([^/?#]+)(?:[?#].*)?$/.exec(url)?.[1] ?? 'index.html';
}

const noShells = 'Do not open shells to others.';
const tunnels = /^(?!(version|help|--version|--help|-v|-h)\b)/;

export const transfers: Handlers = byName(
  {
    curl,
    'wget wget2': (call) => {
      const long =
        'output-document post-file post-data body-file body-data header directory-prefix user-agent tries timeout execute use-askpass method';
      const args = readArgs(call.words, 'oOaeiBtTwQPUl', long);
      const url = args.rest[0] ?? '';
      const host = hostOf(url);
      for (const file of args.all('post-file', 'body-file')) sendsFile(call, file, host);
      for (const text of args.all('post-data', 'body-data', 'U', 'user-agent')) sends(call, text, host);
      for (const text of args.all('header')) sends(call, text, host, true);
      for (const program of args.all('use-askpass')) call.script(program);
      sends(call, url, host);
      if (/^delete$/i.test(args.value('method') ?? '')) deletesRemotely(call, url);
      const content = isLocal(host) ? UNKNOWN : NETWORK;
      if (args.value('O', 'output-document') === '-') return content;
      if (args.has('spider')) return '';
      const saved =
        args.value('O', 'output-document') ??
        `${args.value('P', 'directory-prefix') ?? '.'}/${lastPart(url)}`;
      return call.save(saved, content);
    },
    fetch: ({ words }) => (words.includes('-') ? NETWORK : UNKNOWN),
    'http https xh xhs curlie': (call) => {
      const url = call.words.find((word) => /[./:]/.test(word)) ?? '';
      // `:3000/x` is short for localhost.
      const host = url.startsWith(':') ? 'localhost' : hostOf(url);
      if (host !== 'localhost' && call.words.some((word) => /^delete$/i.test(word)))
        deletesRemotely(call, url);
      for (const word of call.words) {
        const [, file] = /^(?:[\w.-]+(?:=|:=)?)?@(.+)$/.exec(word) ?? [];
        if (file) sendsFile(call, file, host);
      }
      sends(call, call.words.join(' '), host);
      const saved = readArgs(call.words, 'o', 'output').value('o', 'output');
      return saved === undefined ? NETWORK : call.save(saved, NETWORK);
    },
    'lynx w3m links elinks GET lwp-request': () => NETWORK,
    'aria2c axel lwp-download': (call) => {
      const args = readArgs(call.words, 'odxsjnm', 'out dir output');
      const [url = '', file] = args.rest;
      const name = args.value('o', 'out', 'output') ?? file ?? lastPart(url);
      const folder = args.value('d', 'dir');
      return call.save(folder === undefined ? name : `${folder}/${name}`, NETWORK);
    },
    'nc ncat netcat telnet': (call) => {
      const args = readArgs(call.words, 'ecpsgGiIoOPqTVwWxX', 'exec sh-exec lua-exec proxy source-port');
      for (const command of args.all('e', 'c', 'exec', 'sh-exec', 'lua-exec'))
        call.deny('remote-shell', `gives ${show(command)} to another machine`, noShells);
      const [host = ''] = args.rest;
      if (args.has('z')) return UNKNOWN;
      if (args.has('l', 'listen')) {
        call.deny('remote-shell', 'waits for raw connections', 'Use a server of the project on 127.0.0.1.');
        return UNKNOWN;
      }
      if (!isLocal(host) && call.stdin !== null)
        call.act(isOpaque(call.stdin) ? 'deny' : 'warn', 'exfiltration', `sends data to ${show(host)}`);
      return isLocal(host) ? UNKNOWN : NETWORK;
    },
    socat: (call) => {
      const text = call.words.join(' ');
      if (/\b(exec|system|pty|shell):/i.test(text)) {
        const [, command] = /\b(?:exec|system):["']?([^,"']+)/i.exec(text) ?? [];
        if (command) call.script(command);
        if (/\b(tcp|udp|openssl|ssl|tcp4|tcp6|sctp)(-\w+)?:/i.test(text))
          call.deny('remote-shell', 'connects a program to the network', noShells);
      }
      for (const [, path = ''] of text.matchAll(/\b(?:file|open|gopen):([^,\s]+)/gi)) call.file('read', path);
      if (/\btcp\d?-listen:/i.test(text))
        call.warn('remote-shell', 'waits for connections', 'Listen on 127.0.0.1 only.');
    },
    // Asks for a name: data in the name reaches whoever answers.
    'dig nslookup host ping traceroute tracepath mtr drill': (call) => {
      const { rest } = readArgs(call.words, 'cfkpqtxybiIsWw');
      for (const name of rest) {
        const isOpaqueName = /^[\uE000-\uE008]+\./.test(name) && call.name !== 'ping';
        if (secretsIn(name).length > 0 || name.includes(PRIVATE) || isOpaqueName)
          call.deny('exfiltration', 'hides data in a name that it looks up');
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
