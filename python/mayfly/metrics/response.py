"""Response times against flow size, and what unfinished flows got through.

Every function takes records of one or several disciplines and returns one block of rows per discipline, in order of
first appearance. Response times are over completed TCP flows, replications pooled (Chen 2012, 4.6.2).
"""

from collections.abc import Callable, Mapping

import polars as pl

from mayfly.errors import MayflyError
from mayfly.metrics import curves
from mayfly.metrics.curves import TIMED, columns_of
from mayfly.metrics.size_classes import parts_by


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


def bin_key(bins_per_decade: int | None) -> pl.Expr:
    """Size bin of a flow: geometric, or its size when None."""
    size = pl.col("size_packets")
    if bins_per_decade is None:
        return size.alias("bin")

    def bins(sizes: pl.Series) -> pl.Series:
        found = pl.Series(curves.bins_of(sizes.fill_null(1).to_numpy(), bins_per_decade))
        return found.set(sizes.is_null(), None)

    return size.map_batches(bins, return_dtype=pl.Int64, is_elementwise=True).alias("bin")


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
        return pl.DataFrame(curves.conditional_mean(columns_of(part, TIMED), bins_per_decade))

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
        return pl.DataFrame(curves.by_percentile(columns_of(part, TIMED), bins_per_decade))

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
    a bin, are left out (Chen 2012, 4.6.2). The interval is normal for the logarithm of the mean, which has the error of
    the mean over the mean: ``mean_s exp(-+ 1.96 s / sqrt(n) / mean_s)`` with the sample deviation ``s`` of the bin. It
    is that of Chen 2012 where many flows make it small, and never reaches below 0.
    """
    checked("samples", samples, 2)

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame(curves.binned_ci(columns_of(part, TIMED), samples))

    schema = {name: pl.Float64() for name in ("size_packets", "mean_s", "low_s", "high_s")} | {"flows": pl.Int64()}
    return blocks_of(records, rows, schema)


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
        return pl.DataFrame(curves.response_cdf(columns_of(part, TIMED), points))

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
    mss = mss_bytes or curves.least_mss(columns_of(records, ("tcp", "size_bytes", "size_packets")))

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame(curves.incomplete(columns_of(part, ("tcp", "finish_s", "delivered_bytes")), mss))

    return blocks_of(records, rows, {"delivered_packets": pl.Int64(), "flows": pl.Int64(), "share": pl.Float64()})
