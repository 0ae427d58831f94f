import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver } from './who.ts';

/** The plugin of Claude Code, whose hooks serve all hosts. */
export const plugin = fileURLToPath(new URL('../../plugins/claude-code', import.meta.url));

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Place = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly plugin?: string;
};

/** Runs the hook of an event as a host does that reads hooks.json; `input` is what it writes to it. */
export function fireHook(event: string, input: object | string, place: Place): Promise<Ran> {
  const { cwd, env, plugin: root = plugin } = place;
  const { hooks } = JSON.parse(readFileSync(join(root, 'hooks/hooks.json'), 'utf8'));
  const [{ command }] = hooks[event][0].hooks;
  const line = command.replace('$' + '{CLAUDE_PLUGIN_ROOT}', () => root);
  const actor = handOver(dirname(cwd));
  const [first = '', ...words] = [...actor.through, '/bin/sh', '-c', line];
  const child = spawn(first, words, { cwd, env: { ...env, ...actor.env } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(typeof input === 'string' ? input : JSON.stringify({ hook_event_name: event, ...input }));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A PATH with node, or with nothing at all. */
export function barePath(room: string, holds: 'node' | 'nothing'): string {
  const bin = join(room, `bin with ${holds}`);
  mkdirSync(bin, { recursive: true });
  if (holds === 'node') symlinkSync(process.execPath, join(bin, 'node'));
  return bin;
}
