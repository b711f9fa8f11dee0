#!/usr/bin/env bash
# dist.sh DIST: the wheel of DIST, installed into an empty environment by pip, pipx and uv, does what the README shows; so does
# what the source archive builds, given a Rust compiler. A wheel for aarch64 runs in qemu where qemu-user-static and mmdebstrap
# are installed; else it holds code for its processor, and no more is known.
set -euo pipefail
dist=$(cd "${1:?usage: dist.sh DIST}" && pwd)
captures=$(cd "$(dirname "$0")/../captures" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
python=${PYTHON:-python3}

works() { # COMMAND: what the README shows
  "$1" --version | grep -E '^mayfly [0-9.]+ \([0-9a-f]{7,}\+?\)$'
  "$1" compare wired --disciplines fifo,efd --duration 3s --out compare --json | "$python" -c 'import json, sys; rows = json.load(sys.stdin)["disciplines"]; assert [r["id"] for r in rows] == ["fifo", "efd"]'
  "$1" whatif "$captures/office.pcap.gz" --rate 10mbit --buffer 300 --disciplines fifo,las --duration 3s --out whatif >/dev/null
  grep -q plotly compare/report.html
  "$1" completion bash | grep -q '^complete .*mayfly$'
  rm -rf compare whatif
}

try() { # WHEEL-OR-ARCHIVE
  echo "== pip install $1"
  "$python" -m venv env
  env/bin/python -m pip install --quiet --disable-pip-version-check "$1"
  works env/bin/mayfly
}

one() { # PATTERN: the only file of that name
  local found=("$dist"/$1)
  [ ${#found[@]} = 1 ] && [ -e "${found[0]}" ] || { echo "$dist: must hold one $1, has: ${found[*]}" >&2; exit 1; }
  echo "${found[0]}"
}

archive=$(one 'mayfly-[0-9]*.tar.gz')
[ "$(stat -c %s "$archive")" -lt 3000000 ] || { echo "$archive: above 3 MB"; exit 1; }
unwanted=$(tar tzf "$archive" | grep -E '^[^/]*/(docs|captures|kernel|target|fuzz)/|\.(pcap|parquet)' || true)
[ -z "$unwanted" ] || { echo "$archive has no need of: $unwanted"; exit 1; }

for wheel in "$dist"/mayfly-[0-9]*.whl; do
  "$python" - "$wheel" <<'CHECK'
import struct, sys, zipfile

wheel = sys.argv[1]
[machine] = [number for name, number in {"_x86_64.whl": 62, "_aarch64.whl": 183}.items() if wheel.endswith(name)]
assert "-cp311-abi3-" in wheel and "manylinux_2_17_" in wheel, f"{wheel}: must be for Python from 3.11, glibc from 2.17"
with zipfile.ZipFile(wheel) as archive:
    [module] = [name for name in archive.namelist() if name.endswith("_native.abi3.so")]
    assert struct.unpack_from("<H", archive.read(module), 18)[0] == machine, f"{wheel}: {module} is for another processor"
    assert any(name.endswith("/share/man/man1/mayfly-whatif.1") for name in archive.namelist()), f"{wheel}: no man pages"
CHECK
  echo "== $(basename "$wheel"): its module is for the processor of its name, man pages are in it"
done

# Debian's Python for aarch64, unpacked and emulated, with the wheels for it of all that is needed.
emulated() { # WHEEL
  local sources=()
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do [ -e "$file" ] && sources+=("$file"); done
  mmdebstrap --quiet --variant=extract --mode=root --architectures=arm64 \
    --include=python3.11,libpython3.11-stdlib,libc6,libexpat1,libffi8,libgcc-s1,liblzma5,libsqlite3-0,libssl3,libstdc++6,zlib1g \
    bookworm arm "${sources[@]}"
  "$python" -m venv pip
  pip/bin/python -m pip install --quiet --disable-pip-version-check --target arm-site --only-binary=:all: \
    --python-version 3.11 --implementation cp --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 \
    --platform manylinux_2_24_aarch64 --platform manylinux_2_28_aarch64 "$1"
  cat >arm-mayfly <<RUN
#!/bin/sh
PYTHONPATH=$place/arm-site exec qemu-aarch64-static -L $place/arm $place/arm/usr/bin/python3.11 -m mayfly.cli "\$@"
RUN
  chmod +x arm-mayfly
  works ./arm-mayfly
}

for wheel in "$dist"/mayfly-[0-9]*_aarch64.whl; do
  if [ ! -e "$wheel" ] || [ "$(uname -m)" = aarch64 ]; then
    continue
  elif command -v qemu-aarch64-static >/dev/null && command -v mmdebstrap >/dev/null; then
    echo "== $(basename "$wheel") in qemu"
    emulated "$wheel"
  else
    echo "== $(basename "$wheel") was not run: apt-get install qemu-user-static mmdebstrap"
  fi
done

wheel=$(one "mayfly-[0-9]*_$(uname -m).whl")
try "$wheel"
test -e env/share/man/man1/mayfly.1
rm -rf env

"$python" -m venv tools
tools/bin/python -m pip install --quiet --disable-pip-version-check pipx uv
echo "== pipx install mayfly"
export PIPX_HOME=$place/pipx PIPX_BIN_DIR=$place/bin PIPX_MAN_DIR=$place/man
tools/bin/pipx install --quiet --python "$(command -v "$python")" "$wheel"
works bin/mayfly
test -e man/man1/mayfly.1
echo "== uv tool install mayfly"
export UV_TOOL_DIR=$place/uv UV_TOOL_BIN_DIR=$place/uv-bin
tools/bin/uv tool install --quiet --python "$(command -v "$python")" "$wheel"
works uv-bin/mayfly

if command -v cargo >/dev/null; then
  try "$archive"
  echo "the wheel and the source archive work"
else
  echo "the wheel works; the source archive needs a Rust compiler, which is not here"
fi
