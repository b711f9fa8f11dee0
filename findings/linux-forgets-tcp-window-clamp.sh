#!/bin/sh
# Linux 6.18 and 7.3: a bound that setsockopt(TCP_WINDOW_CLAMP) set is gone after the first full segments.
#
# tcp(7): "Bound the size of the advertised window to this value." The receive path measures how much of a buffer's
# memory is payload, and sets the clamp anew from the receive buffer when that changes (tcp_measure_rcv_mss in
# net/ipv4/tcp_input.c), whatever the program asked for. Linux 6.1 keeps the bound. A program that limits a peer so, as
# a proxy or a test bench does, has to set the option again after its first read.
#
# Needs Linux 6.12 or later on this machine, and python3; no root, no network. Exits with 0 while the kernel behaves so.
set -eu
release=$(uname -r)
echo "package: Linux kernel $release, python3 $(python3 -c 'import platform; print(platform.python_version())')"
case $release in
[1-5].* | 6.[0-9].* | 6.1[01].*) echo "needs Linux 6.12 or later" >&2; exit 2 ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >clamp.py <<'PYTHON'
import socket

ASKED, BUFFER, BLOCK, BLOCKS = 30_000, 200_000, 20_000, 30


def clamp(end):
    return end.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP)


listener = socket.socket()
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1448)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, ASKED)
listener.bind(("127.0.0.1", 0))
listener.listen()
sender = socket.socket()
sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1448)
sender.connect(listener.getsockname())
receiver, _ = listener.accept()
before = clamp(receiver)
for _ in range(BLOCKS):
    sender.sendall(bytes(BLOCK))
    left = BLOCK
    while left:
        left -= len(receiver.recv(left))
after = clamp(receiver)
print(f"asked for {ASKED}; getsockopt before data: {before}; after {BLOCK * BLOCKS} bytes: {after}")
assert before == ASKED, "behaviour changed: the bound is not that which was asked for"
assert after > 2 * ASKED, "behaviour changed: the bound holds"
PYTHON
python3 clamp.py
echo "behaviour: the bound on the advertised window is replaced by one made from the receive buffer"
