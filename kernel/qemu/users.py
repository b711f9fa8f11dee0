"""Users of several TCP connections each, from an address of their own, and where all of them end."""

import json
import selectors
import socket
import sys
import time


def sink(port: int, until_s: float) -> None:
    """Prints the bytes that came from each address until then, as JSON."""
    ready, came = selectors.DefaultSelector(), {}
    server = socket.create_server(("", port), backlog=64)
    ready.register(server, selectors.EVENT_READ)
    while (left_s := until_s - time.monotonic()) > 0:
        for key, _ in ready.select(left_s):
            if key.fileobj is server:
                connection, (host, _) = server.accept()
                ready.register(connection, selectors.EVENT_READ, host)
                continue
            got = len(key.fileobj.recv(1 << 16))
            came[key.data] = came.get(key.data, 0) + got
            if not got:
                ready.unregister(key.fileobj)
    print(json.dumps(came))


def send(host: str, port: int, source: str, flows: int, until_s: float) -> None:
    """Sends over all connections as fast as they take it."""
    ready = selectors.DefaultSelector()
    for _ in range(flows):
        connection = socket.create_connection((host, port), timeout=20, source_address=(source, 0))
        connection.setblocking(False)
        ready.register(connection, selectors.EVENT_WRITE)
    while (left_s := until_s - time.monotonic()) > 0:
        for key, _ in ready.select(left_s):
            try:
                key.fileobj.send(bytes(1 << 14))
            except OSError:
                return


if __name__ == "__main__":
    if sys.argv[1] == "sink":
        sink(int(sys.argv[2]), float(sys.argv[3]))
    else:
        send(sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5]), float(sys.argv[6]))
