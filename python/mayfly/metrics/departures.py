"""Times between departures of one flow's packets: how regularly a constant rate is forwarded (Chen 2012, 4.6.4)."""

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.metrics.size_classes import run_keys


def inter_departures(packets: pl.DataFrame) -> Floats:
    """Times between departures.

    Parameters
    ----------
    packets : polars.DataFrame
        Packets of one flow in one run (docs/tables.md), with ``departed_s``.

    Returns
    -------
    ndarray, shape ``(n_departures - 1,)``
        Seconds, in order of departure; empty with fewer than two departures.

    Raises
    ------
    MayflyError
        Packets of several flows or runs.

    Examples
    --------
    >>> inter_departures(pl.DataFrame({"flow_id": 1, "departed_s": [0.5, None, 2.0, 1.0]})).tolist()
    [0.5, 1.0]
    """
    one_flow(packets)
    # The simulator counts nanoseconds: equal gaps stay equal.
    return np.diff(packets["departed_s"].drop_nulls().sort().to_numpy()).round(9)


def one_flow(packets: pl.DataFrame) -> None:
    """Refuses packets of several flows or runs.

    Parameters
    ----------
    packets : polars.DataFrame
        With ``flow_id``.

    Raises
    ------
    MayflyError
        There are several.
    """
    keys = [*run_keys(packets), "flow_id"]
    if (found := packets.select(pl.struct(keys).n_unique()).item()) > 1:
        raise MayflyError(f"packets of {found} flows and runs: must be of one; filter by {', '.join(keys)}")


def inter_departure_cdf(packets: pl.DataFrame, points: int = 300) -> pl.DataFrame:
    """Distribution of the times between departures.

    Parameters
    ----------
    packets : polars.DataFrame
        Packets of one flow in one run.
    points : int
        Quantiles, >= 2; fewer with few departures.

    Returns
    -------
    polars.DataFrame
        ``gap_s``, ascending, and ``share`` of the gaps up to it.

    Raises
    ------
    MayflyError
        Packets of several flows or runs, or ``points`` below 2.
    """
    if points < 2:
        raise MayflyError(f"points = {points}: must be at least 2")
    gaps = np.sort(inter_departures(packets))
    if gaps.size == 0:
        return pl.DataFrame(schema={"gap_s": pl.Float64, "share": pl.Float64})
    picked = np.unique(np.linspace(0, gaps.size - 1, points).round().astype(np.intp))
    # Of equal gaps the last one has the share.
    share = np.searchsorted(gaps, gaps[picked], side="right") / gaps.size
    return pl.DataFrame({"gap_s": gaps[picked], "share": share}).unique("gap_s", keep="last", maintain_order=True)


def regularity(gaps_s: Floats, period_s: float) -> dict[str, float]:
    """How far the departures of a constant rate keep the pace of the sender.

    Parameters
    ----------
    gaps_s : ndarray, shape ``(n,)``
        Times between departures, s; at least one.
    period_s : float
        Time between packets at the sender, s, > 0.

    Returns
    -------
    dict of float
        ``regular``: share of the gaps within 10 % of the period; ``batched``: share below half of it; ``jitter``:
        standard deviation of the gaps over the period.

    Raises
    ------
    MayflyError
        No gap.

    Examples
    --------
    >>> regularity(np.array([1.0, 0.25, 1.75, 1.0]), 1.0)["batched"]
    0.25
    """
    if gaps_s.size == 0:
        raise MayflyError("0 gaps: must be at least 1, so that two packets departed")
    between = gaps_s / period_s
    return {
        "regular": float((np.abs(between - 1) < 0.1).mean()),
        "batched": float((between < 0.5).mean()),
        "jitter": float(between.std()),
    }
