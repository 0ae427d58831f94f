import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hiddenPlaces } from './folders.ts';

describe.skipIf(process.platform !== 'linux')('what is hidden', () => {
  it('is all of the homes of people, and the keys in those of services, wherever they are', () => {
    // Not in the folder for temporary files, which is hidden as a whole.
    const base = mkdtempSync('/dev/shm/homes-');
    onTestFinished(() => rmSync(base, { recursive: true }));
    const [person, service] = [join(base, 'person'), join(base, 'service')];
    for (const path of [join(person, '.ssh'), join(service, '.ssh')]) mkdirSync(path, { recursive: true });
    for (const name of ['.netrc', 'data']) writeFileSync(join(service, name), '');
    const users = [
      { id: 1234, home: person },
      { id: 33, home: service },
      { id: 1235, home: '/usr' },
      { id: 1236, home: '/' },
    ];
    const { folders, files } = hiddenPlaces({ HOME: '/nowhere' }, join(base, 'project'), users);
    expect(folders.filter((path) => path.startsWith(base))).toEqual([person, join(service, '.ssh')]);
    expect(files.filter((path) => dirname(path) === service)).toEqual([join(service, '.netrc')]);
    expect(folders.filter((path) => ['/', '/usr'].includes(path))).toEqual([]);
  });
});
