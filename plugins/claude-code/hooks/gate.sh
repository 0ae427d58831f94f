#!/bin/sh
# Stands before every hook of Ralph: gate.sh EVENT [HOST], with the host's JSON on standard input.
# It asks one question, "could there be anything to do here?", and starts node only then. In doubt it starts node, which
# decides everything else. Built-ins only: the PATH may hold node and nothing else.
event=${1-}
case $event in stop | prompt | session-start | context | guard | interrupt) shift ;; *) exit 0 ;; esac
case ${XDG_STATE_HOME-} in /*) state=$XDG_STATE_HOME ;; *) state=${HOME:+$HOME/.local/state} ;; esac

# An agent of a run, a loop in any session, an active PRD, or settings that may switch the guard on.
anything_to_do() {
  [ -n "${RALPH_RUN_ID-}${RALPH_GUARD-}" ] && return 0
  [ -n "${HOME-}" ] || return 0 # only node can look up a home that is not in the environment
  case ${XDG_CONFIG_HOME-} in /*) config=$XDG_CONFIG_HOME ;; *) config=$HOME/.config ;; esac
  for file in "$state"/ralph/sessions/*.json; do [ -e "$file" ] && return 0; done
  [ "$event" = guard ] && [ -e "$config/ralph/settings.json" ] && return 0
  for dir in "$PWD" "${CLAUDE_PROJECT_DIR-}" "${GEMINI_PROJECT_DIR-}"; do
    while [ -n "$dir" ]; do
      [ -e "$dir/.ralph-active" ] && return 0
      [ "$event" = guard ] && [ -e "$dir/.ralph" ] && return 0
      case $dir in */*) dir=${dir%/*} ;; *) break ;; esac
    done
  done
  return 1
}

input=
if ! anything_to_do; then
  # Shells read byte by byte, so only what has to be looked at is read. Codex, unlike Claude Code, takes a hook that does
  # not read its input for a failed one.
  [ "$event" = prompt ] || [ -z "${CLAUDECODE-}" ] || exit 0
  while IFS= read -r line || [ -n "$line" ]; do [ "$event" != prompt ] || input="$input $line"; done
  case $input in
    *ralph-loop* | *ulw-loop* | *cancel-ralph* | *ralph-status* | *ralph-pause* | *ralph-resume*) ;;
    *[\"\ ]/ralph[\"\ \\]* | *:ralph[\"\ \\]*) ;;
    *) exit 0 ;;
  esac
fi

if ! command -v node >/dev/null; then
  echo "ralph: node is not on the PATH, so the $event hook cannot run" >&2
  # In a run nobody watches, so the guard refuses the call (2). Elsewhere the host shows the message and goes on (1).
  [ "$event:${RALPH_RUN_ID:+run}" != guard:run ] || exit 2
  exit 1
fi

# Node 20 reads these certificates at every start, which triples it; Node 22 and later keep compiled code in that folder,
# where no agent may write. What node starts for the user gets the user's own values back.
RALPH_CA_CERTS=${NODE_EXTRA_CA_CERTS-} NODE_EXTRA_CA_CERTS=
RALPH_COMPILE_CACHE=${NODE_COMPILE_CACHE-} NODE_COMPILE_CACHE=${state:+$state/ralph/compile-cache}
export RALPH_CA_CERTS NODE_EXTRA_CA_CERTS RALPH_COMPILE_CACHE NODE_COMPILE_CACHE
set -- "${0%/*}/generated/$event.cjs" "$@"
if [ -n "$input" ]; then
  printf '%s\n' "$input" | node "$@"
elif [ "$event" = guard ]; then
  # Hosts let a call pass whose hook was killed or took too long: refuse it instead, after ten seconds of CPU time.
  # shellcheck disable=SC3045 # not in POSIX, but in every sh that hosts run on
  ulimit -t 10 2>/dev/null
  node "$@" || exit 2
else
  exec node "$@"
fi
