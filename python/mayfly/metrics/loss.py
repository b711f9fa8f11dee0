"""Who loses packets: loss rate and flows with loss, by size (Rai 2003, 4.4)."""

import polars as pl

from mayfly.arrays import number, number_or_none
from mayfly.metrics import curves
from mayfly.metrics.curves import columns_of
from mayfly.metrics.response import blocks_of, checked

_BY_SIZE = {
    "size_packets": pl.Float64(),
    "flows": pl.Int64(),
    "lossy_flows": pl.Int64(),
    "lossy_share": pl.Float64(),
    "packets_sent": pl.Int64(),
    "drops": pl.Int64(),
    "loss": pl.Float64(),
}


def loss_rate(records: pl.DataFrame) -> float | None:
    """Share of the packets that were dropped.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records.

    Returns
    -------
    float or None
        Drops over packets sent by the senders of the data; None when none was sent. Drops of acknowledgements count,
        so that it is the loss of the forward queue only where the other direction loses nothing.

    Examples
    --------
    >>> loss_rate(pl.DataFrame({"packets_sent": [30, 70], "drops": [0, 4]}))
    0.04
    """
    sent = number(records["packets_sent"].sum())
    return number(records["drops"].sum()) / sent if sent else None


def loss_by_size(records: pl.DataFrame, bins_per_decade: int | None = None) -> pl.DataFrame:
    """Loss rate and share of flows with loss given the flow size (Rai 2003, Fig. 9b and 10).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records; TCP counts, finished or not.
    bins_per_decade : int, optional
        Geometric size bins per factor of ten, >= 1; every size apart when None.

    Returns
    -------
    polars.DataFrame
        ``discipline`` (when the records have it), ``size_packets`` (mean of the bin, MSS), ``flows``, ``lossy_flows``
        (that lost a packet or more), ``lossy_share`` of the flows, ``packets_sent``, ``drops``, ``loss`` (drops over
        packets sent, null when none was); ascending sizes.

    Raises
    ------
    MayflyError
        ``bins_per_decade`` below 1.
    """
    checked("bins_per_decade", bins_per_decade, 1)

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        columns = columns_of(part, ("tcp", "size_packets", "drops", "packets_sent"))
        found = curves.loss_by_size(columns, bins_per_decade)
        return pl.DataFrame(found, nan_to_null=True).select(*_BY_SIZE)

    return blocks_of(records, rows, _BY_SIZE)


def lossy_sizes(records: pl.DataFrame) -> pl.DataFrame:
    """Distribution of the size of the flows that lost a packet or more (Rai 2003, Fig. 9a).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records; TCP counts.

    Returns
    -------
    polars.DataFrame
        ``discipline`` (when the records have it), ``size_packets`` (MSS), ``flows`` with loss of that size, ``share``
        of all flows with loss up to it; ascending.
    """

    def rows(part: pl.DataFrame) -> pl.DataFrame:
        lossy = part.select("protocol", "size_packets", "drops").filter(
            (pl.col("protocol") == "tcp") & (pl.col("drops") > 0)
        )
        sizes = lossy.group_by("size_packets").agg(pl.len().cast(pl.Int64).alias("flows")).sort("size_packets")
        return sizes.with_columns(share=pl.col("flows").cum_sum() / pl.col("flows").sum())

    return blocks_of(records, rows, {"size_packets": pl.Int64(), "flows": pl.Int64(), "share": pl.Float64()})


def lossy_share_up_to(records: pl.DataFrame, size_packets: int) -> float | None:
    """Share of small flows among those that lost a packet or more.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records; TCP counts.
    size_packets : int
        Largest size that counts as small, MSS.

    Returns
    -------
    float or None
        None when no flow lost a packet.

    Examples
    --------
    >>> flows = pl.DataFrame({"protocol": "tcp", "size_packets": [1, 2, 50], "drops": [1, 0, 9]})
    >>> lossy_share_up_to(flows, 2)
    0.5
    """
    lossy = records.filter((pl.col("protocol") == "tcp") & (pl.col("drops") > 0))
    return number_or_none((lossy["size_packets"] <= size_packets).mean())
