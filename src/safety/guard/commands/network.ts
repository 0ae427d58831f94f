import { readArgs } from '../argv.ts';
import { isOpaque, NETWORK, PRIVATE, secretsIn, shown, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { isProjectFile, isSecretFile } from '../paths.ts';

const keepHere = 'Keep it on this machine; a person can send it.';

function hostOf(url: string): string {
  const [, host = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^@/?#]*@)?(\[[^\]]*\]|[^:/?#]*)/i.exec(url) ?? [];
  return host.toLowerCase();
}

function isLocal(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|::1|host\.docker\.internal|.*\.(localhost|local|test))$/.test(
    host,
  );
}

/** A token may go to the service that it is for: GITHUB_TOKEN to github.com. */
function isOwner(secret: string, host: string): boolean {
  const [stem = ''] = secret.toLowerCase().split('_');
  const name = stem === 'gh' ? 'github' : stem;
  return name.length > 2 && host.split('.').slice(-2).join('.').includes(name);
}

/** Text on its way to another machine. */
function sends(call: Call, text: string, host: string, asHeader = false): void {
  if (isLocal(host)) return;
  if (text.includes(PRIVATE)) call.act('deny', 'exfiltration', `sends private data to ${host}`, keepHere);
  for (const secret of secretsIn(text)) {
    if (!(asHeader && isOwner(secret, host)))
      call.act('deny', 'exfiltration', `sends the secret ${secret} to ${host}`, keepHere);
  }
}

/** A file on its way to another machine. */
function sendsFile(call: Call, path: string, host: string): void {
  if (path === '-' || path === '/dev/stdin') {
    sends(call, call.stdin ?? '', host);
    return;
  }
  const { context } = call.shell.world;
  const full = call.path(path);
  call.file('read', path);
  if (isLocal(host)) return;
  const secret =
    isSecretFile(full, context, true) ||
    /secret|credential|passw|\.(sql|dump|db|sqlite3?|tar|tgz|tar\.\w+|zip|key|pem)$/i.test(full);
  const outside = !isProjectFile(full, context) && full.startsWith('/') && !full.startsWith('/tmp/');
  call.act(secret || outside ? 'deny' : 'warn', 'exfiltration', `sends ${shown(path)} to ${host}`, keepHere);
}

const curl: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'AbcCdDeEFhHKmoPQrTtuUwxXyYz',
    long: [
      ...[
        'data',
        'data-raw',
        'data-binary',
        'data-urlencode',
        'data-ascii',
        'json',
        'form',
        'form-string',
        'upload-file',
        'header',
        'user',
        'url',
        'output',
        'request',
      ],
      ...[
        'user-agent',
        'cookie',
        'cookie-jar',
        'referer',
        'proxy',
        'unix-socket',
        'config',
        'max-time',
        'connect-timeout',
        'retry',
        'output-dir',
        'cacert',
        'cert',
        'key',
        'resolve',
        'write-out',
        'dump-header',
      ],
    ],
  });
  const urls = [...args.rest, ...args.all('url')];
  const host = hostOf(urls[0] ?? '');
  for (const url of urls) {
    const [, file] = /^file:\/\/(\/.*)$/.exec(url) ?? [];
    if (file) call.file('read', file);
    sends(call, url, hostOf(url));
    if (hostOf(url) === '169.254.169.254' || hostOf(url) === 'metadata.google.internal')
      call.act(
        'deny',
        'credentials',
        'asks the cloud for the credentials of this machine',
        'Use the credentials that the project is given.',
      );
  }
  if (args.value('unix-socket')?.includes('docker.sock'))
    call.act(
      'deny',
      'container',
      'talks to the container engine directly',
      'Use docker with the options of the project.',
    );
  const urlencoded = new Set(args.all('data-urlencode'));
  for (const value of args.all(
    'd',
    'data',
    'data-binary',
    'data-ascii',
    'data-urlencode',
    'json',
    'F',
    'form',
  )) {
    const [, file] =
      /^(?:[\w.[\]-]*=)?@([^;]*)/.exec(value) ??
      (urlencoded.has(value) ? /^[\w.-]+@(.*)/.exec(value) : null) ??
      /^[\w.-]+=<([^;]*)/.exec(value) ??
      [];
    if (file !== undefined) sendsFile(call, file, host);
    else sends(call, value, host);
  }
  for (const value of args.all('data-raw', 'form-string', 'A', 'user-agent', 'b', 'cookie', 'e', 'referer'))
    sends(call, value, host);
  for (const value of args.all('H', 'header', 'u', 'user')) sends(call, value, host, true);
  for (const file of args.all('T', 'upload-file')) sendsFile(call, file, host);
  for (const file of args.all('c', 'cookie-jar', 'D', 'dump-header'))
    if (file !== '-') call.file('write', file);
  const saved =
    args.value('o', 'output') ?? (args.has('O', 'remote-name') ? lastPart(urls[0] ?? '') : undefined);
  const content = isLocal(host) ? UNKNOWN : NETWORK;
  const method = args.value('X', 'request') ?? '';
  if (/^delete$/i.test(method)) deletesRemotely(call, urls[0] ?? '');
  if (saved === undefined || saved === '-') return content;
  const folder = args.value('output-dir');
  const path = folder === undefined || saved.startsWith('/') ? saved : `${folder}/${saved}`;
  call.file('write', path);
  call.keep(path, content);
  return '';
};

