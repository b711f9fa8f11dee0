"""A run as a packet capture: where it goes, and the addresses of its flows."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.text.files import complete

SIDES = ("server", "client")
"""Whose interfaces are recorded: of the hosts that send what goes ``down``, or of those that receive it."""

FIRST_HOST = int(ipaddress.IPv4Address("10.0.0.1"))
"""Address of the first host that has no IPv4 address for a name; the others follow."""

MOST_HOSTS = 2**24 - 2
"""Hosts of 10.0.0.0/8."""

FIRST_PORT = 1024
PORTS = 2**16 - FIRST_PORT
"""Ports of the ends that open: one per flow, then again with the next port of the other end."""

SERVICE_PORT = 80


@dataclass(frozen=True)
class Recording:
    """A capture of a run.

    Parameters
    ----------
    path : path
        File to write: pcap with nanoseconds, packets cut behind their headers.
    side : str
        One of `SIDES`.

    Raises
    ------
    MayflyError
        Another side.

    Examples
    --------
    >>> Recording("a.pcap", "middle")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: pcap side = 'middle': must be server or client
    """

    path: str | os.PathLike[str]
    side: str = "server"

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise MayflyError(f"pcap side = {self.side!r}: must be {' or '.join(SIDES)}")

    @contextmanager
    def native(self, flows: pl.DataFrame, probes: int = 0) -> Iterator[dict[str, Any]]:
        """What the native module takes; the file appears under its name when the block ends well.

        Parameters
        ----------
        flows : polars.DataFrame, shape (n_flows, ...)
            The flow list that is run.
        probes : int
            Rows at its head that are no part of the workload: their addresses and ports follow those of the others.

        Yields
        ------
        dict

        Raises
        ------
        MayflyError
            The place cannot be written, or there are too many hosts.
        """
        path = Path(self.path)
        try:
            with complete(path) as partial:
                # A mistake in the path is told before the run, not after it.
                partial.touch()
                yield {
                    "path": str(partial),
                    "side": self.side,
                    **_rolled(ends(pl.concat([flows[probes:], flows[:probes]])), probes),
                }
        except OSError as error:
            raise MayflyError(f"{path}: cannot be written: {error.strerror or error}") from None


def _rolled(found: dict[str, tuple[Floats, Floats]], rows: int) -> dict[str, tuple[Floats, Floats]]:
    """The last ``rows`` first."""
    return {name: (np.roll(one, rows), np.roll(other, rows)) for name, (one, other) in found.items()}


def ends(flows: pl.DataFrame) -> dict[str, tuple[Floats, Floats]]:
    """Addresses and ports of sender and receiver of each flow.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.

    Returns
    -------
    dict
        ``addresses`` and ``ports``, each a pair of ndarray of shape (n_flows,): an end that is named by an IPv4 address
        has it, the others those from 10.0.0.1 on by first appearance. Addresses and ports of two flows differ.

    Raises
    ------
    MayflyError
        More than 2^24 - 2 hosts without an address.

    Examples
    --------
    >>> flows = pl.DataFrame({"src": ["10.1.2.3", "b"], "dst": ["a", "10.0.0.1"], "opened_by": ["sender", "receiver"]})
    >>> [str(ipaddress.IPv4Address(int(one))) for pair in ends(flows)["addresses"] for one in pair]
    ['10.1.2.3', '10.0.0.2', '10.0.0.3', '10.0.0.1']
    >>> [pair.tolist() for pair in ends(flows)["ports"]]
    [[1024, 80], [80, 1025]]
    """
    names = pl.concat([flows["src"].cast(pl.String), flows["dst"].cast(pl.String)]).unique(maintain_order=True)
    known = {name: int(ipaddress.IPv4Address(name)) for name in names if is_ipv4(name)}
    if len(names) - len(known) > MOST_HOSTS:
        raise MayflyError(f"hosts = {len(names)}: a capture has room for {MOST_HOSTS}")
    taken, address = set(known.values()), FIRST_HOST
    for name in names:
        if name not in known:
            while address in taken:
                address += 1
            known[name] = address
            address += 1
    row = np.arange(flows.height)
    opener, other = (FIRST_PORT + row % PORTS).astype(np.uint16), (SERVICE_PORT + row // PORTS).astype(np.uint16)
    sender_opens = (flows["opened_by"] == "sender").to_numpy()
    senders, receivers = (
        flows[end].cast(pl.String).replace_strict(known, return_dtype=pl.UInt32).to_numpy() for end in ("src", "dst")
    )
    return {
        "addresses": (senders, receivers),
        "ports": (np.where(sender_opens, opener, other), np.where(sender_opens, other, opener)),
    }


def is_ipv4(name: str) -> bool:
    """Whether a name is an IPv4 address."""
    try:
        ipaddress.IPv4Address(name)
    except ValueError:
        return False
    return True
