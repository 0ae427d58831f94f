import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkCommand, checkToolCall } from './index.ts';

let home: string;
let project: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'guard-library-')));
  project = join(home, 'project');
  mkdirSync(join(project, '.ralph'), { recursive: true });
});

afterEach(() => rmSync(home, { recursive: true }));

describe('the guard as a library', () => {
  it.each([
    ['relative', () => relative(process.cwd(), project)],
    ['with a slash at its end', () => `${project}/`],
    ['with dots in it', () => `${project}/src/..`],
  ])('takes a folder that is %s', async (_how, folder) => {
    const place = { cwd: folder(), env: { HOME: home } };
    const verdictOf = async (command: string) => (await checkCommand(command, place)).category;
    expect(await verdictOf('echo {} > .ralph/guard.json')).toBe('loop-state');
    expect(await verdictOf('rm -rf x')).toBeNull();
    expect(await verdictOf('rm -rf ../x')).toBe('destructive-files');
  });

  it.each([
    ['if true; then git push --force; fi', 'git'],
    ['npm test && aws s3 rb --force s3://backups', 'cloud'],
    ['if true; then aws s3 rb --force s3://backups; fi', 'cloud'],
    ['echo x > migrations/1.sql', 'policy'],
  ])('loads what it needs to judge %s', async (command, category) => {
    const deny = [{ effect: 'write', path: 'migrations/**' }];
    writeFileSync(join(project, '.ralph/guard.json'), JSON.stringify({ deny }));
    expect((await checkCommand(command, { cwd: project, env: { HOME: home } })).category).toBe(category);
  });

  it('says what is missing where a program without types gives no text', async () => {
    const wrong = { name: 'GuardError', remedy: expect.stringContaining('string') };
    await expect(Reflect.apply(checkCommand, null, [])).rejects.toMatchObject(wrong);
    await expect(Reflect.apply(checkToolCall, null, [])).rejects.toMatchObject(wrong);
  });

  it('denies a call of a shell that does not show its command', async () => {
    const place = { cwd: project };
    expect(await checkToolCall('Bash', { command: 123 }, place)).toMatchObject({
      verdict: 'deny',
      category: 'unparsable',
    });
    expect(await checkToolCall('Bash', { command: 123 }, { ...place, unattended: false })).toMatchObject({
      verdict: 'warn',
    });
  });
});