/** An API of the project on this machine may be tried out; a search index there is still a database. */
function deletesRemotely(call: Call, url: string): void {
  if (!isLocal(hostOf(url)))
    call.act('deny', 'cloud', `deletes something on ${shown(hostOf(url))}`, 'Leave it to a person.');
  else if (/:9200(\/|$)/.test(url))
    call.act('deny', 'database', 'deletes an index', 'Work on an index of your own.');
}

function lastPart(url: string): string {
  return (
    url
      .replace(/[?#].*$/, '')
      .split('/')
      .at(-1) || 'index.html'
  );
}

const wget: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'oOaeiBtTwQPUl',
    long: [
      'output-document',
      'post-file',
      'post-data',
      'body-file',
      'body-data',
      'header',
      'directory-prefix',
      'user-agent',
      'tries',
      'timeout',
      'execute',
      'use-askpass',
    ],
  });
  const url = args.rest[0] ?? '';
  const host = hostOf(url);
  for (const file of args.all('post-file', 'body-file')) sendsFile(call, file, host);
  for (const text of args.all('post-data', 'body-data', 'U', 'user-agent')) sends(call, text, host);
  for (const text of args.all('header')) sends(call, text, host, true);
  for (const program of args.all('use-askpass')) call.script(program);
  sends(call, url, host);
  const content = isLocal(host) ? UNKNOWN : NETWORK;
  if (args.value('O', 'output-document') === '-') return content;
  if (args.has('spider')) return '';
  const saved =
    args.value('O', 'output-document') ?? `${args.value('P', 'directory-prefix') ?? '.'}/${lastPart(url)}`;
  call.file('write', saved);
  call.keep(saved, content);
  return '';
};

const netcat: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'ecpsgGiIoOPqTVwWxX',
    long: ['exec', 'sh-exec', 'lua-exec', 'proxy', 'source-port'],
  });
  for (const command of args.all('e', 'c', 'exec', 'sh-exec', 'lua-exec')) {
    call.act(
      'deny',
      'remote-shell',
      `gives ${shown(command)} to another machine`,
      'Do not open shells to others.',
    );
  }
  const [host = ''] = args.rest;
  if (args.has('z')) return UNKNOWN;
  if (args.has('l', 'listen')) {
    call.act(
      'deny',
      'remote-shell',
      'waits for raw connections',
      'Use a server of the project on 127.0.0.1.',
    );
    return UNKNOWN;
  }
  if (!isLocal(host) && call.stdin !== null)
    call.act(
      isOpaque(call.stdin) ? 'deny' : 'warn',
      'exfiltration',
      `sends data to ${shown(host)}`,
      keepHere,
    );
  return isLocal(host) ? UNKNOWN : NETWORK;
};

