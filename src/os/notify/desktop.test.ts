import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noticeOf } from '../../core/notice.ts';
import { desktopCommand, showOnDesktop, terminalNotice } from './desktop.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'desktop-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const notice = noticeOf({
  kind: 'blocked',
  because: '--help <b>"$(touch owned)" & more',
  run: 'r1',
  project: 'shop',
  at: '2026-01-01T00:00:00.000Z',
});

/** A `notify-send` that writes its words down and ends with `code`. */
function desktopWith(code: number): Record<string, string> {
  const program = join(folder, 'notify-send');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/words'\nexit ${code}\n`);
  chmodSync(program, 0o755);
  return { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':0' };
}

describe.skipIf(process.platform === 'win32')('showOnDesktop', () => {
  it('gives the texts to notify-send as plain words, with the markup made harmless', async () => {
    const result = await showOnDesktop(notice, { cwd: folder, env: desktopWith(0), terminal: null });
    expect(result).toEqual({ ok: true, detail: 'shown by notify-send' });
    expect(readFileSync(join(folder, 'words'), 'utf8').split('\n')).toEqual([
      '--app-name=ralph',
      '--',
      'ralph: shop blocked, needs you',
      '--help &lt;b&gt;"$(touch owned)" &amp; more',
      '',
    ]);
  });

  it('leaves it to the terminal where notify-send fails, or where there is no desktop', async () => {
    const written: string[] = [];
    const terminal = (sequence: string) => void written.push(sequence);
    const env = desktopWith(1);
    const failing = await showOnDesktop(notice, { cwd: folder, env, terminal });
    const { DISPLAY: _, ...withoutDesktop } = env;
    const missing = await showOnDesktop(notice, { cwd: folder, env: withoutDesktop, terminal });
    expect([failing, missing]).toEqual(Array(2).fill({ ok: true, detail: 'left to the terminal' }));
    expect(written).toHaveLength(2);
  });

  it('says what failed where there is no terminal either', async () => {
    expect(await showOnDesktop(notice, { cwd: folder, env: desktopWith(3), terminal: null })).toEqual({
      ok: false,
      detail: 'notify-send failed: exit code 3',
    });
  });
});

describe('desktopCommand', () => {
  it('hands the texts to osascript after the script, never inside it', () => {
    const words = desktopCommand({ title: 'a', body: '" & do shell script "x' }, {}, 'darwin') ?? [];
    expect(words.slice(-2)).toEqual(['a', '" & do shell script "x']);
    expect(words.slice(0, -2).join(' ')).not.toContain('do shell');
  });
});

describe('terminalNotice', () => {
  const notice = { title: 'ralph: shop done', body: 'all 3; really' };

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
