#!/usr/bin/env bash
# image.sh ENGINE IMAGE: the image for users says its version, and answers for a capture that is mounted.
set -euo pipefail
engine=${1:?usage: image.sh ENGINE IMAGE} image=${2:?usage: image.sh ENGINE IMAGE}
captures=$(cd "$(dirname "$0")/../captures" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
chmod 777 "$place"

if [ "$(basename "$engine")" = buildah ]; then
  container=$("$engine" from --pull-never "$image")
  trap '"$engine" rm "$container" >/dev/null; rm -rf "$place"' EXIT
  # It runs a command of its own, not the entry point, which it is asked for.
  entry=$("$engine" inspect --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}' "$container")
  run() { "$engine" run --volume "$captures":/captures:ro --volume "$place":/data "$container" -- $entry "$@"; }
else
  run() { "$engine" run --rm --volume "$captures":/captures:ro --volume "$place":/data "$image" "$@"; }
fi

run --version | grep -E '^mayfly [0-9.]+'
run whatif /captures/office.pcap.gz --rate 10mbit --buffer 300 --disciplines fifo,fq_codel --duration 3s --out out >/dev/null
grep -q '<title>' "$place/out/report.html"
if run compare wird 2>"$place/refused"; then echo "a refusal has status 0"; exit 1; fi
grep -q 'did you mean wired' "$place/refused"
echo "the image works"
