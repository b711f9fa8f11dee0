#!/bin/bash
# fetch.sh CACHE: prints the path of CACHE/packetdrill-VERSION, the kernel's own scripts (tools/testing/selftests/net/packetdrill)
# of the newest linux-source that Debian's unstable suite has, taken by apt and kept. Newer than what is kept is not looked for:
# remove the folder. No root needed. Exit status 77: they cannot be had here, the last line says why.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${1:?usage: fetch.sh CACHE}
inside=tools/testing/selftests/net/packetdrill

skip() {
  echo "no scripts of the kernel: $*" >&2
  exit 77
}

mkdir -p "$cache"
exec 9>"$cache/packetdrill.lock"
flock 9
kept=$(find "$cache" -maxdepth 1 -name 'packetdrill-*' | sort -V | tail -n 1)
[ -n "$kept" ] && { echo "$kept"; exit 0; }
part=$(mktemp -d "$cache/packetdrill.part-XXXX")
trap 'rm -rf "$part"' EXIT
archive=$("$here/../../kernel/uml/newest_source.sh" "$part" unstable) || exit
version=${archive##*/source-} version=${version%.tar.xz}
tar -C "$part" --strip-components=1 --wildcards -xf "$archive" "*/$inside/*"
[ -d "$part/$inside" ] || skip "linux-source $version has no $inside"
kept=$cache/packetdrill-$version
mv "$part/$inside" "$kept"
echo "$kept"
