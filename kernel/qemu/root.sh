#!/bin/bash
# root.sh SUITE CACHE [FLAVOUR]: unpacks Debian's newest kernel of that suite with headers, compilers and tools, once, and prints the
# folder. SUITE: bookworm (6.1), bookworm-backports (6.12), trixie-backports (the newest of a release; also clang and bpftool for
# BPF), unstable (the newest of all). FLAVOUR: cloud, or generic, which has drivers of wireless devices; with the tools of these.
# Packages are unpacked, not installed: no root needed, nothing of this machine changes. Exit status 77: it cannot be had here,
# the last line says why. What is in the cache stays; to have a newer kernel delete it there.
set -euo pipefail
usage="usage: root.sh SUITE CACHE [FLAVOUR]"
suite=${1:?$usage} cache=${2:?$usage} flavour=${3:-cloud}
release=${suite%-backports}
case $flavour in
cloud) kernel=cloud-amd64 more= ;;
generic) kernel=amd64 more="hostapd wpasupplicant iw" ;;
*) echo "flavour $flavour: one of cloud, generic" >&2; exit 2 ;;
esac
packages="linux-image-$kernel linux-headers-$kernel $more base-files libc-bin dash bash coreutils sed grep mawk findutils
diffutils tar gzip xz-utils cpio gcc libc6-dev make iproute2 ethtool procps kmod mount util-linux python3"
case $suite in
bookworm | bookworm-backports | unstable) ;;
trixie-backports) packages+=" clang-19 libbpf-dev bpftool" ;;
*) echo "suite $suite: one of bookworm, bookworm-backports, trixie-backports, unstable" >&2; exit 2 ;;
esac

skip() {
  echo "no Debian $suite: $*" >&2
  exit 77
}

key=$(echo "$suite $packages $(sha256sum <"$0")" | sha256sum | cut -c1-12)
home=$cache/debian-$suite-$flavour-$key
[ -e "$home/complete" ] && { echo "$home"; exit 0; }
[ "$(uname -m)" = x86_64 ] || skip "its kernels for amd64 are used, this is $(uname -m)"
for tool in apt-get apt-cache dpkg-deb tar; do
  command -v "$tool" >/dev/null || skip "$tool is missing: this is no Debian"
done
mirror=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian" && !/security/ { print $2; exit }')
[ -n "$mirror" ] || skip "apt has no Debian mirror configured"

mkdir -p "$home"
exec 9>"$home/lock"
flock 9 # two test runs at once unpack one
[ -e "$home/complete" ] && { echo "$home"; exit 0; }
apt=$home/apt
rm -rf "$home/root" "$apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
for name in $(echo "$release $suite" | tr ' ' '\n' | uniq); do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $name main"
done >"$apt/sources.list"
options=(-qq -o "Dir::State=$apt" -o "Dir::State::Lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
  -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Debug::NoLocking=1 -o APT::Architecture=amd64
  -o APT::Sandbox::User=root)
echo "downloading Debian's kernel of $suite, once: some 200 MB" >&2
apt-get "${options[@]}" update >&2 || skip "apt cannot read its lists from $mirror"
apt-get "${options[@]}" install -y --download-only --no-install-recommends -t "$suite" $packages >&2 ||
  skip "apt cannot download its packages"

root=$home/root
mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{proc,sys,dev,tmp,run}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$root"
done
# What the scripts of packages would have linked.
[ -e "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"
[ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
rm -rf "$apt"
touch "$home/complete"
echo "$home"
