#!/usr/bin/env bash
# reproducible.sh BIN TARGET: two clones of this commit, in folders of other names and depths, in another time zone and with
# another mode for new files, give the same wheel for TARGET, byte by byte. BIN has Python with Mayfly and maturin.
set -euo pipefail
bin=$(cd "${1:?usage: reproducible.sh BIN TARGET}" && pwd) target=${2:?usage: reproducible.sh BIN TARGET}
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

commit=$(git -C "$root" rev-parse HEAD)

wheel_of() { # FOLDER: builds there, into dist beside the clone
  git clone --quiet --no-hardlinks --no-checkout "$root" "$1/clone"
  git -C "$1/clone" checkout --quiet --detach "$commit"
  make --silent -C "$1/clone" wheels BIN="$bin" WHEELS="$target" DIST="$1/dist"
  # The other must not meet what this one built.
  rm -rf "$1/clone"
}

mkdir -p "$place/one" "$place/another/of/a/longer/name"
(export TZ=UTC; umask 022; wheel_of "$place/one")
(export TZ=Pacific/Auckland; umask 077; wheel_of "$place/another/of/a/longer/name")
status=0
for built in "$place"/one/dist/mayfly-*; do
  other=$place/another/of/a/longer/name/dist/$(basename "$built")
  sha256sum "$built" | sed "s|$place/||"
  cmp "$built" "$other" || { status=1; [ -z "${KEEP:-}" ] || cp -r "$place" "$KEEP"; }
done
[ $status = 0 ] && echo "the same, byte by byte"
exit $status
