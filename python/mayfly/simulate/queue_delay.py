"""Queueing delays between the native simulator and the tables."""

from typing import Any

import numpy as np
import polars as pl

from mayfly.scenario.scenario import Network
from mayfly.simulate import columns

MEASURES = ("mean_s", "deviation_s", "max_s")
"""Of the waits of some packets; the deviation has the divisor n."""


def of_flows(native: dict[str, bytes]) -> dict[str, pl.Series]:
    """Queueing delay of each flow.

    Parameters
    ----------
    native : dict of bytes
        Native columns.

    Returns
    -------
    dict of polars.Series, each of shape (n_flows,)
        `queue_packets`, and `queue_delay_` mean, deviation and maximum, s; null where no packet left the queue.
    """
    packets = {"queue_packets": pl.Series(columns.integers(native["packets"]))}
    return packets | {f"queue_delay_{name}": _floats(native[name]) for name in MEASURES}


def of_each(native: dict[str, bytes]) -> list[dict[str, Any]]:
    """Queueing delay of each class, or of all packets.

    Parameters
    ----------
    native : dict of bytes
        Native columns.

    Returns
    -------
    list of dict
        `packets` that left the queue, `mean_s`, `deviation_s` and `max_s` of their waits, None without packets.
    """
    table = {"packets": pl.Series(columns.integers(native["packets"]))}
    return pl.DataFrame(table | {name: _floats(native[name]) for name in MEASURES}).to_dicts()


def _floats(data: bytes) -> pl.Series:
    return pl.Series(np.frombuffer(data, dtype="<f8"), nan_to_null=True)


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
    return 2 * (network.access_delay + network.delay + network.exit_delay)
