import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agents } from '../agents/registry.ts';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { createPrivateHome, renews } from './home.ts';

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
  return { base, env, folder, read, home: createPrivateHome(folder, env, agents.codex.sandbox) };
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
    await createPrivateHome(folder, moved, agents.codex.sandbox).fill();
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

describe('a renewed login', () => {
  it.each([
    ['another token', { access_token: 'b', account: 'me' }, true],
    ['the same', { access_token: 'a', account: 'me' }, true],
    ['another account', { access_token: 'b', account: 'you' }, false],
    ['one more entry', { access_token: 'a', account: 'me', helper: 'evil' }, false],
    ['one entry less', { access_token: 'a' }, false],
    ['a token of another kind', { access_token: { x: 1 }, account: 'me' }, false],
  ])('may have %s: %s', (_what, after, expected) => {
    expect(renews(JSON.stringify({ access_token: 'a', account: 'me' }), JSON.stringify(after))).toBe(
      expected,
    );
  });

  it('is JSON', () => {
    expect(renews(login('a'), 'not json')).toBe(false);
  });
});
