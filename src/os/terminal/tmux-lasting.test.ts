import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../../test/support/processes.ts';
import { runCommand } from '../process/process.ts';
import type { WindowSpec } from './tmux.ts';
import { type LastingTmux, lastingTmux } from './tmux-lasting.ts';

let tmux: LastingTmux;
let socket: string;

beforeEach(() => {
  socket = `ralph-test-${randomUUID()}`;
  tmux = lastingTmux(socket, process.env, 1);
});

afterEach(async () => {
  tmux.close();
  await call('kill-server');
});

async function call(...words: string[]): Promise<string> {
  return (await runCommand(['tmux', '-L', socket, ...words], { cwd: '/' })).stdout;
}

function windowOf(window: string, ...argv: string[]): WindowSpec {
  return { session: 'fleet', window, cwd: tmpdir(), env: {}, argv, label: `${window} 1` };
}

const clients = () => call('list-clients', '-F', '#{client_control_mode}');

/** Opens these windows, and looks until a client has attached and all is drawn. */
async function open(...programs: [window: string, script: string][]): Promise<string[]> {
  for (const [window, script] of programs) {
    await tmux.openWindow(windowOf(window, 'sh', '-c', `${script}; sleep 600`));
  }
  const ids = (await tmux.panes()).map(({ id }) => id);
  await waitUntil(async () => {
    const { screens } = await tmux.screens(ids);
    return [...screens.values()].every((text) => text.trim() !== '') && (await clients()) === '1\n';
  });
  return ids;
}

describe('a tmux server with a client that stays', () => {
  it('shows the same as a call does', async () => {
    const ids = await open(['one', 'echo "schön 🙂"; printf "%%end 1 2 1"'], ['two', 'seq 1 90']);
    const seen = await tmux.screens(ids);
    for (const [at, id] of ids.entries()) {
      expect(seen.screens.get(id)?.split('\n')).toEqual((await tmux.capture(id)).slice(0, -1));
      expect(seen.panes[at]).toMatchObject({
        id,
        session: 'fleet',
        dead: false,
        label: `${['one', 'two'][at]} 1`,
      });
    }
  });

  it('gives the other screens where a pane is gone', async () => {
    const ids = await open(['one', 'echo first'], ['two', 'echo second']);
    await call('kill-pane', '-t', ids[0] ?? '');
    const { panes, screens } = await tmux.screens(ids);
    expect(panes.map(({ window }) => window)).toEqual(['two']);
    expect([...screens.keys()]).toEqual(ids.slice(1));
  });

  it('leaves the windows their size', async () => {
    await open(['one', 'echo first']);
    expect(await call('list-windows', '-a', '-F', '#{window_width}x#{window_height}')).toBe('200x50\n');
  });

  it('goes on by calls when its client is sent away or its session is gone', async () => {
    const ids = await open(['one', 'echo first']);
    await call('detach-client', '-s', 'fleet');
    expect((await tmux.screens(ids)).screens.get(ids[0] ?? '')).toContain('first');
    await call('kill-server');
    expect(await tmux.screens(ids)).toEqual({ panes: [], screens: new Map() });
  });

  it('has none for a few screens', async () => {
    tmux = lastingTmux(socket, process.env, 2);
    await tmux.openWindow(windowOf('one', 'sh', '-c', 'echo first; sleep 600'));
    const ids = (await tmux.panes()).map(({ id }) => id);
    await waitUntil(async () => (await tmux.screens(ids)).screens.get(ids[0] ?? '')?.includes('first'));
    expect(await clients()).toBe('');
  });

  it('leaves nothing behind when it is closed', async () => {
    await open(['one', 'echo first']);
    tmux.close();
    await waitUntil(async () => (await clients()) === '');
    expect(await tmux.panes()).toHaveLength(1);
  });
});
