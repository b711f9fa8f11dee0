"""Network namespaces, and links between them: what a network in the guest is made of; offloads are off."""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from functools import cache

CLONE_NEWNET = 0x40000000  # setns(2), unshare(2)
MS_BIND = 4096  # mount(2)
SIOCETHTOOL = 0x8946
OFFLOADS = (0x1F, 0x24, 0x2C)
"""ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO (linux/ethtool.h)."""

libc = ctypes.CDLL(None, use_errno=True)


def shell(command: str, lines: list[str] | None = None) -> str:
    text = None if lines is None else "\n".join(lines) + "\n"
    done = subprocess.run(command.split(), input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def enter(namespace: str) -> None:
    """Sockets and /proc/sys of this process are those of `namespace` from now on."""
    if libc.setns(handle_of(namespace), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns {namespace}")


@cache
def handle_of(namespace: str) -> int:
    """An open file for it: flows enter their hosts again and again."""
    return os.open(f"/run/netns/{namespace}", os.O_RDONLY | os.O_CLOEXEC)


def add_namespace(name: str) -> None:
    """As ``ip netns add`` does; a process for each of hundreds would be most of the set-up. Leaves us in it."""
    path = f"/run/netns/{name}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o444))
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"unshare for {name}")
    if libc.mount(b"/proc/self/ns/net", path.encode(), None, MS_BIND, None):
        raise OSError(ctypes.get_errno(), f"mount on {path}")


def switch_offloads_off(namespace: str, device: str) -> None:
    """As ``ethtool -K DEVICE tso off gso off gro off`` does: a packet is one of the wire."""
    enter(namespace)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("=II", command, 0), 8)
            fcntl.ioctl(control, SIOCETHTOOL, struct.pack("16sP", device.encode(), ctypes.addressof(value)))


class Wiring:
    """Links between namespaces, numbered: their Ethernet addresses and permanent neighbours."""

    def __init__(self, mtu: int):
        self.mtu = mtu
        self.count = 0
        self.links: list[str] = []
        self.devices: list[tuple[str, str]] = []
        self.commands: dict[str, list[str]] = {}

    def join(self, left: tuple[str, str, str], right: tuple[str, str, str]) -> None:
        """Links two ends, each a namespace, its device there and its address."""
        self.count += 1
        number = f"{self.count >> 8:02x}:{self.count & 255:02x}"
        ends = [(*end, f"02:00:00:{number}:0{k}") for k, end in enumerate((left, right))]
        (one, device, _, mac), (two, peer, _, peer_mac) = ends
        far = f"peer name {peer} address {peer_mac} netns {two}"
        self.links.append(f"link add {device} netns {one} address {mac} type veth {far}")
        self.devices += [(one, device), (two, peer)]
        for (name, device, address, _), (_, _, other, other_mac) in (ends, ends[::-1]):
            self.commands.setdefault(name, []).extend(
                (
                    f"addr add {address}/24 dev {device}",
                    f"link set {device} mtu {self.mtu} up",
                    f"neigh add {other} lladdr {other_mac} dev {device} nud permanent",
                )
            )

    def route(self, name: str, route: str) -> None:
        self.commands[name].append(f"route add {route}")

    def finish(self) -> None:
        shell("ip -batch -", self.links)
        for name, device in self.devices:
            switch_offloads_off(name, device)
        for name, lines in self.commands.items():
            shell(f"ip -n {name} -batch -", lines)
