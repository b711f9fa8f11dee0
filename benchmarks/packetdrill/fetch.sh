#!/bin/bash
# fetch.sh CACHE: prints the path of CACHE/packetdrill-VERSION, the kernel's own scripts (tools/testing/selftests/net/packetdrill)
# of the newest linux-source that Debian's unstable suite has, taken by apt and kept. Newer than what is kept is not looked for:
# remove the folder. No root needed. Exit status 77: they cannot be had here, the last line says why.
set -euo pipefail
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
for tool in apt-get apt-cache dpkg-deb tar xz; do
  command -v "$tool" >/dev/null || skip "$tool is missing; on Debian: apt-get install xz-utils"
done
part=$(mktemp -d "$cache/packetdrill.part-XXXX")
trap 'rm -rf "$part"' EXIT
mkdir -p "$part/lists/partial" "$part/cache/archives/partial"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || skip "$keyring is missing: this is not Debian"
echo "deb [signed-by=$keyring] http://deb.debian.org/debian unstable main" >"$part/sources.list"
options=(-o Dir::Etc::SourceList="$part/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$part/lists" -o Dir::Cache="$part/cache" -o APT::Sandbox::User=)
apt-get "${options[@]}" -qq update >&2 || skip "apt reaches no Debian archive"
package=$(apt-cache "${options[@]}" depends --important linux-source | awk '/Depends: linux-source-/ { print $2 }')
[ -n "$package" ] || skip "the suite has no linux-source"
echo "fetching $package, once: 160 MB" >&2
(cd "$part" && apt-get "${options[@]}" -qq download "$package" >&2) || skip "apt cannot download $package"
version=$(dpkg-deb -f "$part"/linux-source-*.deb Version)
dpkg-deb -x "$part"/linux-source-*.deb "$part/package"
tar -C "$part" --strip-components=1 --wildcards -xf "$part/package/usr/src/$package.tar.xz" "*/$inside/*"
[ -d "$part/$inside" ] || skip "$package has no $inside"
kept=$cache/packetdrill-${version//[^0-9a-zA-Z.]/_}
mv "$part/$inside" "$kept"
echo "$kept"
