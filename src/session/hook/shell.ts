/**
 * When node has something to do: any loop exists (or alerts do), the prompt names a command, or either of them; the
 * context fills up; `unattended` is the guard of tool calls, for a run, a session that has a loop, and where the
 * settings ask for it.
 */
export type StartIf =
  | 'any-loop'
  | 'loop-or-alerts'
  | 'command'
  | 'command-or-loop'
  | 'context-fills'
  | 'unattended';

// Without a home, only node knows where the state is.
const folder = `d=\${XDG_STATE_HOME-}; case $d in /*) ;; *) d=\${HOME-}/.local/state ;; esac`;
const config = `c=\${XDG_CONFIG_HOME-}; case $c in /*) ;; *) c=\${HOME-}/.config ;; esac`;
const project = `\${CLAUDE_PROJECT_DIR:-.}/.ralph/settings`;
const named = '*ralph-loop*|*ulw-loop*|*cancel-ralph*|*ralph-status*|*ralph-pause*|*ralph-resume*';
// A loop outside of the session that works on a PRD here.
const up = `p=$PWD; until [ -z "$p" ] || [ -e "$p/.ralph-active" ] || [ -e "$p/.git" ]; do p=\${p%/*}; done; [ -e "$p/.ralph-active" ]`;
const prd = `[ -e "\${CLAUDE_PROJECT_DIR:-.}/.ralph-active" ] || { ${up}; }`;
// In Node 20 these certificates triple the start, and a hook has no use for them.
const node = 'NODE_EXTRA_CA_CERTS= ';

const unattended = [
  `[ "\${RALPH_GUARD-}" != off ] || exit 0`,
  `g=\${RALPH_RUN_ID-}\${RALPH_GUARD-}; [ "\${HOME-}" ] || g=1; ${config}`,
  `for f in .ralph/settings.json .ralph/settings.local.json "${project}.json" "${project}.local.json" "$c/ralph/settings.json"; do [ -z "$g" ] && [ -e "$f" ] && grep -q '"always"' "$f" && g=1; done`,
  `[ -z "$g" ] || ${node}exec node "$0"`,
  `${folder}; set -- "$d"/ralph/sessions/*.json; [ -e "$1" ] || exit 0; i=$(cat)`,
  `for f; do f=\${f##*/}; case $i in *"\${f%.json}"*) g=1 ;; esac; done; [ -z "$g" ] || printf %s "$i" | ${node}node "$0"`,
].join('; ');

/** A line of sh that starts node, the hook being `$0`, only where there is something to do. */
export const startIf: Readonly<Record<StartIf, string>> = {
  'any-loop': `${folder}; set -- "$d"/ralph/sessions/*.json; [ -e "$1" ] || ${prd} || [ -z "\${HOME-}" ] || exit 0; ${node}exec node "$0"`,
  'loop-or-alerts': `${folder}; for f in "$d"/ralph/sessions/*.json "$d"/ralph/context/*.json; do [ -e "$f" ] && ${node}exec node "$0"; done; [ -n "\${HOME-}" ] || ${node}exec node "$0"`,
  command: `i=$(cat); case $i in ${named}) printf %s "$i" | ${node}node "$0" ;; esac`,
  'command-or-loop': `i=$(cat); g=; case $i in ${named}) g=1 ;; *) ${folder}; for f in "$d"/ralph/sessions/*.json; do f=\${f##*/}; case $i in *"\${f%.json}"*) g=1 ;; esac; done ;; esac; [ -z "$g" ] || printf %s "$i" | ${node}node "$0"`,
  'context-fills': `i=$(cat); p=\${i#*'"transcript_path":"'}; p=\${p%%'"'*}; case \${CLAUDE_CONTEXT_WINDOW-} in ''|*[!0-9]*) w=200000 ;; *) w=$CLAUDE_CONTEXT_WINDOW ;; esac; { s=$(wc -c < "$p"); } 2>/dev/null && [ "$s" -lt "$w" ] || printf %s "$i" | ${node}node "$0"`,
  unattended,
};

/** The same for a host that only knows a command line, which it gives to a shell of its own choice (sh, zsh, fish). */
export function commandLine(condition: StartIf, path: string, platform: string): string {
  return platform === 'win32' ? `node "${path}"` : `sh -c ${quoted(startIf[condition])} ${quoted(path)}`;
}

/** A word in single quotes, which every shell of Unix reads alike. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
