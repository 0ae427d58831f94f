import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type HookRun = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs the hook of an event as a host does that reads hooks.json. */
export function fireHook(
  plugin: string,
  event: string,
  input: string,
  place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<HookRun> {
  const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'));
  const [{ command, args }] = hooks[event][0].hooks;
  const words = args.map((word: string) => word.replace('$' + '{CLAUDE_PLUGIN_ROOT}', () => plugin));
  const child = spawn(command, words, place);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.on('data', (text) => {
    output.stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
}
