#!/usr/bin/env bash
# Sets up a Docker sandbox for the loop, once, as root inside:
#   docker sandbox exec -u root NAME bash < setup.sh
# The login is kept in a folder outside, so that it lasts when the sandbox is made anew: .dclaude_state in the home of
# whoever made the sandbox, which is mounted at the same path, or $RALPH_STATE_DIR.
set -euo pipefail

user="${RALPH_SANDBOX_USER:-agent}"
home="$(getent passwd "$user" | cut -d: -f6)"
state="${RALPH_STATE_DIR-}"
for folder in /{Users,home}/*/.dclaude_state ~root/.dclaude_state; do
  if [ -z "$state" ] && [ -d "$folder" ]; then state="$folder"; fi
done
if [ -z "$home" ] || [ ! -d "$state" ]; then
  echo "setup.sh: no user $user, or no folder .dclaude_state that was given to docker sandbox create" >&2
  exit 1
fi

mkdir -p -- "$state/.claude"
# An empty file would not do: it has to be JSON.
if [ ! -s "$state/.claude.json" ]; then echo '{}' > "$state/.claude.json"; fi
for name in .claude .claude.json; do
  # What the image brought is of no use: it knows no login.
  if [ ! -L "$home/$name" ]; then rm -rf -- "${home:?}/$name"; fi
  ln -sfn -- "$state/$name" "$home/$name"
  chown -h "$user" "$home/$name" 2>/dev/null || true
done

as_user() { setpriv --reuid "$user" --regid "$user" --init-groups env HOME="$home" "$@" 2>/dev/null || env HOME="$home" "$@"; }
as_user git config --global user.name >/dev/null || as_user git config --global user.name 'Ralph Loop'
as_user git config --global user.email >/dev/null || as_user git config --global user.email 'ralph@localhost'
