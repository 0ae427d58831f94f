import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Repeater, repeatCommand } from './repeater.ts';
import { makeTempDir, removeTempDir } from './temp.ts';

const cwd = makeTempDir('ralph-repeater-');
const repeaters: Repeater[] = [];

function repeat(script: string, timeoutMs = 30_000): Repeater {
  const repeater = repeatCommand(['sh', '-c', script], {
    cwd,
    env: process.env,
    timeoutMs,
    maxBytes: 5_000_000,
  });
  repeaters.push(repeater);
  return repeater;
}

afterEach(() => {
  for (const repeater of repeaters.splice(0)) repeater.close();
});
afterAll(() => removeTempDir(cwd));

describe('repeatCommand', () => {
  it('runs the command each time it is asked, and gives what that printed', async () => {
    const repeater = repeat('echo go >> log; cat log; printf "no newline\\0"');
    expect(await repeater.run()).toBe('go\nno newline\0');
    expect(await repeater.run()).toBe('go\ngo\nno newline\0');
    expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('go\ngo\n');
  });

  it('gives all of a large output', async () => {
    const text = await repeat('head -c 3000000 /dev/zero | tr "\\0" x').run();
    expect(text?.length).toBe(3_000_000);
    expect(await repeat('head -c 6000000 /dev/zero').run()).toBeNull();
  });

  it('has no answer where the command fails, and runs it again the next time', async () => {
    const repeater = repeat('test -e there && echo yes || { touch there; exit 3; }');
    expect(await repeater.run()).toBeNull();
    expect(await repeater.run()).toBe('yes\n');
  });

  it('has no answer while it is at work, after it was killed, and when it takes too long', async () => {
    const repeater = repeat('kill -9 $PPID');
    const first = repeater.run();
    expect(await repeater.run()).toBeNull();
    expect(await first).toBeNull();
    expect(await repeater.run()).toBeNull();
    expect(await repeat('sleep 100', 50).run()).toBeNull();
  });
});
