import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agents } from '../agents/registry.ts';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { createPrivateHome } from './home.ts';
import { compareLogins } from './login.ts';

function setUp(files: Record<string, string>, more: Record<string, string> = {}) {
  const base = makeTempDir('home-test-');
  onTestFinished(() => removeTempDir(base));
  const [home, folder] = [join(base, 'home'), join(base, 'private')];
  mkdirSync(home);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  const env = { PATH: process.env.PATH, HOME: home, ...more };
  const read = (name: string) => readFileSync(join(base, name), 'utf8');
  const notices: string[] = [];
  const made = createPrivateHome(folder, env, agents.codex.sandbox, (text) => notices.push(text));
  const fill = (keepSessions = false) => made.fill({ keepSessions });
  return { base, env, folder, read, notices, home: { ...made, fill } };
}

const login = (token: string) => JSON.stringify({ tokens: { access_token: token, account: 'me' } });

describe('the private home', () => {
  it('has the settings and the login of the agent, and nothing else', async () => {
    const { home, read } = setUp({
      'home/.codex/config.toml': 'model = "x"',
      'home/.codex/auth.json': login('a'),
      'home/.codex/history.jsonl': 'private',
      'home/.ssh/id': 'SECRET',
    });
    await home.fill();
    expect(read('private/.codex/config.toml')).toBe('model = "x"');
    expect(read('private/.codex/auth.json')).toBe(login('a'));
    expect(() => read('private/.codex/history.jsonl')).toThrow('ENOENT');
    expect(() => read('private/.ssh/id')).toThrow('ENOENT');
  });

  it('finds them where a variable has moved them', async () => {
    const { base, env, folder, read } = setUp({ 'elsewhere/auth.json': login('a') });
    const moved = { ...env, CODEX_HOME: join(base, 'elsewhere') };
    await createPrivateHome(folder, moved, agents.codex.sandbox, () => {}).fill({ keepSessions: false });
    expect(read('private/.codex/auth.json')).toBe(login('a'));
  });

  it('is filled through no link that the agent left there', async () => {
    const { home, base, folder, read } = setUp({
      'home/.codex/auth.json': login('a'),
      'victim/auth.json': 'mine',
    });
    mkdirSync(folder);
    symlinkSync(join(base, 'victim'), join(folder, '.codex'));
    symlinkSync(join(base, 'victim', 'auth.json'), join(folder, '.gitconfig'));
    await home.fill();
    expect(read('victim/auth.json')).toBe('mine');
    expect(read('private/.codex/auth.json')).toBe(login('a'));
  });

  it('gives a renewed login back', async () => {
    const { home, folder, read } = setUp({ 'home/.codex/auth.json': login('a') });
    await home.fill();
    writeFileSync(join(folder, '.codex/auth.json'), login('b'));
    home.giveBack();
    expect(read('home/.codex/auth.json')).toBe(login('b'));
  });

  it('finds a login behind a link, and gives it back there', async () => {
    const { home, base, folder, read } = setUp({ 'dotfiles/auth.json': login('a'), 'home/.codex/x': '' });
    symlinkSync(join(base, 'dotfiles', 'auth.json'), join(base, 'home', '.codex', 'auth.json'));
    await home.fill();
    writeFileSync(join(folder, '.codex/auth.json'), login('b'));
    home.giveBack();
    expect(read('dotfiles/auth.json')).toBe(login('b'));
  });

  it('gives nothing back over a login that changed outside, nor through a link', async () => {
    const { home, base, folder, read } = setUp({
      'home/.codex/auth.json': login('a'),
      'spy.json': login('spy'),
    });
    await home.fill();
    unlinkSync(join(folder, '.codex/auth.json'));
    symlinkSync(join(base, 'spy.json'), join(folder, '.codex/auth.json'));
    home.giveBack();
    expect(read('home/.codex/auth.json')).toBe(login('a'));
    await home.fill();
    writeFileSync(join(folder, '.codex/auth.json'), login('b'));
    writeFileSync(join(base, 'home/.codex/auth.json'), login('outside'));
    home.giveBack();
    expect(read('home/.codex/auth.json')).toBe(login('outside'));
  });

  it('knows who commits, but no key and no program of the user', async () => {
    const config = [
      '[user]\n\tname = Ann "A" \\\\ B\n\temail = ann@example.com\n\tsigningkey = KEY',
      '[credential]\n\thelper = store\n[core]\n\tsshCommand = evil\n[commit]\n\tgpgsign = true',
      '[url "https://token@example.com/"]\n\tinsteadOf = x',
    ].join('\n');
    const { home, read } = setUp({ 'home/.gitconfig': config });
    await home.fill();
    const inside = read('private/.gitconfig');
    expect(inside).toContain('name = "Ann A \\\\ B"');
    expect(inside).toContain('gpgsign = false');
    expect(inside).not.toMatch(/KEY|credential|ssh|token/i);
  });
});

/** A token of OpenAI's form. */
const jwt = (account: string, more = '') => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: `auth0|${account}`, 'https://api.openai.com/auth': { chatgpt_account_id: account } };
  return `${part({ alg: 'RS256' })}.${part({ ...claims, jti: more })}.c2ln`;
};
const tokens = (account: string, more: string) => ({
  OPENAI_API_KEY: null,
  tokens: { id_token: jwt(account, more), access_token: jwt(account, more), refresh_token: more },
  last_refresh: `2026-11-17T0${more.length}:00:00Z`,
});

