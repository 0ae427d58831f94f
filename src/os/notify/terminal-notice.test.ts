import { describe, expect, it } from 'vitest';
import { terminalNotice } from './terminal-notice.ts';

const notice = { title: 'ralph: shop done', body: 'all 3; really' };

describe('terminalNotice', () => {
  it.each([
    [
      'kitty',
      { TERM: 'xterm-kitty' },
      '\x1b]99;i=ralph:d=0;ralph: shop done\x1b\\\x1b]99;i=ralph:p=body;all 3; really\x1b\\',
    ],
    [
      'the terminals with VTE',
      { VTE_VERSION: '7600' },
      '\x1b]777;notify;ralph: shop done;all 3, really\x1b\\',
    ],
    ['foot', { TERM: 'foot' }, '\x1b]777;notify;ralph: shop done;all 3, really\x1b\\'],
    ['iTerm2', { TERM_PROGRAM: 'iTerm.app' }, '\x1b]9;ralph: shop done: all 3; really\x07'],
    ['any other', {}, '\x1b]9;ralph: shop done: all 3; really\x07'],
  ])('speaks to %s in its own words', (_name, env, sequence) => {
    expect(terminalNotice(notice, env)).toBe(sequence);
  });

  it('is wrapped where tmux stands between', () => {
    expect(terminalNotice(notice, { TMUX: '/tmp/tmux-0/default,1,0' })).toBe(
      '\x1bPtmux;\x1b\x1b]9;ralph: shop done: all 3; really\x07\x1b\\',
    );
  });
});
