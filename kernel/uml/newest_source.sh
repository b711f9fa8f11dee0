#!/bin/bash
# newest_source.sh CACHE SUITE...: downloads the newest linux-source that these suites of Debian have, by apt with lists of its
# own, and prints the path of its archive, CACHE/source-VERSION.tar.xz. No root needed. Exit status 77: it cannot be had here,
# the last line says why.
set -euo pipefail
cache=${1:?usage: newest_source.sh CACHE SUITE...}
shift
[ $# -gt 0 ] || { echo "usage: newest_source.sh CACHE SUITE..." >&2; exit 2; }

skip() {
  echo "no source of a kernel: $*" >&2
  exit 77
}

for tool in apt-get apt-cache dpkg-deb tar xz; do
  command -v "$tool" >/dev/null || skip "$tool is missing; on Debian: apt-get install xz-utils"
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || skip "$keyring is missing: this is not Debian"
mkdir -p "$cache"
part=$(mktemp -d "$cache/source.part-XXXX")
trap 'rm -rf "$part"' EXIT
mkdir -p "$part/lists/partial" "$part/cache/archives/partial"
for suite in "$@"; do
  echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite main"
done >"$part/sources.list"
options=(-o Dir::Etc::SourceList="$part/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$part/lists" -o Dir::Cache="$part/cache" -o APT::Sandbox::User=)
apt-get "${options[@]}" -qq update >&2 || skip "apt reaches no Debian archive"
package=$(apt-cache "${options[@]}" pkgnames linux-source- | grep -E '^linux-source-[0-9.]+$' | sort -V | tail -n 1)
[ -n "$package" ] || skip "$* has no linux-source"
echo "fetching $package, once: 160 MB" >&2
(cd "$part" && apt-get "${options[@]}" -qq download "$package" >&2) || skip "apt cannot download $package"
version=$(dpkg-deb -f "$part"/linux-source-*.deb Version)
dpkg-deb -x "$part"/linux-source-*.deb "$part/package"
kept=$cache/source-${version//[^0-9a-zA-Z.]/_}.tar.xz
mv "$part/package/usr/src/$package.tar.xz" "$kept"
echo "$kept"
