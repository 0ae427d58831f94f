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

  it('comes for options in any place, too, which no page is for', () => {
    expect(say(['ralph', 'run', '--agent', 'claude', '--help'])).toBe(helpPages.get('ralph run'));
  });
});
