#!/bin/sh
here=$(dirname "$(readlink -f "$0" 2>/dev/null || echo "$0")")
exec node "$here/../hooks/generated/prd.cjs" run "$@"
