import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { helpPages } from '../../src/cli/kernel/help-pages.ts';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));

function say([program = '', ...words]: readonly string[]): string {
  return execFileSync(process.execPath, [`${dist}/${program}.cjs`, ...words], { encoding: 'utf8' });
}

describe('help', () => {
  it('is the same from the page that the build wrote and from the table of commands', () => {
    const [program = '', ...rest] = 'ralph prd init'.split(' ');
    expect(say([program, ...rest, '--help'])).toBe(say([program, 'help', ...rest]));
    expect(say([program, ...rest, '-h'])).toBe(helpPages.get('ralph prd init'));
    expect(say(['swarm', '--help'])).toBe(helpPages.get('swarm'));
  });

  it('is broken at words after 80 columns', () => {
    for (const page of helpPages.values())
      for (const line of page.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('tells the version for scripts, too', () => {
    const version = say(['ralph', '--version']).trim().split(' ')[1];
    expect(JSON.parse(say(['ralph', '--version', '--json']))).toMatchObject({ name: 'ralphkit', version });
  });

  it('comes for options in any place, too, which no page is for', () => {
    expect(say(['ralph', 'run', '--agent', 'claude', '--help'])).toBe(helpPages.get('ralph run'));
  });
});
