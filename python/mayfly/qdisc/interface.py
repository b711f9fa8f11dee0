"""What is at an interface now, of what a load may change: root, hook for what arrives, offloads, device beside it."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from mayfly.discipline_registry.commands import ROOT
from mayfly.discipline_registry.shapers import MAC_HEADER_BYTES
from mayfly.errors import MayflyError
from mayfly.qdisc import system
from mayfly.qdisc.journal import index_of
from mayfly.qdisc.kept import Kept, recorded, to_put_back
from mayfly.qdisc.show import Row, all_rows
from mayfly.qdisc.steps import output

PREFERENCE = 0x6D66
"""Of our filter, by which it is known."""

LONGEST_NAME = 15
_DIGEST_DIGITS = 5
HOOKS = ("clsact", "ingress")

OFFLOADS = (
    "tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation",
    "tx-udp-segmentation", "generic-segmentation-offload", "generic-receive-offload", "rx-gro-hw", "rx-gro-list",
    "large-receive-offload",
)  # fmt: skip
"""What makes packets longer than those of the wire, by their names for ethtool."""

TYPES = "/sys/class/net/{}/type"
"""Kinds of link layer, as ``ARPHRD_*`` of ``linux/if_arp.h`` number them."""

_ETHERNET = "1"

_ON = re.compile(r"^\s*([\w-]+): on$", re.MULTILINE)


def ifb_of(device: str) -> str:
    """Name of the device through which goes what arrives: as sqm-scripts has it.

    Where that is too long, a digest tells it from those of other interfaces that begin alike.

    Examples
    --------
    >>> ifb_of("eth0"), ifb_of("enp0s31f6.100"), ifb_of("enp0s31f6.101")
    ('ifb4eth0', 'ifb4enp0s333c3e', 'ifb4enp0s32b029')
    """
    name = f"ifb4{device}"
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(device.encode()).hexdigest()[:_DIGEST_DIGITS]
    return name[: LONGEST_NAME - _DIGEST_DIGITS] + digest


@dataclass(frozen=True)
class Root:
    """What is at the root of an interface.

    Parameters
    ----------
    name : str
        Kind and handle, for people; empty for the kernel's own.
    ours : bool
        From `mayfly qdisc load`.
    kept : Kept, optional
        How to put it back; None where it cannot be put back, for the kernel's own, and for ours.
    kind : str
    """

    name: str = ""
    ours: bool = False
    kept: Kept | None = None
    kind: str = ""

    @property
    def kernels_own(self) -> bool:
        """Comes by itself when what is there goes."""
        return not self.name


def queues(device: str) -> list[Row]:
    """Queue disciplines of what an interface sends, without its hooks."""
    return [row for row in all_rows(device) if row.kind not in HOOKS]


def root_of(device: str, try_it: bool = True) -> Root:
    """What is at the root of an interface.

    Parameters
    ----------
    device : str
    try_it : bool
        Find out whether it can be put back.

    Returns
    -------
    Root

    Raises
    ------
    MayflyError
        There is no such interface.
    """
    rows = queues(device)
    root = next((row for row in rows if row.parent == "root"), None)
    given = [row for row in rows if row.handle not in ("0:", "")]
    if root is None or not given:
        return Root(kind=root.kind if root else "")
    name = f"{root.kind} {root.handle}"
    if root.handle == ROOT:
        return Root(name, ours=True, kind=root.kind)
    kept = _kept(device, root) if try_it and given == [root] else None
    return Root(name, kept=kept, kind=root.kind)


def _kept(device: str, root: Row) -> Kept | None:
    """Its record, where the kernel would take it back; filters are not in it."""
    try:
        found = recorded(device)
    except OSError:
        return None
    if found is None or found.name != f"{root.kind} {root.handle}":
        return None
    if output([system.program("tc"), "filter", "show", "dev", device]).strip():
        return None
    return to_put_back(found)


def sending_queues(device: str) -> int:
    """Hardware queues of what an interface sends; 0 where the kernel names none.

    Examples
    --------
    >>> sending_queues("no such interface")
    0
    """
    return sum(1 for _ in Path("/sys/class/net", device, "queues").glob("tx-*"))


def mac_header_bytes(device: str) -> int:
    """What an interface has in front of its IP packets, of which Linux counts the length: 0 of ``ppp0`` or ``wg0``.

    An interface that is not there counts as one of Ethernet.

    Examples
    --------
    >>> mac_header_bytes("no such interface")
    14
    """
    try:
        return MAC_HEADER_BYTES if Path(TYPES.format(device)).read_text().strip() == _ETHERNET else 0
    except OSError:
        return MAC_HEADER_BYTES


def has_hook(device: str) -> bool:
    """Whether filters can look at what arrives."""
    return any(row.kind in HOOKS for row in all_rows(device))


def filters(device: str, way: str) -> tuple[bool, bool]:
    """Whether there are filters of ours, and of others, at the hook of an interface.

    Parameters
    ----------
    device : str
    way : str
        ``ingress`` or ``egress``.

    Returns
    -------
    tuple of bool
    """
    try:
        text = output([system.program("tc"), "-j", "filter", "show", "dev", device, way])
        rows = json.loads(text or "[]")
    except (MayflyError, json.JSONDecodeError):
        return False, False  # a hook of the kind ingress has no egress
    ours = [row.get("pref") == PREFERENCE and row.get("kind") == "matchall" for row in rows]
    return any(ours), not all(ours)


def arrives_through(device: str) -> str | None:
    """The device to which a filter redirects what arrives at an interface; None without one."""
    try:
        rows = json.loads(output([system.program("tc"), "-j", "filter", "show", "dev", device, "ingress"]) or "[]")
    except (MayflyError, json.JSONDecodeError):
        return None
    for row in rows:
        for action in row.get("options", {}).get("actions", ()):
            if action.get("kind") == "mirred" and action.get("mirred_action") == "redirect":
                return str(action["to_dev"])
    return None


def is_ifb(device: str) -> bool:
    """Whether there is such a device, and it is an ifb."""
    if index_of(device) is None:
        return False
    rows = json.loads(output([system.program("ip"), "-j", "-d", "link", "show", "dev", device]) or "[]")
    return any(row.get("linkinfo", {}).get("info_kind") == "ifb" for row in rows)


def offloads_on(device: str) -> tuple[str, ...]:
    """Of `OFFLOADS` those that are on and can be switched off."""
    text = output([system.program("ethtool"), "-k", device])
    on = set(_ON.findall(text))
    return tuple(name for name in OFFLOADS if name in on)
