#!/bin/bash
# pack.sh OUT MODULE...: runs inside the Debian of root.sh or installed.sh (in.sh ROOT ...): writes an initramfs with Python, ip, tc and
# what they load, the named modules of its kernel with those they need, and all of /build as it is. TOOLS: more programs; FILES: more
# files and folders.
set -euo pipefail
out=$1
shift
version=$(basename /lib/modules/*)
guest=$(mktemp -d)
mkdir -p "$guest"/usr/{bin,sbin,lib,lib64} "$guest"/{proc,sys,dev,tmp,run,etc}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$guest/$name"; done

# A file, what a link points to, and the libraries of either.
add() {
  local file from
  for file in "$@"; do
    from=$(realpath "$file")
    mkdir -p "$guest$(dirname "$from")" "$guest$(realpath "$(dirname "$file")")"
    cp -n "$from" "$guest$from"
    [ -e "$guest$file" ] || ln -s "$from" "$guest$file"
    ldd "$from" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
      from=$(realpath "$library")
      mkdir -p "$guest$(dirname "$library")" "$guest$(dirname "$from")"
      cp -n "$from" "$guest$from"
      [ -e "$guest$library" ] || cp "$from" "$guest$library"
    done
  done
}
tools=(dash sh ip tc ethtool sysctl dmesg mount kmod modprobe rmmod python3 ${TOOLS:-})
! command -v bpftool >/dev/null || tools+=(bpftool)
for tool in "${tools[@]}"; do add "$(command -v "$tool")"; done
library=$(echo /usr/lib/python3.*)
mkdir -p "$guest$library"
tar -C "$library" -c --exclude=test --exclude=__pycache__ --exclude=ensurepip --exclude=pydoc_data . | tar -C "$guest$library" -x
add "$library"/lib-dynload/_{ctypes,json,struct,socket}*.so 2>/dev/null || add "$library"/lib-dynload/_ctypes*.so

depmod "$version"
for module in "$@"; do
  modprobe --show-depends -S "$version" "$module" | awk '$1 == "insmod" { print $2 }'
done | sort -u | while read -r file; do
  mkdir -p "$guest$(dirname "$file")"
  case $file in
  *.xz) xz -dc "$file" >"$guest${file%.xz}" ;;
  *.zst) zstd -qdc "$file" >"$guest${file%.zst}" ;;
  *) cp "$file" "$guest$file" ;;
  esac
done
cp /lib/modules/"$version"/modules.{builtin,order} "$guest/lib/modules/$version"
cp -r /build "$guest/build"
for file in ${FILES:-}; do
  mkdir -p "$guest$(dirname "$file")"
  cp -r "$file" "$guest$file"
done
if compgen -G '/build/out/modules/*.ko' >/dev/null; then
  mkdir "$guest/lib/modules/$version/updates"
  cp /build/out/modules/*.ko "$guest/lib/modules/$version/updates"
fi
if compgen -G '/build/out/tc/*.so' >/dev/null; then
  mkdir -p "$guest/usr/lib/x86_64-linux-gnu/tc"
  cp /build/out/tc/*.so "$guest/usr/lib/x86_64-linux-gnu/tc"
fi
rm -rf "$guest/build/out/modules" "$guest/build/out/tc"
depmod -b "$guest" "$version"
(cd "$guest" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$out"
rm -rf "$guest"
