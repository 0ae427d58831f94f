#!/usr/bin/env bash
# Sets up a Docker sandbox for the loop, once, as root inside:
#   docker sandbox exec -i -u root -e RALPH_STATE_DIR="$HOME/.dclaude_state" NAME bash -s < setup.sh
# The login is kept in that folder outside, so that it lasts when the sandbox is made anew.
set -euo pipefail

user="${RALPH_SANDBOX_USER:-agent}"
home="$(getent passwd "$user" | cut -d: -f6)"
state="${RALPH_STATE_DIR:?where the login is kept, as it was given to docker sandbox create}"
if [ -z "$home" ] || [ ! -d "$state/.claude" ]; then
  echo "setup.sh: no user $user, or no folder $state/.claude" >&2
  exit 1
fi

for name in .claude .claude.json; do
  # What the image brought is of no use: it knows no login.
  if [ ! -L "$home/$name" ]; then rm -rf -- "${home:?}/$name"; fi
  ln -sfn -- "$state/$name" "$home/$name"
  chown -h "$user" "$home/$name" 2>/dev/null || true
done

as_user() { setpriv --reuid "$user" --regid "$user" --init-groups env HOME="$home" "$@" 2>/dev/null || env HOME="$home" "$@"; }
as_user git config --global user.name >/dev/null || as_user git config --global user.name 'Ralph Loop'
as_user git config --global user.email >/dev/null || as_user git config --global user.email 'ralph@localhost'
