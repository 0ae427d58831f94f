import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkFolder, checkNode, judgeSpace } from './machine.ts';

describe('checkNode', () => {
  it.each([
    ['20.18.3', 'error'],
    ['20.19.0', 'ok'],
    ['22.1.0', 'ok'],
    ['24.0.0', 'ok'],
  ])('finds that %s is %s', (version, status) => {
    expect(checkNode(version)).toMatchObject({ status });
  });
});

describe('judgeSpace', () => {
  const megabyte = 1024 ** 2;

  it.each([
    [0, 'error', '0 MB'],
    [100 * megabyte - 1, 'error', '99 MB'],
    [100 * megabyte, 'warning', '100 MB'],
    [1024 * megabyte - 1, 'warning', '1023 MB'],
    [1024 * megabyte, 'ok', '1.0 GB'],
    [68.3 * 1024 * megabyte, 'ok', '68.3 GB'],
  ])('calls %d bytes %s', (bytes, status, words) => {
    expect(judgeSpace('disk', '/x', bytes)).toMatchObject({ status, evidence: `${words} free for /x` });
  });

  it('does not judge what the system does not tell', () => {
    expect(judgeSpace('disk', '/x', null).status).toBe('skipped');
  });
});

describe('checkFolder', () => {
  function tempFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'folder-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }
  const writable = (folder: string) => checkFolder('work', folder).find(({ id }) => id === 'work.writable');

  it('tries a folder that does not exist yet where it would be made, and leaves nothing there', () => {
    const folder = tempFolder();
    expect(writable(join(folder, 'not', 'yet'))).toMatchObject({ status: 'ok' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('finds that nothing can be written below a file', () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    expect(writable(join(file, 'state'))).toMatchObject({
      status: 'error',
      evidence: expect.stringContaining('ENOTDIR'),
    });
  });
});
