#!/bin/sh
# ralph prd init, from the package that this plugin is part of, else from the PATH.
ralph=$(dirname "$(readlink -f "$0" 2>/dev/null || echo "$0")")/../../../dist/ralph.cjs
if [ -f "$ralph" ]; then exec node "$ralph" prd init "$@"; else exec ralph prd init "$@"; fi
