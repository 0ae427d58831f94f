import { readArgs } from '../argv.ts';
import { NETWORK, UNKNOWN } from '../marks.ts';
import { mentionSecrets } from '../mentions.ts';
import type { Handler, Handlers } from '../model.ts';
import { isSecretFile } from '../zones.ts';
import { fetchesFiles, fetchesFolder, keepFetched } from './fetched.ts';
import { hostOf, isLocal, keepHere, sends, serves, uploads } from './hosts.ts';
import { asksHelp, named } from './rules.ts';

const copyRemote: Handler = (call) => {
  const { rest } = readArgs(call.words, { letters: 'cFiJloPS' });
  const target = rest.at(-1) ?? '';
  const sources = rest.slice(0, -1);
  const remote = (path: string) => /^[^/]*:/.test(path) || path.startsWith('scp://');
  const local = sources.filter((path) => !remote(path));
  const put = putsOf(call.stdin ?? '');
  if (remote(target) || put.length > 0) uploads(call, [...local, ...put], target);
  else for (const path of local) call.file('read', path, { recursive: true });
  if (!remote(target) && sources.some(remote)) {
    call.file('write', target);
    fetchesFiles(call, sources, target);
  }
  return UNKNOWN;
};

/** What ftp is told to upload, on its command line or by its input. */
const ftp: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'ceupP' });
  const host = args.rest[0] ?? '';
  // `ftp -u URL FILE` uploads at once.
  const [target = ''] = args.all('u');
  if (call.name === 'ftp' && target.includes(':') && !isLocal(hostOf(target)))
    uploads(call, args.rest, target);
  const orders = call.words
    .join('\n')
    .replace(/\bput\n/g, 'put ')
    .replace(/;\s*/g, '\n')
    .replaceAll('~', call.shell.world.context.home);
  if (!isLocal(host)) uploads(call, putsOf(`${orders}\n${call.stdin ?? ''}`), host);
  if (call.words.some((word) => /^(https?|ftp):/.test(word))) return NETWORK;
  return UNKNOWN;
};

/** What sftp is told to upload. */
function putsOf(orders: string): string[] {
  return [...orders.matchAll(/^\s*(?:m?put|mirror -R)\s+(?:-\w+\s+)*(\S+)/gm)].map(([, path = '']) => path);
}

const mail: Handler = (call) => {
  call.act('deny', 'exfiltration', 'sends mail', 'Leave it to a person.');
  return '';
};

const share: Handler = (call) => {
  call.act('deny', 'exfiltration', 'hands files to others', keepHere);
  return '';
};

