import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentVersion, askAgentVersion } from './agent-version.ts';

/** A program that counts how often it is asked, and a home of its own. */
function install(prints: string) {
  const folder = fs.mkdtempSync(join(tmpdir(), 'version-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'agent');
  const count = join(folder, 'count');
  const cache = join(folder, '.cache', 'ralph', 'agent-versions.json');
  const write = (body: string) => {
    fs.rmSync(program, { force: true });
    fs.writeFileSync(program, `#!/bin/sh\necho "$@" >> '${count}'\n${body}\n`, { mode: 0o755 });
  };
  write(prints);
  const env = { PATH: process.env.PATH, HOME: folder };
  return {
    program,
    write,
    cache,
    env,
    version: () => agentVersion(program, env),
    asked: () => (fs.existsSync(count) ? fs.readFileSync(count, 'utf8').trim().split('\n') : []),
  };
}

describe('agentVersion', () => {
  it.each([
    ['claude', 'echo "2.1.325 (Claude Code)"', '2.1.325'],
    ['codex', 'echo "codex-cli 0.166.0"', '0.166.0'],
    ['amp', 'echo "0.0.1769314944-gabc123 (released 2026-01-25T04:22:24.000Z)"', '0.0.1769314944'],
    ['one that prints it on stderr', 'echo "0.73.1" >&2', '0.73.1'],
    ['one that has none', 'echo "hello"', null],
    ['one that waits for its input', 'cat; echo 1.2.3', '1.2.3'],
  ])('reads the version of %s', async (_, body, expected) => {
    const agent = install(body);
    expect(await agent.version()).toBe(expected);
    expect(agent.asked()).toEqual(['--version']);
  });

  it('asks only once as long as the program stays the same', async () => {
    const agent = install('echo 1.0.0');
    expect([await agent.version(), await agent.version()]).toEqual(['1.0.0', '1.0.0']);
    expect(agent.asked()).toHaveLength(1);
  });

  it('asks again when the program was replaced, even by one of the same size and date', async () => {
    const agent = install('echo 1.0.0');
    const packed = new Date('1985-10-26T08:15:00Z');
    fs.utimesSync(agent.program, packed, packed);
    expect(await agent.version()).toBe('1.0.0');
    agent.write('echo 2.0.0');
    fs.utimesSync(agent.program, packed, packed);
    expect(await agent.version()).toBe('2.0.0');
  });

  it('keeps programs apart that are links to the same file', async () => {
    const agent = install('echo "$(basename "$0") 1.$(basename "$0" | wc -c).0"');
    const other = `${agent.program}-two`;
    fs.symlinkSync(agent.program, other);
    expect(await agent.version()).toBe('1.6.0');
    expect(await agentVersion(other, agent.env)).toBe('1.10.0');
    expect(await agent.version()).toBe('1.6.0');
    expect(agent.asked()).toHaveLength(2);
  });

  it('asks again after a week, because a shim does not change with what it starts', async () => {
    const agent = install('echo 1.0.0');
    await agent.version();
    const text = fs.readFileSync(agent.cache, 'utf8');
    const earlier = (asked: string) => String(Number(asked) - 8 * 24 * 60 * 60_000);
    fs.writeFileSync(
      agent.cache,
      text.replace(/(?<="asked":)\d+/, (asked) => earlier(asked)),
    );
    await agent.version();
    expect(agent.asked()).toHaveLength(2);
  });

  it.each(['{"v":1,"progr', '[]', '{"v":2,"programs":{}}', '{"v":1,"programs":{"/x":null}}'])(
    'ignores a cache with %s in it',
    async (text) => {
      const agent = install('echo 1.0.0');
      await agent.version();
      fs.writeFileSync(agent.cache, text);
      expect(await agent.version()).toBe('1.0.0');
      await agent.version();
      expect(agent.asked()).toHaveLength(2);
    },
  );

  it('takes no version from a program that fails, and asks it again', async () => {
    const agent = install('echo "needs Node.js 22.0.0" >&2; exit 1');
    expect(await agent.version()).toBe(null);
    expect(await agent.version()).toBe(null);
    expect(agent.asked()).toHaveLength(2);
  });

  it('works without a place for its cache', async () => {
    const agent = install('echo 1.0.0');
    fs.writeFileSync(join(agent.env.HOME, '.cache'), 'in the way');
    expect(await agent.version()).toBe('1.0.0');
  });

  it('has no version for a program that is not there', async () => {
    const agent = install('echo 1.0.0');
    fs.rmSync(agent.program);
    expect(await agent.version()).toBe(null);
  });
});

describe('askAgentVersion', () => {
  it('asks in any case, and tells what came of it', async () => {
    const agent = install('echo 1.0.0');
    await agent.version();
    const { version, result } = await askAgentVersion(agent.program, agent.env);
    expect({ version, exitCode: result.exitCode }).toEqual({ version: '1.0.0', exitCode: 0 });
    expect(agent.asked()).toHaveLength(2);
  });
});
