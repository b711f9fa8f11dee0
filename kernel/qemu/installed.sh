#!/bin/bash
# installed.sh SUITE CACHE: installs Debian of that suite with its newest kernel, the headers and DKMS, as apt does, once, and prints
# the folder; `root` in it is the system. Maintainer scripts run: as root, by mmdebstrap. Suites and exit status as root.sh's.
set -euo pipefail
usage="usage: installed.sh SUITE CACHE"
suite=${1:?$usage} cache=${2:?$usage}
release=${suite%-backports}
packages=linux-image-cloud-amd64,linux-headers-cloud-amd64,dkms,gcc,libc6-dev,make,iproute2,ethtool,procps,kmod,cpio,xz-utils,zstd,python3
case $suite in
bookworm | bookworm-backports | trixie-backports | unstable) ;;
*) echo "suite $suite: one of bookworm, bookworm-backports, trixie-backports, unstable" >&2; exit 2 ;;
esac

skip() {
  echo "no installed Debian $suite: $*" >&2
  exit 77
}

key=$(echo "$suite $packages $(sha256sum <"$0")" | sha256sum | cut -c1-12)
home=$cache/installed-$suite-$key
[ -e "$home/complete" ] && { echo "$home"; exit 0; }
[ "$(id -u)" = 0 ] || skip "maintainer scripts run as root"
[ "$(uname -m)" = x86_64 ] || skip "its kernels for amd64 are used, this is $(uname -m)"
for tool in apt-get mmdebstrap; do command -v "$tool" >/dev/null || skip "$tool is missing: apt-get install $tool"; done
mirror=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian" && !/security/ { print $2; exit }')
[ -n "$mirror" ] || skip "apt has no Debian mirror configured"

mkdir -p "$home"
exec 9>"$home/lock"
flock 9 # two test runs at once install one
[ -e "$home/complete" ] && { echo "$home"; exit 0; }
rm -rf "$home/root"
sources=()
for name in $(echo "$release $suite" | tr ' ' '\n' | uniq); do
  sources+=("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $name main")
done
echo "installing Debian $suite, once: some 400 MB" >&2
# A mirror may be a snapshot of the suite: signed, and older than its Release file allows.
mmdebstrap --quiet --mode=root --variant=minbase --aptopt="APT::Default-Release \"$suite\"" \
  --aptopt='Acquire::Check-Valid-Until "false"' --include="$packages" \
  "$release" "$home/root" "${sources[@]}" >&2 || skip "mmdebstrap cannot install it"
touch "$home/complete"
echo "$home"
