import { readArgs } from '../argv.ts';
import type { Handler, Handlers } from '../call.ts';
import { remedyOf } from '../categories.ts';
import { mentionSecrets } from '../feed.ts';
import { NETWORK, UNKNOWN } from '../marks.ts';
import { isSecretFile } from '../zones.ts';
import { fetchesFiles, fetchesFolder, keepFetched } from './fetched.ts';
import { hostOf, isLocal, sends, serves, uploads } from './hosts.ts';
import { asksHelp, byName, denyLines, type LineRule } from './rules.ts';

const ftp: Handler = (call) => {
  const args = readArgs(call.words, 'ceupP');
  const host = args.rest[0] ?? '';
  // `ftp -u URL FILE` uploads at once.
  const [target = ''] = args.all('u');
  if (call.name === 'ftp' && target.includes(':') && !isLocal(hostOf(target)))
    uploads(call, args.rest, target);
  const orders = call.words
    .join('\n')
    .replace(/\bput\n/g, 'put ')
    .replace(/;\s*/g, '\n')
    .replaceAll('~', call.context.home);
  if (!isLocal(host)) uploads(call, putsOf(`${orders}\n${call.stdin ?? ''}`), host);
  if (call.words.some((word) => /^(https?|ftp):/.test(word))) return NETWORK;
};

function putsOf(orders: string): string[] {
  return [...orders.matchAll(/^\s*(?:m?put|mirror -R)\s+(?:-\w+\s+)*(\S+)/gm)].map(([, path = '']) => path);
}

const gitlabRules: readonly LineRule[] = [
  [/^snippet (create|new)\b/, 'exfiltration', 'publishes files as a snippet', remedyOf('exfiltration')],
  [
    /^(repo|project|release|variable|ci|issue|mr|ssh-key) delete\b|^api\b.*\bDELETE\b/,
    'cloud',
    'deletes something on GitLab',
  ],
];

