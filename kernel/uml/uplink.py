"""The guest as an office's router: commands of a page run as they stand there, in its root namespace.

    office ── lan0 │ this namespace │ eth0 ── modem ══ its rate, its delay ── internet

The modem holds `modem_pkts` packets, first in, first out. What `mayfly qdisc` needs of a machine is here: the headers
of the running kernel, folders for modules and for plug-ins of tc that may be written.
"""

import ctypes
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

SERVER = "192.0.2.1"
PORT = 5201
LIB = Path("/usr/lib")
PLUGINS = LIB / "x86_64-linux-gnu" / "tc"
MS_BIND, MS_REC = 4096, 16384  # mount(2)
SETTLE_S = 3.0
"""A new upload has filled the modem's queue by then."""

libc = ctypes.CDLL(None, use_errno=True)


def mount(source: Path | str, target: Path, kind: str = "", flags: int = MS_BIND) -> None:
    if libc.mount(str(source).encode(), str(target).encode(), kind.encode(), flags, b""):
        raise OSError(ctypes.get_errno(), f"mount {source} on {target}")


def lend_folders(build: str) -> None:
    """Makes /lib/modules, which the host may lack, and the folder of plug-ins of tc writable."""
    real, lent = Path("/run/real"), Path("/run/lent")
    for folder in (real, lent):
        folder.mkdir()
    mount(LIB, real)
    for entry in real.iterdir():
        if entry.name == "modules":
            continue
        if entry.is_dir() and not entry.is_symlink():
            (lent / entry.name).mkdir()
            mount(entry, lent / entry.name)
        else:
            (lent / entry.name).symlink_to(os.readlink(entry) if entry.is_symlink() else entry)
    headers = lent / "modules" / os.uname().release / "build"
    headers.parent.mkdir(parents=True)
    headers.symlink_to(build)
    if (real / PLUGINS.relative_to(LIB)).is_dir():
        mount("none", lent / PLUGINS.relative_to(LIB), "tmpfs", 0)
    mount(lent, LIB, flags=MS_BIND | MS_REC)


def shell(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def set_up(settings: dict) -> None:
    shell("ip link set lo up")
    for name in ("office", "modem", "internet"):
        shell(f"ip netns add {name}")
    links = (
        ("", "lan0", "10.10.0.1", "office", "eth0", "10.10.0.10"),
        ("", "eth0", "10.0.1.1", "modem", "lan", "10.0.1.2"),
        ("modem", "wan", "192.0.2.2", "internet", "eth0", SERVER),
    )
    for one, device, address, other, peer, far in links:
        where = f"netns {one}" if one else ""
        shell(f"ip link add {device} {where} type veth peer name {peer} netns {other}")
        for name, end, own in ((one, device, address), (other, peer, far)):
            at = f"-n {name}" if name else ""
            shell(f"ip {at} addr add {own}/24 dev {end}")
            shell(f"ip {at} link set {end} up")
            inside = f"ip netns exec {name} " if name else ""
            shell(f"{inside}ethtool -K {end} tso off gso off gro off")
    shell("ip route add default via 10.0.1.2")
    shell("ip -n office route add default via 10.10.0.1")
    shell("ip -n modem route add 10.10.0.0/24 via 10.0.1.1")
    shell("ip -n internet route add default via 192.0.2.2")
    for inside in ("", "ip netns exec modem "):
        shell(f"{inside}sysctl -qw net.ipv4.ip_forward=1")
    delay = f"delay {settings['delay_ms']}ms"
    line = f"{delay} rate {settings['rate_bps']}bit limit {settings['modem_pkts']}"
    shell(f"tc -n modem qdisc add dev wan root netem {line}")
    shell(f"tc -n modem qdisc add dev lan root netem {delay} limit 100000")


def sink() -> None:
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", PORT))  # nothing answers that the port is closed
    listener = socket.socket()
    listener.bind(("", PORT))
    listener.listen(16)

    def drain(connection: socket.socket) -> None:
        while connection.recv(1 << 20):
            pass

    while True:
        threading.Thread(target=drain, args=(listener.accept()[0],), daemon=True).start()


def upload() -> None:
    connection = socket.create_connection((SERVER, PORT))
    while True:
        connection.sendall(bytes(1 << 16))


def call(rate_bps: str) -> None:
    """UDP at a constant rate, in full packets."""
    out, data = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), bytes(1472)
    begin, gap_s = time.monotonic(), 1514 * 8 / float(rate_bps)
    for number in range(1 << 30):
        time.sleep(max(0.0, begin + number * gap_s - time.monotonic()))
        out.sendto(data, (SERVER, PORT))


def there(namespace: str, *role: str) -> subprocess.Popen:
    return subprocess.Popen(["ip", "netns", "exec", namespace, sys.executable, __file__, *role])


def traffic(settings: dict) -> list[subprocess.Popen]:
    calls = [there("office", "call", str(settings["udp_bps"]))] if settings["udp_bps"] else []
    return calls + [there("office", "upload") for _ in range(settings["uploads"])]


def run(settings: dict) -> list[dict]:
    """Runs commands in order.

    Parameters
    ----------
    settings : dict
        ``commands``: pairs of a line for the shell, and whether there is traffic meanwhile; ``programs``: folder of
        ``mayfly``; ``build``: what modules for this kernel are built with; ``rate_bps``, ``modem_pkts`` and
        ``delay_ms`` (of one direction): of the modem; ``uploads`` and ``udp_bps``: the traffic.

    Returns
    -------
    list of dict
        For each ``command``, ``status``, ``out`` and ``err``.
    """
    lend_folders(settings["build"])
    set_up(settings)
    work = Path("/run/work")
    work.mkdir()
    # sudo needs a host's users; here everybody is root. Headers of User Mode Linux are told so.
    sudo = Path("/run/bin/sudo")
    sudo.parent.mkdir()
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)
    path = f"{sudo.parent}:{settings['programs']}:{os.environ['PATH']}"
    machine = os.environ | {"PATH": path, "ARCH": "um", "HOME": str(work), "TMPDIR": str(work), "COLUMNS": "80"}
    server, told = there("internet", "sink"), []
    time.sleep(1)
    for command, loaded in settings["commands"]:
        sources = traffic(settings) if loaded else []
        time.sleep(SETTLE_S)
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=work, env=machine)
        for process in sources:
            process.kill()
            process.wait()
        told.append({"command": command, "status": done.returncode, "out": done.stdout, "err": done.stderr})
    server.kill()
    return told


if __name__ == "__main__":
    {"sink": sink, "upload": upload, "call": call}[sys.argv[1]](*sys.argv[2:])
