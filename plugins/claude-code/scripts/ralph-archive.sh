#!/bin/sh
# ralph prd archive, from the package that this plugin is part of, else from the PATH.
ralph=$(dirname "$(readlink -f "$0" 2>/dev/null || echo "$0")")/../../../dist/ralph.cjs
if [ -f "$ralph" ]; then exec node "$ralph" prd archive "$@"; else exec ralph prd archive "$@"; fi