const gh: Handler = (call) => {
  mentionSecrets(call, call.words);
  const said = call.words.filter((_, i) => !/^(-H|--header)$/.test(call.words[i - 1] ?? ''));
  sends(call, said.join(' '), 'github.com');
  const [topic = '', action = '', ...rest] = call.words;
  const person = 'Leave it to a person.';
  if (asksHelp(call)) return UNKNOWN;
  const [source = '', folder] = readArgs(rest, { letters: 'u' }).rest;
  if (topic === 'gist' && action === 'clone') keepFetched(call, folder ?? source);
  if (topic === 'repo' && action === 'clone') fetchesFolder(call, `https://github.com/${source}`, folder);
  const files = readArgs(rest, { letters: 'dfR' }).rest;
  if (topic === 'release')
    for (const file of files)
      if (isSecretFile(call.path(file), call.shell.world.context, false)) call.file('read', file);
  if (topic === 'gist' && /^(create|edit)$/.test(action)) {
    for (const file of files) if (file !== '-') call.file('read', file);
    call.act('deny', 'exfiltration', 'publishes files as a gist', keepHere);
  }
  if (topic === 'auth' && /^(token|setup-git|logout|refresh)$/.test(action))
    call.act(
      'deny',
      'credentials',
      'prints, spreads or drops the GitHub token',
      'Let gh use it; it need not be seen.',
    );
  if (topic === 'auth' && action === 'status' && rest.some((word) => /^(-t|--show-token)$/.test(word)))
    call.act('deny', 'credentials', 'prints the GitHub token', 'Leave --show-token out.');
  if (topic === 'repo' && /^(archive|rename)$/.test(action))
    call.act('deny', 'cloud', `${action}s the repository`, person);
  for (const file of readArgs(rest, { letters: 'F', long: ['body-file', 'notes-file'] }).all(
    'F',
    'body-file',
    'notes-file',
  ))
    if (file !== '-' && topic !== 'api') call.file('read', file);
  if (topic === 'repo' && action === 'create' && rest.includes('--public'))
    call.act('deny', 'exfiltration', 'shows the project to everybody', person);
  if (topic === 'repo' && action === 'sync' && rest.includes('--force'))
    call.act('deny', 'git', 'overwrites a branch with its commits', person);
  if (topic === 'repo' && action === 'edit' && rest.some((word) => /^--visibility/.test(word)))
    call.act('deny', 'exfiltration', 'changes who can see the repository', person);
  // A cache or a label is soon made again.
  if (/^delete/.test(action) && !/^(cache|label|api|search)$/.test(topic))
    call.act('deny', 'cloud', `deletes a ${topic} on GitHub`, person);
  if (/^(secret|ssh-key|gpg-key)$/.test(topic) && /^(set|add|remove)$/.test(action))
    call.act('deny', 'credentials', `changes the ${topic}s on GitHub`, person);
  if (topic === 'repo' && action === 'deploy-key' && /^(add|delete)$/.test(rest[0] ?? ''))
    call.act('deny', 'credentials', 'changes who may write to the repository', person);
  if (topic === 'pr' && action === 'merge' && rest.includes('--admin'))
    call.act('deny', 'cloud', 'merges against the rules of the repository', 'Leave --admin out.');
  if (topic === 'workflow' && action === 'disable')
    call.act('deny', 'cloud', 'turns off a check of the repository', person);
  if (topic === 'alias' && action === 'set' && rest[1]?.startsWith('!')) call.script(rest[1].slice(1));
  if (topic === 'api') {
    const args = readArgs(call.words.slice(1), { letters: 'XfFHq', long: ['method', 'field', 'raw-field'] });
    const method = args.value('X', 'method') ?? '';
    if (/^delete$/i.test(method)) call.act('deny', 'cloud', 'deletes something on GitHub', person);
    if (
      /^(put|post|patch)$/i.test(method) &&
      /\/(collaborators|protection|keys|hooks|invitations|memberships)\b/.test(args.rest[0] ?? '')
    )
      call.act('deny', 'cloud', 'changes who may do what on GitHub', person);
    if (call.words.some((word) => /\bmutation\b[\s\S]*\b(delete|remove|archive)\w*\s*\(/.test(word)))
      call.act('deny', 'cloud', 'deletes something on GitHub', person);
    if (
      args
        .all('f', 'F', 'field', 'raw-field')
        .some((field) => /^(private=false|visibility=public)$/.test(field))
    )
      call.act('deny', 'exfiltration', 'changes who can see the repository', person);
    return NETWORK;
  }
  return topic === 'gist' || /^(view|diff)$/.test(action) ? NETWORK : UNKNOWN;
};

const glab: Handler = (call) => {
  if (/^snippet (create|new)\b/.test(call.words.join(' ')))
    call.act('deny', 'exfiltration', 'publishes files as a snippet', keepHere);
  sends(call, call.words.join(' '), 'gitlab.com', true);
  if (
    /^(repo|project|release|variable|ci|issue|mr|ssh-key) delete\b|^api\b.*\bDELETE\b/.test(
      call.words.join(' '),
    )
  )
    call.act('deny', 'cloud', 'deletes something on GitLab', 'Leave it to a person.');
  return UNKNOWN;
};

/** The folder that a small web server is told to show. */
function webServer(options: { letters?: string; long?: readonly string[]; by?: readonly string[] }): Handler {
  return (call) => {
    const args = readArgs(call.words, options);
    return serves(call, args.value(...(options.by ?? [])) ?? (options.by ? '.' : (args.rest[0] ?? '.')));
  };
}

/** Hands files or words to others: copies, mail, code hosts, web servers. */
export const sharing: Handlers = {
  scp: copyRemote,
  sftp: copyRemote,
  ...named('ftp tftp lftp', ftp),
  ncftpput: (call) => {
    const [host = '', , ...files] = readArgs(call.words, { letters: 'upP' }).rest;
    uploads(call, files, host);
    return UNKNOWN;
  },
  ...named('gh-pages surge', (call) => {
    const args = readArgs(call.words, { letters: 'dr', long: ['dist', 'repo', 'project'] });
    uploads(call, [...args.all('d', 'dist'), ...args.rest.slice(0, 1)], 'the web');
    return UNKNOWN;
  }),
  ...named('mail mailx sendmail mutt s-nail swaks msmtp', mail),
  ...named(
    'croc wormhole magic-wormhole ffsend transfer transfer.sh onionshare onionshare-cli pastebinit',
    share,
  ),
  ...named(
    'serve http-server live-server miniserve darkhttpd simple-http-server static-server',
    webServer({ letters: 'lpadcSCPTU', long: ['listen', 'port', 'config', 'host', 'interfaces'] }),
  ),
  caddy: (call) =>
    call.words[0] === 'file-server'
      ? webServer({ letters: 'rl', long: ['root', 'listen', 'domain'], by: ['r', 'root'] })(call)
      : UNKNOWN,
  smbclient: (call) => ftp(call.with({ words: call.words.flatMap((word) => word.split(/\s*;\s*/)) })),
  httpd: webServer({ letters: 'pcuhr', by: ['h'] }),
  gh,
  glab,
};
