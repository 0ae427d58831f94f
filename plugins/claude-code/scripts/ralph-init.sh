#!/bin/sh
ralph=$(dirname "$(readlink -f "$0" 2>/dev/null || echo "$0")")/../../../dist/ralph.cjs
[ -f "$ralph" ] && exec node "$ralph" prd init "$@" || command -v ralph >/dev/null && exec ralph prd init "$@" || { echo "$0: there is no ralph here; try: npm install -g ralphkit" >&2; exit 127; }
