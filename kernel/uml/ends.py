"""Ends of traffic in namespaces: a bulk transfer, and datagrams that come back at once. Each is a process of this file.

A process says that it is up and waits to be told until when it runs: where programs start slowly, all begin together.
"""

import json
import socket
import subprocess
import sys
import time

PORT = 5201
PROBES_PER_S = 5


def inside(namespace: str, role: str, *arguments: object) -> subprocess.Popen:
    """Starts a role of this file in a namespace; `go` lets it begin."""
    command = ["ip", "netns", "exec", namespace, sys.executable, __file__, role, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def go(ends: list[subprocess.Popen], duration_s: float) -> float:
    """Waits until all ends are up, lets them begin, and returns when they stop, on CLOCK_MONOTONIC."""
    for end in ends:
        end.stdout.readline()
    until_s = time.monotonic() + duration_s
    for end in ends:
        end.stdin.write(f"{until_s}\n")
        end.stdin.flush()
    return until_s


def told(end: subprocess.Popen) -> dict:
    """What an end has to say when it is done; nothing of those that only send."""
    return json.loads(end.communicate(timeout=120)[0] or "{}")


def wait_for_go() -> float:
    print(flush=True)
    return float(sys.stdin.readline())


def sink() -> None:
    """Prints bytes and seconds of a connection, from its first byte on, as JSON."""
    server, received, began_s, last_s = socket.create_server(("", PORT)), 0, 0.0, 0.0
    until_s = wait_for_go()
    try:
        server.settimeout(until_s - time.monotonic())
        connection, _ = server.accept()
        while (left_s := until_s - time.monotonic()) > 0:
            connection.settimeout(left_s)
            got = len(connection.recv(1 << 18))
            if not got:
                break
            last_s = time.monotonic()
            began_s = began_s or last_s
            received += got
    except TimeoutError:
        pass
    print(json.dumps({"bytes": received, "seconds": last_s - began_s}))


def source(host: str) -> None:
    """Sends as fast as it can."""
    until_s = wait_for_go()
    try:
        connection = socket.create_connection((host, PORT), timeout=until_s - time.monotonic())
        while (left_s := until_s - time.monotonic()) > 0:
            connection.settimeout(left_s)
            connection.send(bytes(1 << 16))
    except OSError:
        pass


def echo() -> None:
    """Returns every datagram."""
    ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ear.bind(("", PORT))
    until_s = wait_for_go()
    try:
        while (left_s := until_s - time.monotonic()) > 0:
            ear.settimeout(left_s)
            ear.sendto(*ear.recvfrom(2048))
    except TimeoutError:
        pass


def probe(host: str) -> None:
    """Prints how many datagrams it sent and the round trips, ms, of those that came back within a second, as JSON."""
    mouth, times_ms, number = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), [], 0
    until_s = wait_for_go()
    while time.monotonic() < until_s - 1.0:
        number += 1
        began = time.monotonic()
        mouth.sendto(b"%64d" % number, (host, PORT))
        try:
            while (left_s := began + 1.0 - time.monotonic()) > 0:
                mouth.settimeout(left_s)
                if int(mouth.recv(2048)) == number:
                    times_ms.append((time.monotonic() - began) * 1e3)
                    break
        except TimeoutError:
            pass
        time.sleep(max(began + 1 / PROBES_PER_S - time.monotonic(), 0))
    print(json.dumps({"sent": number, "times_ms": times_ms}))


if __name__ == "__main__":
    roles = {"sink": sink, "source": source, "echo": echo, "probe": probe}
    roles[sys.argv[1]](*sys.argv[2:])
