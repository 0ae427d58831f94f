import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadRarePrograms } from './commands/all.ts';
import { judgeCommand } from './judge.ts';
import { loadGuardContext } from './load-context.ts';

await loadRarePrograms();

let top = '';
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'guard-')));
  for (const folder of ['home', 'project/.git', 'project/src', 'other']) {
    mkdirSync(join(top, folder), { recursive: true });
  }
});
afterEach(() => rmSync(top, { recursive: true }));

function realPathIn(project: string): (path: string) => string {
  const { realPath } = loadGuardContext(project, { HOME: join(top, 'home') }, true);
  return (path) => realPath?.(path) ?? 'unknown';
}

describe('where a path leads', () => {
  it('is followed through links to folders, to files and to other links', () => {
    const project = join(top, 'project');
    writeFileSync(join(top, 'other/file'), '');
    symlinkSync(join(top, 'other'), join(project, 'folder'));
    symlinkSync('folder/file', join(project, 'file'));
    symlinkSync('../folder', join(project, 'src/again'));
    const real = realPathIn(project);
    expect(real(join(project, 'folder/new/deep.txt'))).toBe(join(top, 'other/new/deep.txt'));
    expect(real(join(project, 'folder'))).toBe(join(top, 'other'));
    expect(real(join(project, 'file'))).toBe(join(top, 'other/file'));
    expect(real(join(project, 'src/again/file'))).toBe(join(top, 'other/file'));
    expect(real(join(project, 'src/a.ts'))).toBe(join(project, 'src/a.ts'));
    expect(real('/')).toBe('/');
  });

  it('is told from the project as its user names it', () => {
    const named = join(top, 'named');
    symlinkSync(join(top, 'project'), named);
    expect(realPathIn(named)(join(named, 'src/a.ts'))).toBe(join(named, 'src/a.ts'));
  });

  it('is known of each of many files in one folder', () => {
    const project = join(top, 'project');
    symlinkSync(join(top, 'other'), join(project, 'src/n30'));
    const real = realPathIn(project);
    const found = Array.from({ length: 40 }, (_, i) => real(join(project, `src/n${i}`)));
    expect(found[30]).toBe(join(top, 'other'));
    expect(found.filter((path, i) => path !== join(project, `src/n${i}`))).toEqual([join(top, 'other')]);
    const missing = Array.from({ length: 40 }, (_, i) => real(join(project, `none/n${i}`)));
    expect(missing[39]).toBe(join(project, 'none/n39'));
  });

  it('leads into the project also by its other name', () => {
    const named = join(top, 'named');
    symlinkSync(join(top, 'project'), named);
    const context = loadGuardContext(named, { HOME: join(top, 'home') }, true);
    const verdictOf = (command: string) => judgeCommand(command, context).verdict;
    expect(verdictOf(`rm -rf ${top}/project/dist && echo x > ${top}/project/src/a.ts`)).toBe('allow');
    expect(verdictOf(`rm -rf ${top}/project`)).toBe('deny');
    expect(verdictOf(`rm -rf ${top}/other/dist`)).toBe('deny');
    expect(verdictOf(`rm -rf ${top}/project/.git/hooks`)).toBe('deny');
    symlinkSync(join(top, 'project/src/a.ts'), join(top, 'other/tool'));
    expect(verdictOf(`ln -sf /tmp/evil ${top}/other/tool`)).toBe('deny');
    expect(verdictOf(`mv src/b.ts ${top}/other/tool`)).toBe('deny');
    expect(verdictOf(`echo x > ${top}/project/.ralph/guard.json`)).toBe('deny');
  });

  it('is looked up again for the next command', async () => {
    const project = join(top, 'project');
    const real = realPathIn(project);
    expect(real(join(project, 'out/a'))).toBe(join(project, 'out/a'));
    symlinkSync(join(top, 'other'), join(project, 'out'));
    await Promise.resolve();
    expect(real(join(project, 'out/a'))).toBe(join(top, 'other/a'));
  });

  it('ends where links go round in a circle', () => {
    const project = join(top, 'project');
    symlinkSync('b', join(project, 'a'));
    symlinkSync('a', join(project, 'b'));
    expect(realPathIn(project)(join(project, 'a/x'))).toBe(join(project, 'a/x'));
  });
});

describe('the project', () => {
  const rootFrom = (cwd: string, env: Record<string, string> = {}) =>
    loadGuardContext(join(top, cwd), { HOME: join(top, 'home'), ...env }, true).projectRoot;

  it('is the working copy around the folder, or the folder itself', () => {
    expect(rootFrom('project/src')).toBe(join(top, 'project'));
    expect(rootFrom('other')).toBe(join(top, 'other'));
  });

  it('is the one that the session was started in, also from a working copy inside it', () => {
    mkdirSync(join(top, 'project/module/.git'), { recursive: true });
    for (const name of ['CLAUDE_PROJECT_DIR', 'GEMINI_PROJECT_DIR']) {
      const env = { [name]: join(top, 'project') };
      expect(rootFrom('project/module', env)).toBe(join(top, 'project'));
      expect(rootFrom('other', env)).toBe(join(top, 'other'));
    }
    expect(rootFrom('project/module')).toBe(join(top, 'project/module'));
    expect(rootFrom('project/src', { CLAUDE_PROJECT_DIR: top })).toBe(join(top, 'project'));
  });
});

describe('the rules of the project', () => {
  const load = () => loadGuardContext(join(top, 'project'), { HOME: join(top, 'home') }, true).policy;

  it('are none without the file', () => {
    expect(load()).toBeUndefined();
  });

  it('are not read through a link, which leads to what an agent may change', () => {
    mkdirSync(join(top, 'project/.ralph'));
    writeFileSync(join(top, 'rules.json'), '{"allow":[{"effect":"delete"}]}');
    symlinkSync(join(top, 'rules.json'), join(top, 'project/.ralph/guard.json'));
    expect(load).toThrow('.ralph/guard.json');
    rmSync(join(top, 'project/.ralph'), { recursive: true });
    mkdirSync(join(top, 'rules'));
    writeFileSync(join(top, 'rules/guard.json'), '{}');
    symlinkSync(join(top, 'rules'), join(top, 'project/.ralph'));
    expect(load).toThrow('.ralph/guard.json');
  });

  it.each(['{', '', 'null', '{"alow":[]}'])('are an error where the file is %j', (text) => {
    mkdirSync(join(top, 'project/.ralph'));
    writeFileSync(join(top, 'project/.ralph/guard.json'), text);
    expect(load).toThrow('.ralph/guard.json');
  });
});
