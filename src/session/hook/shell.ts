import { quoteWord } from '../../core/words.ts';
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
// The settings of the project that the session was started in; without one, of the one around this folder.
const start = `p=\${CLAUDE_PROJECT_DIR:-\${GEMINI_PROJECT_DIR-}}; case $p in /*) ;; *) p=$PWD ;; esac`;
const near = `${start}; until [ -z "$p" ] || [ -e "$p/.ralph" ]; do p=\${p%/*}; done`;
const project = `"$p/.ralph/settings.json" "$p/.ralph/settings.local.json"`;
const named = '*ralph-loop*|*ulw-loop*|*cancel-ralph*|*ralph-status*|*ralph-pause*|*ralph-resume*';
// A loop outside of the session that works on a PRD here.
const up = `p=$PWD; until [ -z "$p" ] || [ -e "$p/.ralph-active" ] || [ -e "$p/.git" ]; do p=\${p%/*}; done; [ -e "$p/.ralph-active" ]`;
const prd = `[ -e "\${CLAUDE_PROJECT_DIR:-.}/.ralph-active" ] || { ${up}; }`;
// In Node 20 these certificates triple the start, and a hook has no use for them; what it runs for the user has.
const node = `RALPH_CA_CERTS=\${NODE_EXTRA_CA_CERTS-} NODE_EXTRA_CA_CERTS= `;
// A shell needs seconds for megabytes of input. What the conditions ask for stands at its beginning.
const read = `i=$(dd bs=65536 count=1 2>/dev/null); case $i in *'}') ;; *) [ \${#i} -ge 4096 ] || i=$i$(cat) ;; esac`;
const run = `{ printf %s "$i"; cat; } | ${node}node "$0"`;
// A host that is not read to the end may take that for a failure; a whole document has been.
const pass = `case $i in *'}') ;; *) cat >/dev/null ;; esac`;
// Codex calls a hook that ends before it has written all to it a failed one; Claude Code does not mind.
const leave = `{ [ "\${CLAUDECODE-}" ] || cat >/dev/null; exit 0; }`;
// The name of the file of a session whose id is not a plain one says nothing to a shell.
const mine = `f=\${f##*/}; case $f in *[=~]*) g=1 ;; esac; case $i in *"\${f%.json}"*) g=1 ;; esac`;

// A host ends a hook that takes too long and lets the call pass, so that the guard has to be ended before.
const limit = `ulimit -t 10 2>/dev/null`;
// Nobody knows what a guard would have said that was killed, or that could not be started.
const judged = `{ ${limit}; ${node}node "$0" || exit 2; exit 0; }`;
// Where it may have no say at all, a machine without node must still be able to work.
const unsure = `{ [ $? = 127 ] && ${leave}; exit 2; }`;
// What else names a loop may be a call that speaks of it.
const own = `f=\${f##*/}; f=\${f%.json}; case $i in *'"session_id":"'"$f"'"'*|*'"session_id": "'"$f"'"'*) g=own ;; *"$f"*) g=\${g:-1} ;; esac; case $f in *[=~]*) g=\${g:-1} ;; esac`;
const unattended = [
  `[ "\${RALPH_GUARD-}" != off ] || ${leave}`,
  `g=\${RALPH_RUN_ID-}; [ "\${RALPH_GUARD-}" != always ] || g=1; [ -z "$g" ] || ${judged}`,
  `[ "\${HOME-}" ] || { ${limit}; ${node}node "$0" || ${unsure}; exit 0; }; ${config}`,
  `${near}; for f in ${project} "$c/ralph/settings.json"; do [ -e "$f" ] && grep -q '"always"' "$f" && ${judged}; done`,
  `${folder}; set -- "$d"/ralph/sessions/*.json; [ -e "$1" ] || ${leave}; ${read}`,
  `for f; do ${own}; done; case $g in own) ${limit}; ${run} || exit 2 ;; 1) ${limit}; ${run} || ${unsure} ;; *) ${pass} ;; esac`,
].join('; ');

/** What a field of the input holds, as long as nothing in it is escaped. */
const field = (name: string, into: string): string =>
  `${into}=\${i#*'"${name}":'}; ${into}=\${${into}#' '}; ${into}=\${${into}#'"'}; ${into}=\${${into}%%'"'*}`;

// The monitor leaves in a file of the session from which size of which transcript to which other, and for which window,
// it has nothing to tell.
const contextFills = [
  `${read}; ${field('transcript_path', 'p')}; ${field('session_id', 's')}; ${folder}`,
  `case \${CLAUDE_CONTEXT_WINDOW-} in ''|*[!0-9]*) w=200000 ;; *) w=$CLAUDE_CONTEXT_WINDOW ;; esac`,
  `g=1; { b=$(wc -c < "$p") && [ "$b" -lt "$w" ] && g=; } 2>/dev/null`,
  `case $s in ''|*[!A-Za-z0-9_-]*) ;; *) { read -r from to of t < "$d/ralph/context/$s.next" && [ "$of" = "$w" ] && [ "$t" = "$p" ] && [ "$b" -ge "$from" ] && [ "$b" -lt "$to" ] && g=; } 2>/dev/null ;; esac`,
  `if [ "$g" ]; then ${run}; else ${pass}; fi`,
].join('; ');

/** A line of sh that starts node, the hook being `$0`, only where there is something to do. */
export const startIf: Readonly<Record<StartIf, string>> = {
  'any-loop': `${folder}; set -- "$d"/ralph/sessions/*.json; [ -e "$1" ] || ${prd} || [ -z "\${HOME-}" ] || ${leave}; ${node}exec node "$0"`,
  'loop-or-alerts': `${folder}; for f in "$d"/ralph/sessions/*.json "$d"/ralph/context/*.json; do [ -e "$f" ] && ${node}exec node "$0"; done; [ -n "\${HOME-}" ] || ${node}exec node "$0"`,
  command: `${read}; case $i in ${named}) ${run} ;; *) ${pass} ;; esac`,
  'command-or-loop': `${read}; g=; case $i in ${named}) g=1 ;; *) ${folder}; for f in "$d"/ralph/sessions/*.json; do [ -e "$f" ] || continue; ${mine}; done ;; esac; if [ "$g" ]; then ${run}; else ${pass}; fi`,
  'context-fills': contextFills,
  unattended,
};

/** The same for a host that only knows a command line, which it gives to a shell of its own choice (sh, zsh, fish). */
export function commandLine(condition: StartIf, path: string, platform: string): string {
  return platform === 'win32'
    ? `node "${path}"`
    : `sh -c ${quoteWord(startIf[condition])} ${quoteWord(path)}`;
}
