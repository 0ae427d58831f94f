/** A hook of Claude Code in exec form: no shell of the host's touches it. */
export type HookCommand = {
  readonly type: 'command';
  readonly command: string;
  readonly args: readonly string[];
  readonly timeout: number;
};

export type HookGroup = { readonly matcher?: string; readonly hooks: readonly HookCommand[] };

type Guard = 'any-loop' | 'command' | 'command-or-loop';

type Entry = {
  readonly file: string;
  readonly guard: Guard;
  readonly matcher?: string;
  readonly timeout: number;
};

const entries: Readonly<Record<string, Entry>> = {
  UserPromptExpansion: { file: 'prompt.cjs', guard: 'command', timeout: 60 },
  UserPromptSubmit: { file: 'prompt.cjs', guard: 'command-or-loop', timeout: 60 },
  SessionStart: { file: 'session-start.cjs', guard: 'any-loop', matcher: 'compact|resume', timeout: 60 },
  Stop: { file: 'stop.cjs', guard: 'any-loop', timeout: 1800 },
};

// Without a home, only node knows where the state is.
const folder = `d=\${XDG_STATE_HOME-}; case $d in /*) ;; *) d=\${HOME-}/.local/state ;; esac`;
const named = '*ralph-loop*|*ulw-loop*|*cancel-ralph*|*ralph-status*|*ralph-pause*|*ralph-resume*';
// A host that does not know `args` starts the command alone, with the agent's words on its input: `sh` would run them.
const harmless = 'nice';
// In Node 20 these certificates triple the start, and a hook has no use for them.
const node = 'NODE_EXTRA_CA_CERTS= ';

/** A line of sh that starts node, the hook being `$0`, only where there is something to do. */
const guards: Readonly<Record<Guard, string>> = {
  'any-loop': `${folder}; set -- "$d"/ralph/sessions/*.json; [ -e "$1" ] || [ -z "\${HOME-}" ] || exit 0; ${node}exec node "$0"`,
  command: `i=$(cat); case $i in ${named}) printf %s "$i" | ${node}node "$0" ;; esac`,
  'command-or-loop': `i=$(cat); g=; case $i in ${named}) g=1 ;; *) ${folder}; for f in "$d"/ralph/sessions/*.json; do f=\${f##*/}; case $i in *"\${f%.json}"*) g=1 ;; esac; done ;; esac; [ -z "$g" ] || printf %s "$i" | ${node}node "$0"`,
};

/** The hooks as settings of Claude Code; `hooks` is the folder of the built files. */
export function hookSettings(
  hooks: string,
  platform: string,
): Readonly<Record<string, readonly HookGroup[]>> {
  return Object.fromEntries(
    Object.entries(entries).map(([event, { file, guard, matcher, timeout }]) => {
      const path = `${hooks}/${file}`;
      const run =
        platform === 'win32'
          ? { command: 'node', args: [path] }
          : { command: harmless, args: ['-n', '0', 'sh', '-c', guards[guard], path] };
      const group: HookGroup = {
        ...(matcher === undefined ? {} : { matcher }),
        hooks: [{ type: 'command', ...run, timeout }],
      };
      return [event, [group]];
    }),
  );
}