describe('a login from inside', () => {
  const compare = (before: object, after: object) =>
    compareLogins(JSON.stringify(before), JSON.stringify(after));
  const plain = { access_token: 'a', account: 'me' };

  it.each([
    ['another token', plain, { access_token: 'b', account: 'me' }, 'same-account'],
    ['nothing new', plain, plain, 'same-account'],
    ['another account', plain, { access_token: 'b', account: 'you' }, 'no-renewal'],
    ['one more entry', plain, { ...plain, helper: 'evil' }, 'no-renewal'],
    ['one entry less', plain, { access_token: 'a' }, 'no-renewal'],
    ['a token of another kind', plain, { access_token: { x: 1 }, account: 'me' }, 'no-renewal'],
    ['tokens that say the same account', tokens('me', 'a'), tokens('me', 'bb'), 'same-account'],
    ['tokens that say another one', tokens('me', 'a'), tokens('you', 'bb'), 'other-account'],
    [
      'tokens that say nothing any more',
      tokens('me', 'a'),
      { ...tokens('me', 'a'), tokens: { id_token: 'x', access_token: 'x', refresh_token: 'x' } },
      'other-account',
    ],
    ['tokens that never said anything', { a: { accessToken: 'a' } }, { a: { accessToken: 'b' } }, 'unproven'],
    [
      'of two providers the one that says nothing',
      { openai: tokens('me', 'a').tokens, other: { access: 'a' } },
      { openai: tokens('me', 'a').tokens, other: { access: 'b' } },
      'unproven',
    ],
  ])('may have %s', (_what, before, after, expected) => {
    expect(compare(before, after)).toBe(expected);
  });

  it('is JSON', () => {
    expect(compareLogins(login('a'), 'not json')).toBe('no-renewal');
  });

  it('is kept aside if it is of another account, and stays there', async () => {
    const { home, folder, base, read, notices } = setUp({
      'home/.codex/auth.json': JSON.stringify(tokens('me', 'a')),
    });
    await home.fill();
    writeFileSync(join(folder, '.codex/auth.json'), JSON.stringify(tokens('you', 'b')));
    home.giveBack();
    home.giveBack();
    expect(JSON.parse(read('home/.codex/auth.json'))).toEqual(tokens('me', 'a'));
    await home.fill();
    expect(JSON.parse(read('private/.codex/auth.json'))).toEqual(tokens('me', 'a'));
    const [name = ''] = readdirSync(join(base, 'logins'));
    expect(JSON.parse(read(join('logins', name)))).toEqual(tokens('you', 'b'));
    expect(statSync(join(base, 'logins', name)).mode & 0o777).toBe(0o600);
    expect(notices).toEqual([expect.stringContaining('it is of another account')]);
  });

  it('is used inside if nothing says whose it is, until the user logs in again', async () => {
    const opaque = (token: string) => JSON.stringify({ tokens: { access_token: token } });
    const { home, folder, base, read, notices } = setUp({ 'home/.codex/auth.json': opaque('a') });
    await home.fill();
    writeFileSync(join(folder, '.codex/auth.json'), opaque('b'));
    home.giveBack();
    expect(read('home/.codex/auth.json')).toBe(opaque('a'));
    expect(notices).toEqual([expect.stringContaining('nothing in it says whose account it is')]);
    await home.fill();
    expect(read('private/.codex/auth.json')).toBe(opaque('b'));
    writeFileSync(join(base, 'home/.codex/auth.json'), opaque('c'));
    await home.fill();
    expect(read('private/.codex/auth.json')).toBe(opaque('c'));
    expect(readdirSync(join(base, 'logins'))).toEqual([]);
  });
});

describe('a home that is filled again', () => {
  it('has nothing of the agent but its sessions, and these only where they are wanted', async () => {
    const { home, folder, base } = setUp({ 'elsewhere/x.jsonl': 'mine' });
    await home.fill();
    const session = join(folder, '.codex/sessions/2026/11/17/rollout-1.jsonl');
    mkdirSync(dirname(session), { recursive: true });
    writeFileSync(session, '{}');
    for (const name of ['.codex/AGENTS.md', '.bashrc', '.codex/sessions/AGENTS.md'])
      writeFileSync(join(folder, name), 'evil');
    symlinkSync(join(base, 'elsewhere/x.jsonl'), join(folder, '.codex/sessions/link.jsonl'));
    await home.fill(true);
    expect(readdirSync(folder).sort()).toEqual(['.codex', '.gitconfig']);
    expect(readdirSync(join(folder, '.codex'))).toEqual(['sessions']);
    expect(readdirSync(join(folder, '.codex/sessions'))).toEqual(['2026']);
    expect(readFileSync(session, 'utf8')).toBe('{}');
    await home.fill();
    expect(existsSync(session)).toBe(false);
  });

  it('takes no sessions from where a link leads', async () => {
    const { home, folder, base, read } = setUp({ 'mine/sessions/x.jsonl': 'mine' });
    await home.fill();
    symlinkSync(join(base, 'mine'), join(folder, '.codex'));
    await home.fill(true);
    expect(read('mine/sessions/x.jsonl')).toBe('mine');
    expect(existsSync(join(folder, '.codex'))).toBe(false);
  });

  it('is emptied of folders that the agent closed', async () => {
    const { home, folder } = setUp({});
    await home.fill();
    mkdirSync(join(folder, 'go/pkg'), { recursive: true });
    writeFileSync(join(folder, 'go/pkg/x'), '');
    chmodSync(join(folder, 'go/pkg'), 0o500);
    await home.fill();
    expect(readdirSync(folder)).toEqual(['.gitconfig']);
  });
});
