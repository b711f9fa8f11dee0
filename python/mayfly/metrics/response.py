"""Response times against flow size, and what unfinished flows got through.

Every function takes records of one or several disciplines and returns one block of rows per discipline, in order of
first appearance. Response times are over completed TCP flows, replications pooled (Chen 2012, 4.6.2).
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.metrics.intervals import Z95
from mayfly.metrics.parts import parts_by
from mayfly.metrics.size_classes import completed_tcp


def checked(name: str, value: int | None, least: int) -> None:
    """Refuse a value below ``least``; None passes."""
    if value is not None and value < least:
        raise MayflyError(f"{name} = {value}: must be at least {least}")


def blocks_of(
    records: pl.DataFrame, rows: Callable[[pl.DataFrame], pl.DataFrame], schema: Mapping[str, pl.DataType]
) -> pl.DataFrame:
    """Stack ``rows(part)`` of each discipline; the label column exists when the records have one."""
    if "discipline" not in records.columns:
        return rows(records).cast(pl.Schema(schema))
    blocks = [
        rows(part).cast(pl.Schema(schema)).select(pl.lit(label, dtype=pl.String).alias("discipline"), *schema)
        for (label,), part in parts_by(records, ["discipline"]).items()
    ]
    return pl.concat(blocks) if blocks else pl.DataFrame(schema={"discipline": pl.String(), **schema})


_TIMED = ("protocol", "finish_s", "size_packets", "response_time_s")
"""What response times by size are made of: a filter copies every column of a table."""


def bin_key(bins_per_decade: int | None) -> pl.Expr:
    """Size bin of a flow: geometric, or its size when None."""
    size = pl.col("size_packets")
    if bins_per_decade is None:
        return size.alias("bin")
    return (size.log10() * bins_per_decade + 1e-9).floor().cast(pl.Int64).alias("bin")


_MEAN_SCHEMA: dict[str, pl.DataType] = {"size_packets": pl.Float64(), "mean_s": pl.Float64(), "flows": pl.Int64()}


def conditional_mean(records: pl.DataFrame, bins_per_decade: int | None = None) -> pl.DataFrame:
    """Mean response time given the flow size (Chen 2012, Fig. 4.9).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records.
    bins_per_decade : int, optional
        Geometric size bins per factor of ten, >= 1; every size apart when None.

    Returns
    -------
    polars.DataFrame
        ``discipline`` (when the records have it), ``size_packets`` (mean of the bin, MSS), ``mean_s``, ``flows``;
        ascending sizes.

    Raises
    ------
    MayflyError
        ``bins_per_decade`` below 1.
    """
    checked("bins_per_decade", bins_per_decade, 1)

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        binned = (
            part.select(*_TIMED)
            .filter(completed_tcp())
            .group_by(bin_key(bins_per_decade))
            .agg(
                pl.col("size_packets").mean(), pl.col("response_time_s").mean().alias("mean_s"), pl.len().alias("flows")
            )
        )
        return binned.sort("bin").drop("bin")

    return blocks_of(records, rows, _MEAN_SCHEMA)


def by_percentile(records: pl.DataFrame, bins_per_decade: int | None = None) -> pl.DataFrame:
    """Mean response time against the percentile of the flow size.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records.
    bins_per_decade : int, optional
        Geometric size bins per factor of ten, >= 1; every size apart when None.

    Returns
    -------
    polars.DataFrame
        ``discipline`` (when the records have it), ``percentile`` in (0, 100), ``size_packets`` (MSS), ``mean_s``,
        ``flows``; ascending sizes.

    Raises
    ------
    MayflyError
        ``bins_per_decade`` below 1.

    Notes
    -----
    The percentile of a bin is the share of TCP flows that are smaller, plus half of those inside. Unfinished flows
    count, so that a size has one percentile under every discipline.
    """
    checked("bins_per_decade", bins_per_decade, 1)

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        done = completed_tcp()
        binned = (
            part.select(*_TIMED)
            .filter(pl.col("protocol") == "tcp")
            .group_by(bin_key(bins_per_decade))
            .agg(
                pl.len().cast(pl.Int64).alias("all"),
                pl.col("size_packets").filter(done).mean(),
                pl.col("response_time_s").filter(done).mean().alias("mean_s"),
                done.sum().alias("flows"),
            )
        )
        middle = (pl.col("all").cum_sum() - pl.col("all") / 2) / pl.col("all").sum()
        return (
            binned.sort("bin")
            .with_columns((100 * middle).alias("percentile"))
            .filter(pl.col("flows") > 0)
            .drop("bin", "all")
        )

    schema = {"percentile": pl.Float64(), **_MEAN_SCHEMA}
    return blocks_of(records, rows, schema)


def binned_ci(records: pl.DataFrame, samples: int = 200) -> pl.DataFrame:
    """Mean response time with its 95 % interval over bins of adjacent sizes (Chen 2012, Fig. 4.10).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records.
    samples : int
        Flows that close a bin, >= 2.

    Returns
    -------
    polars.DataFrame
        ``discipline`` (when the records have it), ``size_packets`` (mean over the flows of the bin, MSS), ``mean_s``,
        ``low_s``, ``high_s``, ``flows``; ascending sizes.

    Raises
    ------
    MayflyError
        ``samples`` below 2.

    Notes
    -----
    Whole sizes are added in ascending order until the bin holds ``samples`` flows; the largest sizes, too few to fill
    a bin, are left out (Chen 2012, 4.6.2). Normal interval over the flows of the bin.
    """
    checked("samples", samples, 2)

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        done = part.select(*_TIMED).filter(completed_tcp()).sort("size_packets")
        size = done["size_packets"].to_numpy().astype(float)
        time_s = done["response_time_s"].to_numpy().astype(float)
        starts, end = _bin_starts(size, samples)
        flows = np.diff(np.append(starts, end))
        if starts.size == 0:
            return pl.DataFrame(schema=schema)
        mean_s = np.add.reduceat(time_s[:end], starts) / flows
        spread = np.add.reduceat((time_s[:end] - np.repeat(mean_s, flows)) ** 2, starts)
        half_s = Z95 * np.sqrt(spread / (flows - 1) / flows)
        return pl.DataFrame(
            {
                "size_packets": np.add.reduceat(size[:end], starts) / flows,
                "mean_s": mean_s,
                "low_s": mean_s - half_s,
                "high_s": mean_s + half_s,
                "flows": flows,
            }
        )

    schema = {name: pl.Float64() for name in ("size_packets", "mean_s", "low_s", "high_s")} | {"flows": pl.Int64()}
    return blocks_of(records, rows, schema)


def _bin_starts(ascending: Floats, samples: int) -> tuple[Integers, int]:
    """First index of each full bin and the end of the last one; equal values stay in one bin."""
    starts, start = [], 0
    while ascending.size - start >= samples:
        starts.append(start)
        start = int(np.searchsorted(ascending, ascending[start + samples - 1], side="right"))
    return np.array(starts, dtype=np.intp), start


def response_cdf(records: pl.DataFrame, points: int = 300) -> pl.DataFrame:
    """Distribution of response times.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records.
    points : int
        Quantiles per discipline, >= 2, half of them evenly spread and half towards the slowest; fewer with few flows.

    Returns
    -------
    polars.DataFrame
        ``discipline`` (when the records have it), ``response_time_s``, ``share`` of the completed TCP flows that finish
        within that time.

    Raises
    ------
    MayflyError
        ``points`` below 2.
    """
    checked("points", points, 2)

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        completed = part.select("protocol", "finish_s", "response_time_s").filter(completed_tcp())
        times_s = np.sort(completed["response_time_s"].to_numpy().astype(float))
        flows = times_s.size
        if flows == 0:
            return pl.DataFrame(schema=schema)
        even = np.linspace(0, flows - 1, points // 2)
        tail = flows - np.geomspace(1, flows, points - points // 2)
        picked = np.unique(np.concatenate((even, tail)).round().astype(np.intp))
        return pl.DataFrame({"response_time_s": times_s[picked], "share": (picked + 1) / flows})

    schema = {"response_time_s": pl.Float64(), "share": pl.Float64()}
    return blocks_of(records, rows, schema)


def incomplete(records: pl.DataFrame, mss_bytes: int | None = None) -> pl.DataFrame:
    """Distribution of what unfinished TCP transfers got through (Chen 2012, Fig. 4.8).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records.
    mss_bytes : int, optional
        Payload of a full packet, bytes, >= 1; the smallest that agrees with ``size_packets`` when None.

    Returns
    -------
    polars.DataFrame
        ``discipline`` (when the records have it), ``delivered_packets`` (MSS packets delivered in order by the end),
        ``flows`` of that size, ``share`` of the unfinished flows up to it; ascending.

    Raises
    ------
    MayflyError
        ``mss_bytes`` below 1.
    """
    checked("mss_bytes", mss_bytes, 1)
    mss = mss_bytes or _least_mss(records)

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        unfinished = part.select("protocol", "finish_s", "delivered_bytes").filter(
            (pl.col("protocol") == "tcp") & pl.col("finish_s").is_null()
        )
        packets = (pl.col("delivered_bytes").cast(pl.Int64) + (mss - 1)) // mss
        sizes = unfinished.group_by(packets.alias("delivered_packets")).agg(pl.len().cast(pl.Int64).alias("flows"))
        return sizes.sort("delivered_packets").with_columns(
            (pl.col("flows").cum_sum() / pl.col("flows").sum()).alias("share")
        )

    return blocks_of(records, rows, {"delivered_packets": pl.Int64(), "flows": pl.Int64(), "share": pl.Float64()})


def _least_mss(records: pl.DataFrame) -> int:
    # size_packets = ceil(size_bytes / mss), hence mss >= size_bytes / size_packets of every row.
    bound = (
        records.select("protocol", "size_bytes", "size_packets")
        .filter(pl.col("protocol") == "tcp")
        .select((pl.col("size_bytes") / pl.col("size_packets")).max())
        .item()
    )
    return 1 if bound is None else max(1, math.ceil(bound))
