"""What a receiver that plays a stream sees: jitter, and packets too late for a playout buffer (Rai 2003, 5.3.A)."""

import numpy as np
import polars as pl

from mayfly.arrays import Floats, number_or_none
from mayfly.errors import MayflyError
from mayfly.metrics.departures import one_flow


def one_way_delays(packets: pl.DataFrame) -> Floats:
    """One-way delay of each packet.

    Parameters
    ----------
    packets : polars.DataFrame
        Packets of one flow in one run (docs/tables.md).

    Returns
    -------
    ndarray, shape ``(n_sent,)``
        Seconds from sending to arrival at the receiver, in order of sending; NaN for a packet that did not arrive.

    Raises
    ------
    MayflyError
        Packets of several flows or runs.
    """
    one_flow(packets)
    ordered = packets.select("sent_s", "received_s").sort("sent_s", maintain_order=True)
    return (ordered["received_s"] - ordered["sent_s"]).cast(pl.Float64).fill_null(np.nan).to_numpy()


def jitter(packets: pl.DataFrame, each: int = 100) -> pl.DataFrame:
    """Jitter averaged over groups of packets sent one after the other (Rai 2003, Fig. 15a).

    Parameters
    ----------
    packets : polars.DataFrame
        Packets of one flow in one run.
    each : int
        Packets of a group, >= 2.

    Returns
    -------
    polars.DataFrame
        ``packet`` (number sent before the group), ``jitter_s`` (null where fewer than two arrived one after the other),
        ``lost`` (packets of the group that did not arrive).

    Raises
    ------
    MayflyError
        Packets of several flows or runs, or ``each`` below 2.

    Notes
    -----
    The text does not define jitter. Here it is the difference between the one-way delays of two consecutive packets
    that both arrived, without its sign (RFC 3550, 6.4.1, the D of which the interarrival jitter is an average).
    """
    if each < 2:
        raise MayflyError(f"each = {each}: must be at least 2 packets")
    delays = one_way_delays(packets)
    variation = np.abs(np.diff(delays, prepend=np.nan))
    frame = pl.DataFrame(
        {"packet": np.arange(delays.size) // each * each, "jitter_s": variation, "lost": np.isnan(delays)}
    )
    # A difference across two groups belongs to the one it ends in.
    return frame.group_by("packet", maintain_order=True).agg(
        pl.col("jitter_s").fill_nan(None).mean(), pl.col("lost").sum().cast(pl.Int64)
    )


def deadline_misses(
    packets: pl.DataFrame,
    playout_s: float,
    mean_s: float | None = None,
    block: int = 20,
    count_lost: bool = False,
) -> pl.DataFrame:
    """Share of the packets of each block that come after their deadline (Rai 2003, Fig. 15b).

    Parameters
    ----------
    packets : polars.DataFrame
        Packets of one flow in one run.
    playout_s : float
        Playout buffer, s, >= 0.
    mean_s : float, optional
        Average transmission time, s; the mean one-way delay of the packets that arrived when not given.
    block : int
        Packets of a block in order of sending, >= 1; the last, if it is not full, does not count.
    count_lost : bool
        Whether a lost packet misses its deadline.

    Returns
    -------
    polars.DataFrame
        ``packet`` (number sent before the block) and ``missed`` (share of the block).

    Raises
    ------
    MayflyError
        Packets of several flows or runs, ``playout_s`` below 0, or ``block`` below 1.

    Notes
    -----
    A packet sent at ``t_s`` and received at ``t_r`` misses when ``t_r - t_s`` exceeds playout buffer plus average
    transmission time (Rai 2003, 5.3.A, who takes 0.5 s for the latter and K = 20). There every packet arrives in time
    with a buffer of 4 s though 1.18 % are lost: lost packets do not count as late, hence the default.
    """
    if not playout_s >= 0:
        raise MayflyError(f"playout_s = {playout_s}: must be at least 0 s")
    if block < 1:
        raise MayflyError(f"block = {block}: must be at least 1 packet")
    delays = one_way_delays(packets)
    arrived = delays[~np.isnan(delays)]
    average = mean_s if mean_s is not None else (float(arrived.mean()) if arrived.size else 0.0)
    late = delays > playout_s + average
    if count_lost:
        late |= np.isnan(delays)
    blocks = delays.size // block
    return pl.DataFrame(
        {"packet": np.arange(blocks) * block, "missed": late[: blocks * block].reshape(blocks, block).mean(axis=1)}
    )


def blocks_in_time(misses: pl.DataFrame) -> float | None:
    """Share of the blocks all of whose packets come in time.

    Parameters
    ----------
    misses : polars.DataFrame
        As :func:`deadline_misses` returns it.

    Returns
    -------
    float or None
        None without a block.

    Examples
    --------
    >>> blocks_in_time(pl.DataFrame({"missed": [0.0, 0.05, 0.0, 0.0]}))
    0.75
    """
    return number_or_none((misses["missed"] == 0).mean())
