import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sandboxFolder } from '../config/paths.ts';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';
import { clearAbandoned, createStandIns, keepOnRecord } from './stand-ins.ts';

function setUp() {
  const base = makeTempDir('stand-ins-');
  onTestFinished(() => removeTempDir(base));
  const project = join(base, 'project');
  const env = { XDG_STATE_HOME: join(base, 'state') };
  const folder = join(sandboxFolder(env), 'stand-ins');
  for (const path of [folder, project]) mkdirSync(path, { recursive: true });
  const wanted = [
    { path: join(project, '.claude'), standIn: { content: null } },
    { path: join(project, 'commondir'), standIn: { content: '.\n' } },
    ...['hooks', 'copilot'].map((name) => ({
      path: join(project, '.github', name),
      standIn: { content: null },
    })),
    { path: join(project, 'never') },
  ];
  return { env, folder, project, create: (name = 'one') => createStandIns(env, name, wanted) };
}

describe('what stands in for nothing', () => {
  it('is there while it is needed, and then gone without a trace', () => {
    const { folder, project, create } = setUp();
    const standIns = create();
    standIns.place();
    expect(readdirSync(project).sort()).toEqual(['.claude', '.github', 'commondir']);
    standIns.clear();
    expect([...readdirSync(project), ...readdirSync(folder)]).toEqual([]);
  });

  it('is cleared by the next one after a kill', () => {
    const { project, create } = setUp();
    create().place();
    create().clear();
    expect(readdirSync(project)).toEqual([]);
  });

  it('stays until the last of those that share it is done with it', () => {
    const { project, create } = setUp();
    const [one, two] = [create('one'), create('two')];
    one.place();
    two.place();
    one.clear();
    one.place();
    one.clear();
    expect(readdirSync(project).sort()).toEqual(['.claude', '.github', 'commondir']);
    two.clear();
    expect(readdirSync(project)).toEqual([]);
  });

  it('is cleared by anybody when its owner is dead, with the folder of its network, and not before', () => {
    const { env, folder, project, create } = setUp();
    create().place();
    const network = join(project, 'ralph-net-x');
    mkdirSync(network);
    keepOnRecord(env, network);
    clearAbandoned(env);
    expect(readdirSync(project).sort()).toEqual(['.claude', '.github', 'commondir', 'ralph-net-x']);
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const value = {
        ...JSON.parse(readFileSync(path, 'utf8')),
        owner: { pid: process.pid, startedAt: 'x' },
      };
      writeFileSync(path, JSON.stringify(value));
    }
    clearAbandoned(env);
    expect([...readdirSync(project), ...readdirSync(folder)]).toEqual([]);
  });

  it('leaves what was there before, and what somebody has put in it since', () => {
    const { project, create } = setUp();
    mkdirSync(join(project, '.claude'));
    const standIns = create();
    standIns.place();
    writeFileSync(join(project, 'commondir'), 'mine');
    standIns.clear();
    expect(readdirSync(project).sort()).toEqual(['.claude', 'commondir']);
  });

  it('never removes a folder with something in it', () => {
    const { project, create } = setUp();
    const standIns = create();
    standIns.place();
    writeFileSync(join(project, '.claude', 'notes.md'), 'mine');
    standIns.clear();
    expect(existsSync(join(project, '.claude', 'notes.md'))).toBe(true);
  });

  it('takes no harm from a record that is torn', () => {
    const { folder, project, create } = setUp();
    writeFileSync(join(folder, 'one.json'), '{"placed":[{"path":"');
    const standIns = create();
    standIns.place();
    standIns.clear();
    expect(readdirSync(project)).toEqual([]);
  });
});
