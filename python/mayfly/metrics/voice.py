"""How a telephone call over the network sounds: the E-model of ITU-T G.107, from delay and loss to MOS.

The model, its parameters and the playout buffer are in docs/users.md, and in Rust (crate ``metrics``: ``e_model``,
``playout``, ``call``), which measures here.
"""

import json
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.arrays import Floats


def call_direction(packets: pl.DataFrame) -> dict[str, float | None] | None:
    """A call in one direction in figures.

    Parameters
    ----------
    packets : polars.DataFrame, shape (n_packets, ...)
        ``sent_s`` and ``received_s`` (null for those lost) of one flow in one run.

    Returns
    -------
    dict or None
        ``delay_ms`` (mean of the network, one way), ``jitter_ms`` (RFC 3550, 6.4.1), ``loss`` (share lost in the
        network), ``late`` (share that came after its deadline), ``mos`` (mean over the windows of the playout buffer).
        None without packets.

    Examples
    --------
    >>> steady = pl.DataFrame({"sent_s": [0.0, 0.02, 0.04], "received_s": [0.01, 0.03, None]})
    >>> found = call_direction(steady)
    >>> round(found["delay_ms"], 6), round(found["loss"], 3)
    (10.0, 0.333)
    """
    found: dict[str, float | None] | None = json.loads(_native.direction_figures(*_columns(packets)))
    return found


def call_row(down: pl.DataFrame, up: pl.DataFrame) -> dict[str, Any] | None:
    """A call in both directions.

    Parameters
    ----------
    down, up : polars.DataFrame
        As of :func:`call_direction`.

    Returns
    -------
    dict or None
        ``down``, ``up``; ``mos`` of the worse one, and ``mos_ci95``, Student's t over its windows. None without
        packets.
    """
    found = json.loads(_native.call_figures(_columns(down), _columns(up)))
    return found and {name: found[name] for name in ("down", "up", "mos", "mos_ci95")}


def _columns(packets: pl.DataFrame) -> tuple[Floats, Floats]:
    """When packets were sent and came, s; NaN for those lost."""
    sent, received = (packets[name].cast(pl.Float64).fill_null(float("nan")) for name in ("sent_s", "received_s"))
    return sent.to_numpy(), received.to_numpy()
