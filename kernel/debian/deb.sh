#!/bin/bash
# deb.sh OUT: packs sources for DKMS and the plug-ins of tc, which `make plugins` laid into OUT/tc, into OUT/mayfly-qdisc_*.deb.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) kernel=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath "${1:?usage: deb.sh OUT}")
version=${VERSION:-$(sed -n 's/^version = "\(.*\)"/\1/p' "$kernel/../Cargo.toml" | head -n 1)}
: "${version:?the version is in Cargo.toml of the checkout; VERSION=1.0 names another}"
architecture=$(dpkg --print-architecture)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"

source=$tree/usr/src/mayfly-$version
mkdir -p "$source"
(cd "$kernel" && find . \( -name build -o -name test -o -name uml -o -name qemu \) -prune -o \
  \( -path ./Kbuild -o -path ./Makefile -o -path ./LICENSE -o -path './*.[ch]' -o -path './bpf/*' \) -type f -print0) |
  (cd "$kernel" && xargs -0 cp --parents -t "$source")
dkms=$source/dkms.conf
sed "s/@VERSION@/$version/g" "$kernel/dkms.conf" >"$dkms"
number=0
for module in mayfly_common $(cd "$kernel" && ls sch_*.c | sed 's/\.c$//; /^sch_common$/d'); do
  printf 'BUILT_MODULE_NAME[%d]="%s"\nDEST_MODULE_LOCATION[%d]="/updates"\n' $number "$module" $number >>"$dkms"
  number=$((number + 1))
done
plugins=$tree/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)/tc
mkdir -p "$plugins" "$tree/DEBIAN"
cp "$out"/tc/q_*.so "$plugins"
for name in control postinst prerm; do
  sed "s/@VERSION@/$version/g; s/@ARCHITECTURE@/$architecture/g" "$here/$name" >"$tree/DEBIAN/$name"
done
chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/prerm"
dpkg-deb --root-owner-group --build "$tree" "$out/mayfly-qdisc_${version}_$architecture.deb"
