#!/bin/bash
# in.sh ROOT COMMAND...: runs a command with the unpacked Debian of root.sh as its root. Needs no root where users may have
# namespaces of their own.
set -euo pipefail
root=${1:?usage: in.sh ROOT COMMAND...}
shift
[ "$(id -u)" = 0 ] && user=() || user=(--map-root-user)
exec unshare "${user[@]}" --mount --pid --fork bash -c '
  mount -t proc proc "$0/proc" && [ -e "$0/dev/null" ] || : >"$0/dev/null"
  mount --bind /dev/null "$0/dev/null"
  cd / && exec env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C "$(command -v chroot)" "$0" "$@"' "$root" "$@"
