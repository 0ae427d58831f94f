import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProgram, outsideEnvironment, shellCommand, windowsCommand } from './program.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'program-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, mode = 0o755): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '');
  chmodSync(path, mode);
  return path;
}

describe('findProgram', () => {
  it('takes the first executable file of that name in PATH', () => {
    file('one/agent', 0o644);
    mkdirSync(join(folder, 'two/agent'), { recursive: true });
    const program = file('three/agent');
    file('four/agent');
    const PATH = ['one', 'two', 'gone', 'three', 'four'].map((name) => join(folder, name)).join(':');
    expect(findProgram('agent', { PATH }, 'linux')).toBe(program);
    expect(findProgram('other', { PATH }, 'linux')).toBeNull();
  });

  it('takes a path as it is, if it can be run', () => {
    const program = file('bin/agent');
    expect(findProgram(program, {}, 'linux')).toBe(program);
    expect(findProgram(file('bin/plain', 0o644), {}, 'linux')).toBeNull();
    expect(findProgram('./no-such-program', {}, 'linux')).toBeNull();
  });

  it('knows the system folders where there is no PATH', () => {
    expect(findProgram('sh', {}, 'linux')).toMatch(/bin\/sh$/);
  });

  it('adds the endings of PATHEXT on Windows, in their order', () => {
    file('npm/agent', 0o644);
    const shim = file('npm/agent.cmd', 0o644);
    const env = { Path: `${join(folder, 'gone')};${join(folder, 'npm')}`, PATHEXT: '.EXE;.CMD' };
    expect(findProgram('agent', env, 'win32')).toBe(shim);
    expect(findProgram('agent.cmd', env, 'win32')).toBe(shim);
    expect(findProgram(join(folder, 'npm/agent'), env, 'win32')).toBe(shim);
    expect(findProgram('agent.exe', env, 'win32')).toBeNull();
  });
});

describe('shellCommand', () => {
  it('is sh, and cmd on Windows', () => {
    expect(shellCommand('a && b', 'linux')).toEqual(['sh', '-c', 'a && b']);
    expect(shellCommand('a && b', 'win32')).toEqual(['cmd', '/d', '/s', '/c', 'a && b']);
  });
});

describe('windowsCommand', () => {
  it('starts a program directly', () => {
    const command = windowsCommand('C:\\bin\\agent.exe', ['a b', '"']);
    expect(command).toEqual({ file: 'C:\\bin\\agent.exe', args: ['a b', '"'], verbatim: false });
  });

  it('starts a batch file through cmd, with every word quoted for it', () => {
    const {
      file: program,
      args,
      verbatim,
    } = windowsCommand('C:\\npm\\agent.cmd', ['a & b', '50%', '\\"', 'end\\']);
    expect([program, verbatim]).toEqual(['cmd.exe', true]);
    expect(args.at(-1)).toBe('""C:\\npm\\agent.cmd" "a & b" "50%%cd:~,%" "\\\\""" "end\\\\""');
  });

  it('refuses a line break for a batch file, which would be a second command', () => {
    expect(() => windowsCommand('agent.cmd', ['a\nb'])).toThrow('line break');
  });

  it("leaves the user's own command line to cmd as it stands", () => {
    const [program, ...words] = shellCommand('echo "a b" & dir', 'win32');
    const command = windowsCommand(program, words);
    expect(command.args).toEqual(['/d', '/s', '/c', '"echo "a b" & dir"']);
    expect(command.verbatim).toBe(true);
  });
});

describe('outsideEnvironment', () => {
  const kept = (...entries: string[]) =>
    outsideEnvironment({ PATH: entries.join(delimiter), HOME: '/h' }, folder).PATH?.split(delimiter);

  it('takes nothing from the project, by whatever name it goes there', () => {
    mkdirSync(join(folder, 'bin'));
    const link = `${folder}-link`;
    symlinkSync(join(folder, 'bin'), link);
    try {
      expect(kept('/usr/bin', join(folder, 'bin'), folder, link, join(folder, 'made-later'), '/bin')).toEqual(
        ['/usr/bin', '/bin'],
      );
    } finally {
      rmSync(link);
    }
  });

  it('takes nothing from wherever it happens to be', () => {
    expect(kept('', '.', 'node_modules/.bin', '../bin', '/usr/bin')).toEqual(['/usr/bin']);
  });

  it('has the programs of the system where nothing else is left', () => {
    expect(kept(join(folder, 'bin'))).toEqual(['/usr/bin', '/bin']);
  });

  it('leaves the rest as it is', () => {
    expect(outsideEnvironment({ HOME: '/h' }, folder)).toEqual({ HOME: '/h' });
    expect(outsideEnvironment({ PATH: '/usr/bin', HOME: '/h' }, folder)).toEqual({
      PATH: '/usr/bin',
      HOME: '/h',
    });
  });
});