const githubRules: readonly LineRule[] = [
  [
    /^auth (token|setup-git|logout|refresh)\b/,
    'credentials',
    'prints, spreads or drops the GitHub token',
    'Let gh use it; it need not be seen.',
  ],
  [
    /^auth status\b.* (-t|--show-token)\b/,
    'credentials',
    'prints the GitHub token',
    'Leave --show-token out.',
  ],
  [/^(secret|ssh-key|gpg-key) (set|add|remove)\b/, 'credentials', 'changes the keys or secrets on GitHub'],
  [/^repo deploy-key (add|delete)\b/, 'credentials', 'changes who may write to the repository'],
  [/^repo (archive|rename)\b/, 'cloud', 'archives or renames the repository'],
  // A cache or a label is soon made again.
  [/^(?!cache|label|api|search)\S+ delete/, 'cloud', 'deletes something on GitHub'],
  [/^pr merge\b.* --admin\b/, 'cloud', 'merges against the rules of the repository', 'Leave --admin out.'],
  [/^workflow disable\b/, 'cloud', 'turns off a check of the repository'],
  [/^repo sync\b.* --force\b/, 'git', 'overwrites a branch with its commits'],
  [/^repo create\b.* --public\b/, 'exfiltration', 'shows the project to everybody'],
  [/^repo edit\b.* --visibility/, 'exfiltration', 'changes who can see the repository'],
  [/^gist (create|edit)\b/, 'exfiltration', 'publishes files as a gist', remedyOf('exfiltration')],
  [/^api\b.* (-X|--method)[ =]?delete\b/i, 'cloud', 'deletes something on GitHub'],
  [/^api\b.*\bmutation\b.*\b(delete|remove|archive)\w*\s*\(/s, 'cloud', 'deletes something on GitHub'],
  [
    /^api\b(?=.* (-X|--method)[ =]?(put|post|patch)\b).*\/(collaborators|protection|keys|hooks|invitations|memberships)\b/i,
    'cloud',
    'changes who may do what on GitHub',
  ],
  [/^api\b.* (private=false|visibility=public)( |$)/, 'exfiltration', 'changes who can see the repository'],
];

/** The folder that a small web server is told to show, by one of the options or as its first word. */
function webServer(letters: string, long = '', ...by: string[]): Handler {
  return (call) => {
    const args = readArgs(call.words, letters, long);
    return serves(call, args.value(...by) ?? (by.length > 0 ? '.' : (args.rest[0] ?? '.')));
  };
}

export const sharing: Handlers = byName({
  'scp sftp': (call) => {
    const { rest } = readArgs(call.words, 'cFiJloPS');
    const target = rest.at(-1) ?? '';
    const sources = rest.slice(0, -1);
    const remote = (path: string) => /^[^/]*:/.test(path) || path.startsWith('scp://');
    const local = sources.filter((path) => !remote(path));
    const puts = putsOf(call.stdin ?? '');
    if (remote(target) || puts.length > 0) uploads(call, [...local, ...puts], target);
    else for (const path of local) call.file('read', path, { recursive: true });
    if (!remote(target) && sources.some(remote)) {
      call.file('write', target);
      fetchesFiles(call, sources, target);
    }
  },
  'ftp tftp lftp': ftp,
  ncftpput: (call) => {
    const [host = '', , ...files] = readArgs(call.words, 'upP').rest;
    uploads(call, files, host);
  },
  'gh-pages surge': (call) => {
    const args = readArgs(call.words, 'dr', 'dist repo project');
    uploads(call, [...args.all('d', 'dist'), ...args.rest.slice(0, 1)], 'the web');
  },
  'mail mailx sendmail mutt s-nail swaks msmtp': (call) =>
    call.deny('exfiltration', 'sends mail', 'Leave it to a person.'),
  'croc wormhole magic-wormhole ffsend transfer transfer.sh onionshare onionshare-cli pastebinit': (call) =>
    call.deny('exfiltration', 'hands files to others'),
  'serve http-server live-server miniserve darkhttpd simple-http-server static-server': webServer(
    'lpadcSCPTU',
    'listen port config host interfaces',
  ),
  caddy: (call) =>
    call.words[0] === 'file-server' ? webServer('rl', 'root listen domain', 'r', 'root')(call) : UNKNOWN,
  smbclient: (call) => ftp(call.with({ words: call.words.flatMap((word) => word.split(/\s*;\s*/)) })),
  httpd: webServer('pcuhr', '', 'h'),
  gh: (call) => {
    mentionSecrets(call, call.words);
    const contents = call.words.filter((_, i) => !/^(-H|--header)$/.test(call.words[i - 1] ?? ''));
    sends(call, contents.join(' '), 'github.com');
    if (asksHelp(call)) return UNKNOWN;
    denyLines(call, call.words, githubRules);
    const [topic = '', action = ''] = call.words;
    const order = `${topic} ${action}`;
    const args = readArgs(call.words.slice(2), 'udfRF', 'body-file notes-file');
    const [source = '', target] = args.rest;
    if (order === 'gist clone') keepFetched(call, target ?? source);
    if (order === 'repo clone') fetchesFolder(call, `https://github.com/${source}`, target);
    if (order === 'alias set' && target?.startsWith('!')) call.script(target.slice(1));
    const isSecret = (file: string) => isSecretFile(call.path(file), call.context, false);
    const files =
      topic === 'release' ? args.rest.filter(isSecret) : /^gist (cr|ed)/.test(order) ? args.rest : [];
    const texts = topic === 'api' ? [] : args.all('F', 'body-file', 'notes-file');
    for (const file of [...files, ...texts]) if (file !== '-') call.file('read', file);
    return /^(gist|api)$/.test(topic) || /^(view|diff)$/.test(action) ? NETWORK : UNKNOWN;
  },
  glab: (call) => {
    sends(call, call.words.join(' '), 'gitlab.com', true);
    denyLines(call, call.words, gitlabRules);
  },
});
