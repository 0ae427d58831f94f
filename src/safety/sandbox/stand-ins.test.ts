import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTempDir, removeTempDir } from '../../system/temp.ts';
import { createStandIns } from './stand-ins.ts';

function setUp() {
  const base = makeTempDir('stand-ins-');
  onTestFinished(() => removeTempDir(base));
  const [folder, project] = [join(base, 'kept'), join(base, 'project')];
  for (const path of [folder, project]) mkdirSync(path);
  const wanted = [
    { path: join(project, '.claude'), standIn: { content: null } },
    { path: join(project, 'commondir'), standIn: { content: '.\n' } },
    { path: join(project, 'never') },
  ];
  return { folder, project, create: () => createStandIns(folder, wanted) };
}

describe('what stands in for nothing', () => {
  it('is there while it is needed, and then gone without a trace', () => {
    const { folder, project, create } = setUp();
    const standIns = create();
    standIns.place();
    expect(readdirSync(project).sort()).toEqual(['.claude', 'commondir']);
    standIns.clear();
    expect([...readdirSync(project), ...readdirSync(folder)]).toEqual([]);
  });

  it('is cleared by the next one after a kill', () => {
    const { project, create } = setUp();
    create().place();
    create().clear();
    expect(readdirSync(project)).toEqual([]);
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
    writeFileSync(join(folder, 'stand-ins.json'), '[{"path":"');
    const standIns = create();
    standIns.place();
    standIns.clear();
    expect(readdirSync(project)).toEqual([]);
  });
});
