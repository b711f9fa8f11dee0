#!/bin/sh
# iproute2 6.1.0 of Debian 12: "tc -j class show" prints text, where "tc -j qdisc show" prints JSON; it ends with 0.
#
# A program that asks tc for JSON reads queue disciplines with a parser of JSON and fails at the classes below htb, tbf or hfsc
# on the same machine, or takes an interface with classes for one without, where it lets an empty answer pass. The rate of a
# class of htb, which is that of a shaper, is only to be had from the text.
#
# Needs Debian or Ubuntu with apt-get, dpkg-deb and python3, a kernel with sch_tbf, and a user who may have a network namespace
# of his own. Exits with 0 while tc behaves so.
set -eu
version=6.1.0-3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download "iproute2=$version" 2>download.log >&2 || { cat download.log >&2; exit 2; }
dpkg-deb -x iproute2_*.deb root
export tc="$folder/root/sbin/tc"
unshare --user --map-root-user --net sh -c '
    "$tc" qdisc add dev lo root tbf rate 1mbit burst 10k latency 50ms
    "$tc" -j qdisc show dev lo >qdiscs
    "$tc" -j class show dev lo >classes
' || { echo "no network namespace with tbf here" >&2; exit 2; }
cat >compare.py <<'PYTHON'
import json
from pathlib import Path

qdiscs, classes = Path("qdiscs").read_text(), Path("classes").read_text()
print("qdisc show:", qdiscs.strip())
print("class show:", classes.strip())
assert json.loads(qdiscs)[0]["kind"] == "tbf", "behaviour changed: queue disciplines are no JSON"
assert classes.startswith("class tbf "), "behaviour changed: classes are no text"
PYTHON
echo "package: iproute2 $version: $("$tc" -V)"
python3 compare.py
echo "behaviour: -j has no effect on class show"
