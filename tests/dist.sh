#!/usr/bin/env bash
# dist.sh DIST: the wheel of DIST, installed into an empty environment, does what the README shows; so does what the source
# archive builds, given a Rust compiler.
set -euo pipefail
dist=$(cd "${1:?usage: dist.sh DIST}" && pwd)
captures=$(cd "$(dirname "$0")/../captures" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
python=${PYTHON:-python3}

try() {
  echo "== $1"
  "$python" -m venv env
  env/bin/python -m pip install --quiet --disable-pip-version-check "$1"
  env/bin/mayfly --version | grep -E '^mayfly [0-9.]+ \([0-9a-f]{7,}\+?\)$'
  env/bin/mayfly compare wired --disciplines fifo,efd --duration 3s --out compare --json | "$python" -c 'import json, sys; rows = json.load(sys.stdin)["disciplines"]; assert [r["id"] for r in rows] == ["fifo", "efd"]'
  env/bin/mayfly whatif "$captures/office.pcap.gz" --rate 10mbit --buffer 300 --disciplines fifo,las --duration 3s --out whatif >/dev/null
  grep -q plotly compare/report.html
  rm -rf env compare whatif
}

archive=$(ls "$dist"/*.tar.gz)
[ "$(stat -c %s "$archive")" -lt 3000000 ] || { echo "$archive: above 3 MB"; exit 1; }
unwanted=$(tar tzf "$archive" | grep -E '^[^/]*/(docs|captures|kernel|target|fuzz)/|\.(pcap|parquet)' || true)
[ -z "$unwanted" ] || { echo "$archive has no need of: $unwanted"; exit 1; }

try "$(ls "$dist"/*.whl)"
if command -v cargo >/dev/null; then
  try "$archive"
  echo "the wheel and the source archive work"
else
  echo "the wheel works; the source archive needs a Rust compiler, which is not here"
fi
