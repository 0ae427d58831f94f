import { readArgs } from '../argv.ts';
import { NETWORK, shown, UNKNOWN } from '../marks.ts';
import { mentionSecrets } from '../mentions.ts';
import type { Handler, Handlers } from '../model.ts';
import { fetchesFolder } from './fetched.ts';
import { isOwn, keepHere } from './hosts.ts';

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
  const [topic = '', action = '', ...rest] = call.words;
  const [source = '', folder] = readArgs(rest, { letters: 'u' }).rest;
  if (topic === 'repo' && action === 'clone') fetchesFolder(call, `https://github.com/${source}`, folder);
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

const glab: Handler = (call) => {
  if (/^(repo|project) delete\b|^release delete\b|^api\b.*\bDELETE\b/.test(call.words.join(' ')))
    call.act('deny', 'cloud', 'deletes something on GitLab', 'Leave it to a person.');
  return UNKNOWN;
};

/** Hands files or words to others: copies, mail, code hosts. */
export const sharing: Handlers = {
  scp: copyRemote,
  sftp: copyRemote,
  mail,
  mailx: mail,
  sendmail: mail,
  mutt: mail,
  croc: share,
  wormhole: share,
  gh,
  glab,
};
