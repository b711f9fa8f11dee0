"""Short TCP transfers behind a bulk transfer, in the kernel: `run` sets up the path and both ends.

Times are of CLOCK_MONOTONIC, which all namespaces share, in seconds since the bulk transfer's connect(). A transfer's
response time runs from its connect(), which sends the SYN, to the return of the recv() with its last byte. With
``time-travel=inf-cpu`` processes take no time, so that is when the segment arrived.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import path

PORT = 5201
BULK = 0xFFFFFFFF
UDP_BYTES, UDP_HEADERS_BYTES = 1000, 42
UDP_START_S = 0.5  # neighbours are known by then: else packets that wait for ARP come to netem at once and stay there
LEAD_S = 1.0  # both ends are up by then
FIELDS = {
    "rto": 8,
    "unacked": 24,
    "sacked": 28,
    "lost": 32,
    "retrans": 36,
    "rtt": 68,
    "ssthresh": 76,
    "cwnd": 80,
    "total_retrans": 100,
}
"""Offsets of unsigned 32-bit fields in struct tcp_info (linux/tcp.h)."""


def info(connection: socket.socket) -> dict[str, int]:
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return {name: struct.unpack_from("I", raw, offset)[0] for name, offset in FIELDS.items()}


def wait_until(instant: float) -> None:
    pause = instant - time.monotonic()
    if pause > 0:
        time.sleep(pause)


def open_connection(settings: dict) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, settings["congestion"].encode())
    connection.connect((path.SERVER, PORT))
    return connection


def serve(settings: dict) -> None:
    """The receiving end: prints when each transfer had come, and the bulk bytes received by each sampling instant."""
    finish, progress, received, udp = {}, [], [0], [0]

    def receive(connection: socket.socket) -> None:
        number = struct.unpack("!I", connection.recv(4, socket.MSG_WAITALL))[0]
        count = 4
        while data := connection.recv(1 << 20):
            count += len(data)
            if number == BULK:
                received[0] = count
            elif count == settings["size_bytes"]:
                finish[number] = time.monotonic() - settings["zero"]
        connection.close()

    def accept() -> None:
        listener = socket.socket()
        listener.bind(("", PORT))
        listener.listen(1024)
        while True:
            threading.Thread(target=receive, args=(listener.accept()[0],), daemon=True).start()

    def receive_udp() -> None:
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.bind(("", PORT))
        while True:
            udp[0] += len(receiver.recv(1 << 16))

    threading.Thread(target=accept, daemon=True).start()
    threading.Thread(target=receive_udp, daemon=True).start()
    for instant in settings["starts_s"] + [settings["duration_s"]]:
        wait_until(settings["zero"] + instant)
        progress.append((instant, received[0]))
    print(json.dumps({"finish": finish, "progress": progress, "udp_bytes": udp[0]}), flush=True)
    os._exit(0)


def send(settings: dict) -> None:
    """The sending end: prints when each transfer began, its retransmissions, the bulk connection's state over time."""
    begun, ended, states = {}, {}, []
    bulk = []

    def send_bulk() -> None:
        connection = open_connection({**settings, "congestion": settings["bulk_congestion"]})
        bulk.append(connection)
        connection.sendall(struct.pack("!I", BULK))
        while True:
            connection.sendall(bytes(1 << 16))

    def send_short(number: int, at: float) -> None:
        wait_until(settings["zero"] + at)
        begun[number] = time.monotonic() - settings["zero"]
        connection = open_connection(settings)
        connection.sendall(struct.pack("!I", number) + bytes(settings["size_bytes"] - 4))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
        ended[number] = info(connection)
        connection.close()

    def send_udp() -> None:
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        packet, sent = bytes(UDP_BYTES), 0
        packet_s = (UDP_BYTES + UDP_HEADERS_BYTES) * 8 / settings["udp_bps"]
        while True:
            wait_until(settings["zero"] + UDP_START_S + sent * packet_s)
            sender.sendto(packet, (path.SERVER, PORT))
            sent += 1

    wait_until(settings["zero"])
    threading.Thread(target=send_bulk, daemon=True).start()
    if "udp_bps" in settings:
        threading.Thread(target=send_udp, daemon=True).start()
    for number, at in enumerate(settings["starts_s"]):
        threading.Thread(target=send_short, args=(number, at), daemon=True).start()
    for step in range(round(settings["duration_s"] / settings["look_s"])):
        wait_until(settings["zero"] + (step + 1) * settings["look_s"])
        if bulk:
            states.append({"time_s": (step + 1) * settings["look_s"], **info(bulk[0])})
    wait_until(settings["zero"] + settings["duration_s"])
    print(json.dumps({"begun": begun, "ended": ended, "states": states}), flush=True)
    os._exit(0)


def run(settings: dict) -> dict:
    """One run.

    Parameters
    ----------
    settings : dict
        ``rate_bps``, ``delay_s`` (one way), ``leaf`` (as tc takes it), ``sysctl`` (of both hosts), ``cubic`` (module
        parameters, ``hystart`` for one), ``congestion`` and ``bulk_congestion`` (Linux's names), ``size_bytes``,
        ``starts_s`` (list), ``duration_s``, ``look_s`` (between two looks at the bulk connection), ``capture`` (write
        ``client.pcap`` and ``server.pcap``); where given, ``udp_bps``: of a flow of UDP at a constant rate from
        UDP_START_S on, with Ethernet's headers.

    Returns
    -------
    dict
        ``kernel``; ``transfers``: rows with ``start_s``, ``finish_s`` (null if unfinished), ``total_retrans``;
        ``progress``: pairs of instant and bulk bytes received; ``udp_bytes`` received; ``states``: rows of the bulk connection's tcp_info;
        ``leaf``: counters of the discipline.
    """
    path.set_up(settings["rate_bps"], settings["delay_s"], settings["leaf"], settings["sysctl"])
    for name, value in settings["cubic"].items():
        Path(f"/sys/module/tcp_cubic/parameters/{name}").write_text(str(value))
    captures = []
    if settings["capture"]:
        for name, device in (("client", "to_router"), ("server", "to_far")):
            command = f"ip netns exec {name} tcpdump -Z root -n -s 128 -U -i {device} -w /run/out/{name}.pcap tcp"
            captures.append(subprocess.Popen(command.split()))
        time.sleep(1)
    settings = {**settings, "zero": time.monotonic() + LEAD_S}
    argument = json.dumps(settings)
    ends = [
        path.inside(name, [sys.executable, __file__, role, argument])
        for name, role in (("server", "serve"), ("client", "send"))
    ]
    server, client = (json.loads(end.communicate()[0]) for end in ends)
    for capture in captures:
        capture.terminate()
        capture.wait()
    transfers = [
        {
            "start_s": client["begun"][number],
            "finish_s": server["finish"].get(number),
            "total_retrans": client["ended"].get(number, {}).get("total_retrans"),
        }
        for number in sorted(client["begun"], key=int)
    ]
    return {
        "kernel": os.uname().release,
        "transfers": transfers,
        "progress": server["progress"],
        "udp_bytes": server["udp_bytes"],
        "states": client["states"],
        "leaf": path.statistics(),
    }


if __name__ == "__main__":
    {"serve": serve, "send": send}[sys.argv[1]](json.loads(sys.argv[2]))