const socat: Handler = (call) => {
  const text = call.words.join(' ');
  if (/\b(exec|system|pty|shell):/i.test(text)) {
    const [, command] = /\b(?:exec|system):["']?([^,"']+)/i.exec(text) ?? [];
    if (command) call.script(command);
    if (/\b(tcp|udp|openssl|ssl|tcp4|tcp6|sctp)(-\w+)?:/i.test(text))
      call.act('deny', 'remote-shell', 'connects a program to the network', 'Do not open shells to others.');
  }
  for (const [, path = ''] of text.matchAll(/\b(?:file|open|gopen):([^,\s]+)/gi)) call.file('read', path);
  if (/\btcp\d?-listen:/i.test(text))
    call.act('warn', 'remote-shell', 'waits for connections', 'Listen on 127.0.0.1 only.');
  return UNKNOWN;
};

const copyRemote: Handler = (call) => {
  const { rest } = readArgs(call.words, { letters: 'cFiJloPS' });
  const target = rest.at(-1) ?? '';
  const sources = rest.slice(0, -1);
  const remote = (path: string) => /^[^/]*:/.test(path) || path.startsWith('scp://');
  const sent = [...sources, ...putsOf(call.stdin ?? '')].filter((path) => !remote(path));
  for (const path of sent) {
    call.file('read', path, { recursive: true });
    if (remote(target) && !isOwn(call, path))
      call.act('deny', 'exfiltration', `copies ${shown(path)} to ${shown(target)}`, keepHere);
  }
  if (remote(target)) call.act('warn', 'exfiltration', `copies files to ${shown(target)}`, keepHere);
  else if (sources.some(remote)) {
    call.file('write', target);
    call.keep(target, NETWORK);
  }
  return UNKNOWN;
};

/** What sftp is told to upload. */
function putsOf(orders: string): string[] {
  return [...orders.matchAll(/^\s*m?put\s+(?:-\w+\s+)*(\S+)/gm)].map(([, path = '']) => path);
}

/** Of the project or made for the moment. */
export function isOwn(call: Call, path: string): boolean {
  const full = call.path(path);
  return !full.startsWith('/') || full.startsWith('/tmp/') || isProjectFile(full, call.shell.world.context);
}

/** Asks for a name: data in the name reaches whoever answers. */
const lookUp: Handler = (call) => {
  const { rest } = readArgs(call.words, { letters: 'cfkpqtxybiIsWw' });
  for (const name of rest) {
    if (
      secretsIn(name).length > 0 ||
      name.includes(PRIVATE) ||
      (/^[\uE000-\uE008]+\./.test(name) && call.name !== 'ping')
    ) {
      call.act('deny', 'exfiltration', 'hides data in a name that it looks up', keepHere);
    }
  }
  return UNKNOWN;
};

const tunnel: Handler = (call) => {
  if (/^(version|help|--version|--help|-v|-h)$/.test(call.words[0] ?? '')) return UNKNOWN;
  call.act('deny', 'remote-shell', 'opens this machine to the internet', 'Test on 127.0.0.1.');
  return UNKNOWN;
};

const mail: Handler = (call) => {
  call.act('deny', 'exfiltration', 'sends mail', 'Leave it to a person.');
  return '';
};

const share: Handler = (call) => {
  call.act('deny', 'exfiltration', 'hands files to others', keepHere);
  return '';
};

const gh: Handler = (call) => {
  const [topic = '', action = '', ...rest] = call.words;
  const files = readArgs(rest, { letters: 'dfR' }).rest;
  if (topic === 'gist' && action === 'create') {
    for (const file of files) if (file !== '-') call.file('read', file);
    call.act('deny', 'exfiltration', 'publishes files as a gist', keepHere);
  }
  if (topic === 'auth' && /^(token|setup-git)$/.test(action))
    call.act(
      'deny',
      'credentials',
      'prints or spreads the GitHub token',
      'Let gh use it; it need not be seen.',
    );
  if (topic === 'auth' && action === 'status' && rest.some((word) => /^(-t|--show-token)$/.test(word)))
    call.act('deny', 'credentials', 'prints the GitHub token', 'Leave --show-token out.');
  if (topic === 'repo' && /^(delete|archive)$/.test(action))
    call.act('deny', 'cloud', `${action}s the repository`, 'Leave it to a person.');
  if (topic === 'repo' && action === 'edit' && rest.some((word) => /^--visibility/.test(word)))
    call.act('deny', 'exfiltration', 'changes who can see the repository', 'Leave it to a person.');
  if (topic === 'release' && action === 'delete')
    call.act('deny', 'cloud', 'deletes a release', 'Leave it to a person.');
  if (/^(secret|ssh-key|gpg-key)$/.test(topic) && /^(set|add|delete|remove)$/.test(action))
    call.act('deny', 'credentials', `changes the ${topic}s on GitHub`, 'Leave it to a person.');
  if (topic === 'alias' && action === 'set' && rest[1]?.startsWith('!')) call.script(rest[1].slice(1));
  if (topic === 'api') {
    const method = readArgs(call.words.slice(1), { letters: 'XfFHq', long: ['method'] }).value('X', 'method');
    if (/^delete$/i.test(method ?? ''))
      call.act('deny', 'cloud', 'deletes something on GitHub', 'Leave it to a person.');
  }
  return UNKNOWN;
};

const httpie: Handler = (call) => {
  const host = hostOf(call.words.find((word) => /[./:]/.test(word)) ?? '');
  for (const word of call.words) {
    const [, file] = /^[\w.-]+(?:=|:=)?@(.+)$/.exec(word) ?? [];
    if (file) sendsFile(call, file, host);
  }
  sends(call, call.words.join(' '), host);
  return NETWORK;
};

const glab: Handler = (call) => {
  if (/^(repo|project) delete\b|^release delete\b|^api\b.*\bDELETE\b/.test(call.words.join(' ')))
    call.act('deny', 'cloud', 'deletes something on GitLab', 'Leave it to a person.');
  return UNKNOWN;
};

export const network: Handlers = {
  curl,
  wget,
  // Of FreeBSD.
  fetch: ({ words }) => (words.includes('-') ? NETWORK : UNKNOWN),
  wget2: wget,
  http: httpie,
  https: httpie,
  nc: netcat,
  ncat: netcat,
  netcat,
  telnet: netcat,
  socat,
  scp: copyRemote,
  sftp: copyRemote,
  ftp: netcat,
  dig: lookUp,
  nslookup: lookUp,
  host: lookUp,
  ping: lookUp,
  ngrok: tunnel,
  cloudflared: tunnel,
  lt: tunnel,
  localtunnel: tunnel,
  bore: tunnel,
  frpc: tunnel,
  chisel: tunnel,
  ...Object.fromEntries(
    [
      'tmate',
      'sshx',
      'upterm',
      'gs-netcat',
      'ttyd',
      'gotty',
      'wetty',
      'zrok',
      'rathole',
      'pagekite',
      'inlets',
    ].map((name) => [name, tunnel]),
  ),
  tailscale: (call) => (/^(funnel|serve|up)$/.test(call.words[0] ?? '') ? tunnel(call) : UNKNOWN),
  mail,
  mailx: mail,
  sendmail: mail,
  mutt: mail,
  glab,
  croc: share,
  wormhole: share,
  gh,
};
