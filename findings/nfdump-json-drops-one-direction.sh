#!/bin/sh
# nfdump 1.7.1 of Debian 12: "-b -o json" leaves one direction of every connection out, and says nothing of it.
#
# Two NetFlow v5 records of one TCP connection (17 packets, 1,073 bytes one way; 20 packets, 21,164 bytes back) are sent to
# nfcapd on the loopback interface. "-b" puts them into one record. As CSV that record has both directions, as JSON only the
# first one: no field holds the other, and none says that two records were put together. Who sums up in_bytes loses 95 % here.
#
# Needs Debian or Ubuntu with apt-get, dpkg-deb and python3; no root. Exits with 0 while nfdump behaves so.
set -eu
version=1.7.1-2+deb12u1
folder=$(mktemp -d)
collector=
trap 'if [ -n "$collector" ]; then kill "$collector" 2>/dev/null || true; fi; rm -rf "$folder"' EXIT
cd "$folder"
# apt's own user may not write here, which apt-get would tell at length.
apt-get download "nfdump=$version" 2>download.log >&2 || { cat download.log >&2; exit 2; }
dpkg-deb -x nfdump_*.deb root
bin=$folder/root/usr/bin
mkdir flows
port=$(python3 -c 'import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$bin/nfcapd" -w "$folder/flows" -b 127.0.0.1 -p "$port" >collector.log 2>&1 &
collector=$!
cat >send.py <<'PYTHON'
import socket, struct, sys, time

NEAR, FAR = bytes([10, 0, 0, 1]), bytes([198, 51, 100, 20])


def record(source, destination, packets, size, ports):
    """A record of NetFlow version 5: 240 ms of TCP."""
    return struct.pack("!4s4s4sHHIIIIHHBBBBHHBBH", source, destination, bytes(4), 0, 0, packets, size, 1000, 1240, *ports,
                       0, 0x1B, 6, 0, 0, 0, 0, 0, 0)


header = struct.pack("!HHIIIIBBH", 5, 2, 60_000, int(time.time()), 0, 0, 0, 0, 0)
there, back = record(NEAR, FAR, 17, 1073, (60352, 80)), record(FAR, NEAR, 20, 21164, (80, 60352))
with socket.socket(type=socket.SOCK_DGRAM) as sender:
    sender.sendto(header + there + back, ("127.0.0.1", int(sys.argv[1])))
PYTHON
sleep 2
python3 send.py "$port"
sleep 2
kill "$collector"
wait "$collector" || true
collector=
file=$(find flows -name 'nfcapd.2*' | head -n 1)
"$bin/nfdump" -r "$file" -b -o csv >both.csv
"$bin/nfdump" -r "$file" -b -o json >both.json
cat >compare.py <<'PYTHON'
import csv, json

with open("both.csv") as file:
    (row,) = [one for one in csv.DictReader(file) if one["pr"] == "TCP"]
found = {name: int(row[name]) for name in ("ipkt", "ibyt", "opkt", "obyt")}
with open("both.json") as file:
    (document,) = json.load(file)
print("CSV: ", found)
print("JSON:", json.dumps(document))
assert found == {"ipkt": 17, "ibyt": 1073, "opkt": 20, "obyt": 21164}, found
assert (document["in_packets"], document["in_bytes"]) == (17, 1073), document
other = [name for name, value in document.items() if value in (20, 21164) or name.startswith(("out_", "aggr"))]
assert not other, other
PYTHON
echo "package: nfdump (Debian), version $version"
echo "behaviour: nfdump -b -o json leaves the packets and bytes of one direction out; -b -o csv of the same file has both"
python3 compare.py
