"""Queueing delays between the native simulator and the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mayfly.scenario.network import Network

_MEASURES = ("mean_s", "deviation_s", "max_s")
"""Of the waits of some packets; the deviation has the divisor n."""


def taken(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a native table with its queueing delay as one entry.

    Parameters
    ----------
    row : dict
        With `queue_packets` and the columns `queue_delay_` of docs/tables.md.

    Returns
    -------
    dict
        The other columns, and `queueing_delay`: `packets` that left the queue, `mean_s`, `deviation_s` and `max_s` of
        their waits, None without packets.
    """
    waits = {"packets": row["queue_packets"]} | {name: row[f"queue_delay_{name}"] for name in _MEASURES}
    others = {
        name: value for name, value in row.items() if name != "queue_packets" and not name.startswith("queue_delay")
    }
    return others | {"queueing_delay": waits}


def propagation_rtt_s(network: Network) -> float:
    """Round-trip propagation delay of the path that flows without one of their own take.

    Parameters
    ----------
    network : Network
        Of a scenario.

    Returns
    -------
    float
        Seconds; of a cell that of its wired part, the air has next to none.
    """
    if network.wlan is not None:
        return 2 * network.access_delay
    back = network.delay if network.reverse_delay is None else network.reverse_delay
    return 2 * (network.access_delay + network.exit_delay) + network.delay + back
