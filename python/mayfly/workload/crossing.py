"""Which hosts are on the near side of the link of a capture, and how much crosses it, from columns of connections."""

from __future__ import annotations

import numpy as np

from mayfly.arrays import Booleans
from mayfly.workload.columns import Columns, hosts_of_ends, sums_at
from mayfly.workload.doubts import LEAST_CROSSING


def opener_is_near(table: Columns, near: frozenset[str]) -> Booleans:
    """Whether the opener of each connection is on the near side of the link, shape (n_connections,).

    Every connection of a capture is taken to pass the link. Between two hosts of one side, the opener is near.
    """
    opener, responder = (table.words(end).among(near) for end in ("opener", "responder"))
    found: Booleans = np.where(opener != responder, opener, True)
    return found


def crossing_share(table: Columns, inside: frozenset[str], nobody: frozenset[str]) -> float:
    """Share of the bytes of IP packets that pass between ``inside`` and other hosts; of connections, without bytes.

    Multicast, broadcast and unspecified addresses, ``nobody``, are no other hosts.
    """
    opener, responder = table.words("opener"), table.words("responder")
    crosses = (opener.among(inside) != responder.among(inside)) & ~opener.among(nobody) & ~responder.among(nobody)
    weight = table["opener_wire_bytes"] + table["responder_wire_bytes"]
    if not weight.sum():
        weight = np.ones(table.height, dtype=np.int64)
    whole = int(weight.sum())
    return int(weight[crosses].sum()) / whole if whole else 0.0


def openers(table: Columns, nobody: frozenset[str]) -> frozenset[str]:
    """Hosts that opened more connections than they accepted."""
    hosts, opener, responder = hosts_of_ends(table)
    balance = sums_at(opener, 1, len(hosts)) - sums_at(responder, 1, len(hosts))
    return frozenset(hosts[place] for place in np.flatnonzero(balance > 0).tolist()) - nobody


def near_side_of(
    table: Columns, inside: frozenset[str], how: str, nobody: frozenset[str]
) -> tuple[frozenset[str], str, float]:
    """Hosts on the near side of the link, how they were found, and the share of the bytes that crosses.

    Parameters
    ----------
    table : Columns
        Connections.
    inside : frozenset of str
        Hosts of the site.
    how : str
        How the site was found (:func:`mayfly.workload.capture.site_of`).
    nobody : frozenset of str
        Addresses that are no host.

    Returns
    -------
    near : frozenset of str
    found_by : str
        ``site``, or ``openers`` where no site tells, or next to nothing crosses between it and others.
    crossing : float
    """
    crossing = crossing_share(table, inside, nobody)
    if how != "openers" and crossing >= LEAST_CROSSING:
        return inside, "site", crossing
    near = openers(table, nobody)
    return near, "openers", crossing_share(table, near, nobody)
