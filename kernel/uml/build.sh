#!/bin/bash
# build.sh CACHE [FRAGMENT]: builds the User Mode Linux test kernel once and prints the path of the binary. FRAGMENT is a file
# beside this one with more of its configuration, config.kasan for one: another kernel, cached separately. What it says wins, and
# where FRAGMENT.diff is, the source is patched with that too.
# Source: Debian's linux-source-6.1, installed or downloaded by apt; no root needed. With MAYFLY_KERNEL=newest it is the newest
# that Debian's unstable and its backports have, which is kept: newer than CACHE/source-*.tar.xz is not looked for, remove it.
# Exit status 77: it cannot be built here, the last line says why. Cached by source version, configuration and patches. What
# modules need stays beside the binary: make -C CACHE/uml-.../build ARCH=um M=DIR modules; kernel/upstream links the objects of
# net/sched that are there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${1:?usage: build.sh CACHE [FRAGMENT]}
chosen=${MAYFLY_KERNEL:-6.1}
package=linux-source-6.1
PATH=$PATH:/usr/sbin:/sbin # ip, tc and ethtool, which not every user has in it

skip() {
  echo "no test kernel: $*" >&2
  exit 77
}

[ "$(uname -m)" = x86_64 ] || skip "User Mode Linux with time travel is built for x86_64, this is $(uname -m)"
for tool in gcc make patch flex bison bc xz dpkg-query apt-cache ip tc ethtool; do
  command -v "$tool" >/dev/null || skip "$tool is missing; on Debian: apt-get install gcc make patch flex bison bc xz-utils iproute2 ethtool $package"
done

archive=/usr/src/$package.tar.xz
if [ "$chosen" = newest ]; then
  archive=$(find "$cache" -maxdepth 1 -name 'source-*.tar.xz' 2>/dev/null | sort -V | tail -n 1)
  [ -n "$archive" ] || archive=$("$here/newest_source.sh" "$cache" unstable trixie-backports) || exit
  version=${archive##*/source-} version=${version%.tar.xz}
elif [ "$chosen" != 6.1 ]; then
  echo "MAYFLY_KERNEL=$chosen: must be 6.1 or newest" >&2
  exit 2
elif [ -e "$archive" ]; then
  version=$(dpkg-query -W -f '${Version}' "$package")
else
  version=$(apt-cache policy "$package" 2>/dev/null | awk '/Candidate:/ { print $2 }')
  [ -n "$version" ] && [ "$version" != "(none)" ] || skip "apt knows no package $package; try apt-get update"
fi
# Beside what all have: patches of a series (6.1-xstate.patch), configuration of a major version (config.7).
series=$(grep -oE '^[0-9]+\.[0-9]+' <<<"$version")
configs=("$here/config")
for more in "config.${series%.*}" "${2:-}"; do
  [ -f "$here/$more" ] && configs+=("$here/$more")
done
patches=()
for change in "$here/$series"-*.patch "$here/${2:-}.diff"; do
  [ -e "$change" ] && patches+=("$change")
done
key=$( (echo "$version"; cat "${configs[@]}" ${patches[@]+"${patches[@]}"}) | sha256sum | cut -c1-12)
home=$cache/uml-${version//[^0-9a-zA-Z.]/_}-$key
[ -x "$home/linux" ] && { echo "$home/linux"; exit 0; }

mkdir -p "$home"
exec 9>"$home/lock"
flock 9 # two test runs at once build one kernel
[ -x "$home/linux" ] && { echo "$home/linux"; exit 0; }
if [ ! -e "$archive" ]; then
  (cd "$home" && apt-get download -qq "$package=$version" >&2) || skip "apt cannot download $package $version"
  dpkg-deb -x "$home"/$package*.deb "$home/package"
  archive=$home/package$archive
fi

tree=$home/source build=$home/build
rm -rf "$tree" "$build"
mkdir -p "$tree" "$build"
tar -C "$tree" --strip-components=1 -xf "$archive"
for change in ${patches[@]+"${patches[@]}"}; do
  patch -s -d "$tree" -p1 <"$change" >&2
done
rm -rf "$home/package" "$home"/$package*.deb
echo "building $home/linux, once: about 6 minutes of CPU" >&2
cat "${configs[@]}" | tac | awk -F'[= ]' '/^# CONFIG_[A-Z0-9_]+ is not set$/ { seen[$2]++ } !/^CONFIG_/ || !seen[$1]++' | tac >"$home/config"
make -s -C "$tree" O="$build" ARCH=um KCONFIG_ALLCONFIG="$home/config" allnoconfig >"$home/build.log" 2>&1
wanted=$(grep -E '^CONFIG_' "$home/config")
missing=$(grep -vxFf "$build/.config" <<<"$wanted") && {
  echo "the kernel's configuration refuses: "$missing >&2
  exit 1
}
nice -n 19 make -s -C "$tree" O="$build" ARCH=um -j"${JOBS:-1}" linux modules >>"$home/build.log" 2>&1 || {
  tail -n 20 "$home/build.log" >&2
  exit 1
}
# A module's build reads these only: 80 MB instead of 1.5 GB. The kernel's own tests of tc stay beside (kernel/tdc/fetch.sh).
rm -rf "$home/tc-testing"
mv "$tree/tools/testing/selftests/tc-testing" "$home/tc-testing"
find "$tree" -mindepth 1 -maxdepth 1 -type d ! -name arch ! -name include ! -name scripts -exec rm -rf {} +
find "$tree/arch" -mindepth 1 -maxdepth 1 -type d ! -name um ! -name x86 -exec rm -rf {} +
strip -o "$home/linux.part" "$build/linux"
mv "$home/linux.part" "$home/linux"
echo "$home/linux"
