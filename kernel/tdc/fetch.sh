#!/bin/bash
# fetch.sh FOLDER: prints the path of FOLDER/tc-testing, the kernel's own tests of tc with their driver tdc.py. FOLDER is that of a
# test kernel, whose build keeps them; where it has not, they are taken from Debian's linux-source-6.1, installed or downloaded by
# apt. Exit status 77: they cannot be had here, the last line says why.
set -euo pipefail
home=${1:?usage: fetch.sh FOLDER}
package=linux-source-6.1
inside=tools/testing/selftests/tc-testing

skip() {
  echo "no tdc: $*" >&2
  exit 77
}

mkdir -p "$home"
exec 9>"$home/tc-testing.lock"
flock 9
[ -d "$home/tc-testing" ] && { echo "$home/tc-testing"; exit 0; }
for tool in tar xz apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || skip "$tool is missing; on Debian: apt-get install xz-utils"
done
part=$(mktemp -d "$home/tc-testing.part-XXXX")
trap 'rm -rf "$part"' EXIT
archive=/usr/src/$package.tar.xz
if [ ! -e "$archive" ]; then
  (cd "$part" && apt-get download -qq "$package" >&2) || skip "apt cannot download $package; try apt-get update"
  dpkg-deb -x "$part"/$package*.deb "$part/package"
  archive=$part/package$archive
fi
tar -C "$part" --strip-components=1 --wildcards -xf "$archive" "*/$inside/*"
mv "$part/$inside" "$home/tc-testing"
echo "$home/tc-testing"
