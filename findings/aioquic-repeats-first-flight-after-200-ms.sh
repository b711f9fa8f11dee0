#!/bin/sh
# aioquic 1.7.2 repeats the first flight of a handshake after 200 ms by default, where RFC 9002 recommends 999 ms.
#
# RFC 9002, 6.2.2 takes a round trip of 333 ms before one is known, so that the first probe timeout is 999 ms. aioquic takes
# 100 ms (QuicConfiguration.initial_rtt), and twice that. On a path whose round trip is 600 ms (a satellite, a full buffer) a
# client sends its Initial datagram of 1200 bytes twice before an answer can arrive; with the recommended values once. A
# measurement of handshakes over such a path with aioquic counts these repetitions as losses.
#
# Needs python3 with venv, and PyPI; no root, no network traffic of its own. Exits with 0 while aioquic behaves so.
set -eu
version=1.7.2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check "aioquic==$version"
cat >first.py <<'PYTHON'
from importlib.metadata import version

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection

ROUND_TRIP_S = 0.6

client = QuicConnection(configuration=QuicConfiguration(is_client=True))
client.connect(("192.0.2.1", 4433), now=0.0)
sent = [(0.0, len(data)) for data, _ in client.datagrams_to_send(now=0.0)]
first_s = client.get_timer()
# No answer arrives within the round trip of the path: the client's own timer alone acts.
while (timer_s := client.get_timer()) is not None and timer_s < ROUND_TRIP_S:
    client.handle_timer(now=timer_s)
    sent += [(timer_s, len(data)) for data, _ in client.datagrams_to_send(now=timer_s)]
print("aioquic", version("aioquic"))
print(f"first timeout: {1e3 * first_s:.0f} ms (RFC 9002, 6.2.2: 999 ms)")
for time_s, size in sent:
    print(f"{1e3 * time_s:6.0f} ms: datagram of {size} bytes")
times = sorted({round(time_s, 3) for time_s, _ in sent})
print(f"flights before an answer of a path of {1e3 * ROUND_TRIP_S:.0f} ms: {len(times)}")
assert round(first_s, 3) == 0.2, first_s
assert len(times) >= 2, times
PYTHON
venv/bin/python first.py
