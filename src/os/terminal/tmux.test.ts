import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../../test/support/processes.ts';
import { runCommand } from '../process/process.ts';
import { type Tmux, tmuxServer, type WindowSpec } from './tmux.ts';

let tmux: Tmux;
let socket: string;

beforeEach(() => {
  socket = `ralph-test-${randomUUID()}`;
  tmux = tmuxServer(socket, process.env);
});

afterEach(async () => {
  await runCommand(['tmux', '-L', socket, 'kill-server'], { cwd: '/' });
});

function windowOf(window: string, ...argv: string[]): WindowSpec {
  return { session: 'fleet', window, cwd: tmpdir(), env: {}, argv, label: `${window} 1` };
}

async function paneOf(window: string) {
  const pane = (await tmux.panes()).find((one) => one.window === window);
  if (pane === undefined) throw new Error(`no window ${window}`);
  return pane;
}

const shows = async (window: string) => (await tmux.capture((await paneOf(window)).id)).join('\n').trimEnd();

describe('a tmux that does not answer', () => {
  it('is not taken for one without windows', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tmux-silent-'));
    await writeFile(join(folder, 'tmux'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
    const silent = tmuxServer(null, { ...process.env, PATH: `${folder}:${process.env.PATH}` });
    await expect(silent.screens(['%1'])).rejects.toThrow('tmux gave no reason');
    await expect(silent.panes()).rejects.toThrow('tmux gave no reason');
    await rm(folder, { recursive: true });
  });
});

describe('a tmux server', () => {
  it('that does not run has no panes', async () => {
    expect(await tmux.panes()).toEqual([]);
    expect((await tmux.screens(['%1'])).screens.size).toBe(0);
  });

  it('gets a session with the first window, and keeps what a program printed after its end', async () => {
    await tmux.openWindow(windowOf('one', 'sh', '-c', 'echo printed; sleep 0.3; exit 3'));
    await waitUntil(async () => (await paneOf('one')).dead);
    expect(await paneOf('one')).toMatchObject({ session: 'fleet', label: 'one 1' });
    expect(await shows('one')).toContain('printed');
  });

  it('takes many windows at once, from callers that all find no session', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `w${index}`);
    await Promise.all(names.map((name) => tmux.openWindow(windowOf(name, 'sleep', '600'))));
    const panes = await tmux.panes();
    expect(panes.map((pane) => pane.label).sort()).toEqual(names.map((name) => `${name} 1`).sort());
  });

  it('passes words and variables as they are, without a shell', async () => {
    const odd = '$(touch /tmp/x) "quoted" \'single\' ; # ünï 🙂';
    await tmux.openWindow({
      ...windowOf('odd', 'sh', '-c', 'printf "%s\\n" "$ODD" "$1"; sleep 600', 'sh', odd),
      env: { ODD: odd },
    });
    await waitUntil(async () => (await shows('odd')).split('\n').length >= 2);
    expect((await shows('odd')).split('\n')).toEqual([odd, odd]);
  });

  it.each([';', 'x;', 'x\\;', 'x;;', '\\', '; kill-server ;'])(
    'takes the word %j as it is, everywhere',
    async (word) => {
      const folder = await mkdtemp(join(tmpdir(), 'tmux-'));
      const cwd = join(folder, word);
      await mkdir(cwd);
      const shown = 'printf "%s\\n" "$ODD" "$1" "$2" "$(basename -- "$PWD")"; exec cat';
      const spec = { ...windowOf('odd', 'sh', '-c', shown, 'sh', word, 'last'), env: { ODD: word }, cwd };
      try {
        await tmux.openWindow(spec);
        const four = [word, word, 'last', word];
        await waitUntil(async () => (await shows('odd')).split('\n').length >= 4);
        expect((await shows('odd')).split('\n')).toEqual(four);
        const { id } = await paneOf('odd');
        await tmux.respawn(id, { ...spec, label: `odd;` });
        await waitUntil(async () => (await shows('odd')).split('\n').length >= 4);
        expect((await shows('odd')).split('\n')).toEqual(four);
        expect((await paneOf('odd')).label).toBe('odd;');
        await tmux.sendText(id, word);
        await tmux.sendKeys(id, 'Enter');
        await tmux.paste(id, word, 'pasted;');
        await tmux.sendKeys(id, 'Enter');
        await waitUntil(async () => (await shows('odd')).split('\n').length >= 8);
        expect((await shows('odd')).split('\n').slice(4)).toEqual([word, word, word, word]);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  it.each(['100%d', 'a#(touch RAN)', '##{pane_id}', 'a#[b', '#,'])(
    'opens a window in the folder %j',
    async (name) => {
      const folder = await mkdtemp(join(tmpdir(), 'tmux-'));
      const cwd = join(folder, name);
      await mkdir(cwd);
      try {
        await tmux.openWindow({ ...windowOf('here', 'sh', '-c', 'basename -- "$PWD"; sleep 600'), cwd });
        await waitUntil(async () => (await shows('here')) !== '');
        expect(await shows('here')).toBe(name);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  it('gives the variables of the first window to no other', async () => {
    const shown = ['sh', '-c', 'echo "ONE is $ONE;"; sleep 600'];
    await tmux.openWindow({ ...windowOf('first', ...shown), env: { ONE: '1', 'a.b;': '2' } });
    await tmux.openWindow(windowOf('second', ...shown));
    for (const name of ['first', 'second']) await waitUntil(async () => (await shows(name)) !== '');
    expect([await shows('first'), await shows('second')]).toEqual(['ONE is 1;', 'ONE is ;']);
  });

  it('keeps our windows where sessions go with their last client', async () => {
    const home = await mkdtemp(join(tmpdir(), 'tmux-'));
    try {
      await writeFile(join(home, '.tmux.conf'), 'set -g destroy-unattached on\n');
      tmux = tmuxServer(socket, { ...process.env, HOME: home });
      await tmux.openWindow(windowOf('one', 'sleep', '600'));
      await tmux.openWindow(windowOf('two', 'sleep', '600'));
      expect((await tmux.panes()).map(({ window }) => window)).toEqual(['one', 'two']);
    } finally {
      await rm(home, { recursive: true });
    }
  });

  it('types a text of any length', async () => {
    const counts = 'stty raw -echo; printf "ready\\r\\n"; head -c 40012 | wc -c; sleep 600';
    await tmux.openWindow(windowOf('long', 'sh', '-c', counts));
    await waitUntil(async () => (await shows('long')) === 'ready');
    await tmux.sendText((await paneOf('long')).id, `${'x'.repeat(9_999)}🙂`.repeat(4));
    await waitUntil(async () => (await shows('long')).includes('40012'));
    expect(await shows('long')).toBe('ready\n40012');
  });

  it('is read alike in every locale', async () => {
    tmux = tmuxServer(socket, { ...process.env, LC_ALL: 'C', LANG: 'C' });
    await tmux.openWindow(windowOf('ünï', 'sh', '-c', 'echo "schön 🙂"; sleep 600'));
    await tmux.openWindow(windowOf('two', 'sleep', '600'));
    expect((await tmux.panes()).map((pane) => pane.label)).toEqual(['ünï 1', 'two 1']);
    await waitUntil(async () => (await shows('ünï')).includes('schön 🙂'));
  });

  it('starts a program anew in the same pane, with an empty screen and a new label', async () => {
    await tmux.openWindow(windowOf('again', 'sh', '-c', 'echo first'));
    await waitUntil(async () => (await paneOf('again')).dead);
    const { id } = await paneOf('again');
    await tmux.respawn(id, { ...windowOf('again', 'sh', '-c', 'echo second; sleep 600'), label: 'again 2' });
    await waitUntil(async () => (await shows('again')).includes('second'));
    expect(await paneOf('again')).toMatchObject({ id, dead: false, label: 'again 2' });
    expect(await shows('again')).not.toContain('first');
  });

  it('gives all screens that are wanted in one call, whatever went away meanwhile', async () => {
    const names = Array.from({ length: 13 }, (_, index) => `w${index}`);
    for (const name of names) {
      await tmux.openWindow(windowOf(name, 'sh', '-c', `echo "screen of ${name}"; sleep 600`));
    }
    for (const name of names) await waitUntil(async () => (await shows(name)).includes(`screen of ${name}`));
    const ids = (await tmux.panes()).map((pane) => pane.id);
    const { panes, screens } = await tmux.screens([...ids.slice(0, 1), '%9999', ...ids.slice(1)]);
    expect(panes).toHaveLength(names.length);
    expect([...screens.keys()]).toEqual(ids);
    expect([...screens.values()].map((text) => text.split('\n')[0])).toEqual(
      names.map((name) => `screen of ${name}`),
    );
  });

  it('keeps apart windows whose names are numbers, hold dots or are there twice', async () => {
    const names = ['user', '0', 'a.b', '0', 'a.b'];
    for (const [index, name] of names.entries()) {
      await tmux.openWindow({ ...windowOf(name, 'sleep', '600'), label: `label ${index}` });
    }
    expect((await tmux.panes()).map(({ window, label }) => [window, label])).toEqual(
      names.map((name, index) => [name, `label ${index}`]),
    );
  });

  it('types text literally and pastes it whole', async () => {
    await tmux.openWindow(windowOf('cat', 'cat'));
    const { id } = await paneOf('cat');
    await tmux.sendText(id, 'Enter C-c; -x');
    await tmux.sendKeys(id, 'Enter');
    await tmux.paste(id, 'two\nlines', 'cat 2');
    await waitUntil(async () => (await shows('cat')).includes('lines'));
    expect(await shows('cat')).toContain('Enter C-c; -x\nEnter C-c; -x');
    expect((await paneOf('cat')).label).toBe('cat 2');
  });

  it('says what tmux said when a pane is missing', async () => {
    await tmux.openWindow(windowOf('one', 'sleep', '600'));
    await expect(tmux.sendText('%99', 'x')).rejects.toThrow(/can't find pane/);
  });
});
