import { guardedTools } from '../../../agents/claude/guard.ts';
import { type StartIf, startIf } from '../../hook/shell.ts';

/** A hook of Claude Code in exec form: no shell of the host's touches it. */
export type HookCommand = {
  readonly type: 'command';
  readonly command: string;
  readonly args: readonly string[];
  readonly timeout: number;
};

export type HookGroup = { readonly matcher?: string; readonly hooks: readonly HookCommand[] };

type Entry = {
  readonly file: string;
  readonly startIf: StartIf;
  readonly matcher?: string;
  readonly timeout: number;
};

const entries: Readonly<Record<string, Entry>> = {
  UserPromptExpansion: { file: 'prompt.cjs', startIf: 'command', timeout: 60 },
  UserPromptSubmit: { file: 'prompt.cjs', startIf: 'command-or-loop', timeout: 60 },
  SessionStart: { file: 'session-start.cjs', startIf: 'loop-or-alerts', timeout: 60 },
  PreToolUse: {
    file: 'guard.cjs',
    startIf: 'unattended',
    matcher: guardedTools,
    timeout: 60,
  },
  PostToolUse: { file: 'context-monitor.cjs', startIf: 'context-fills', matcher: '.*', timeout: 60 },
  Stop: { file: 'stop.cjs', startIf: 'any-loop', timeout: 1800 },
};

// A host that does not know `args` starts the command alone, with the agent's words on its input: `sh` would run them.
const harmless = 'nice';

/** The hooks as settings of Claude Code; `hooks` is the folder of the built files. */
export function hookSettings(
  hooks: string,
  platform: string,
): Readonly<Record<string, readonly HookGroup[]>> {
  return Object.fromEntries(
    Object.entries(entries).map(([event, { file, startIf: condition, matcher, timeout }]) => {
      const path = `${hooks}/${file}`;
      const run =
        platform === 'win32'
          ? { command: 'node', args: [path] }
          : { command: harmless, args: ['-n', '0', 'sh', '-c', startIf[condition], path] };
      const group: HookGroup = {
        ...(matcher === undefined ? {} : { matcher }),
        hooks: [{ type: 'command', ...run, timeout }],
      };
      return [event, [group]];
    }),
  );
}
