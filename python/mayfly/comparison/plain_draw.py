"""The transfers of a plain scenario, drawn as arrays: those of :func:`mayfly.simulate.run.workload`, to the bit.

The law of their sizes was solved for when the package was made (:mod:`mayfly.comparison.checked`).
"""

from typing import TYPE_CHECKING, Any

from mayfly.arrays import Floats, Integers

if TYPE_CHECKING:
    from mayfly.scenario.scenario import Scenario

MOST = 1_000_000
"""Most transfers that are expected; of more a run may be one of a stream."""


def told_of(scenario: "Scenario") -> dict[str, Any] | None:
    """What a draw takes beside the scenario's document; None where something else than plain transfers is drawn.

    Parameters
    ----------
    scenario : Scenario
        With one link.

    Returns
    -------
    dict or None
        ``law`` and its ``fields``; ``senders`` and ``receivers``, first number and count.
    """
    from dataclasses import fields as fields_of

    from mayfly.laws import sizes
    from mayfly.simulate.network.registry import network_of
    from mayfly.workload.renewal import Poisson
    from mayfly.workload.sources.registry import SOURCES

    given = scenario.workload
    network = network_of(scenario)
    if not given.has_transfers or any(getattr(given, kind) for kind in SOURCES):
        return None
    transfers = given.drawn(network.ends(given.from_, given.to))
    beside = (
        transfers.up_share,
        transfers.users,
        transfers.group,
        transfers.transport,
        transfers.ends,
        transfers.parts,
    )
    law = transfers.law
    if any(beside) or not isinstance(transfers.arrivals, Poisson) or type(law).__module__ != sizes.__name__:
        return None
    hosts = [[int(host) for host in side] for side in network.workload_hosts(given)]
    if any(side != [*range(side[0], side[0] + len(side))] for side in hosts):
        return None
    senders, receivers = ([side[0], len(side)] for side in hosts)
    of_law: Any = law
    values = {field.name: getattr(law, field.name) for field in fields_of(of_law)}
    fields = {name: value if isinstance(value, int) else float(value) for name, value in values.items()}
    return {
        "law": type(law).__name__,
        "fields": fields,
        "senders": senders,
        "receivers": receivers,
    }


def draw(
    told: dict[str, Any], document: dict[str, Any], header_bytes: int
) -> tuple[Floats, Integers, Integers, Integers] | None:
    """Draws the transfers.

    Parameters
    ----------
    told : dict
        Of :func:`told_of`.
    document : dict
        The scenario.
    header_bytes : int
        Of a packet.

    Returns
    -------
    starts, src, dst, size_bytes : ndarray, shape (n_flows,)
        By start, s; numbers of hosts; bytes. None where there may be too many for a list.

    Raises
    ------
    MayflyError
        More than memory has room for.
    """
    import numpy as np

    from mayfly.laws import sizes
    from mayfly.workload.arrivals import arrival_rate, choice, stream
    from mayfly.workload.offering import Transfers, offering, payload_bytes

    workload, mss, seed, duration_s = (
        document["workload"],
        document["tcp"]["mss"],
        document["seed"],
        document["duration"],
    )
    law = getattr(sizes, told["law"])(**told["fields"])
    wire = mss + header_bytes
    if arrival_rate(workload["load"], law.mean_packets() * wire) * duration_s > MOST:
        return None
    transfers = Transfers(law, workload["load"], exact_load=workload["exact_load"])
    starts, packets = offering(transfers, duration_s, seed, wire)
    ends = {side: told[side] for side in ("senders", "receivers")}
    src, dst = (
        first + choice(stream(seed, side, "transfers", 0), count, len(starts)) for side, (first, count) in ends.items()
    )
    return np.ascontiguousarray(starts), src, dst, np.ascontiguousarray(payload_bytes(packets, mss))
