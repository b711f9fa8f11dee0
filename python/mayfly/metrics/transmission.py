"""Transmission time: from the first packet a server sends to the last one its client receives (Rai 2003, 4.2)."""

import polars as pl

from mayfly.metrics.response import conditional_mean


def transmission_time() -> pl.Expr:
    """Transmission time of each flow.

    Returns
    -------
    polars.Expr
        ``last_data_s - first_sent_s`` over flow records, s; null for a flow that is not complete. The first packet is
        the sender's SYN, or its SYN-ACK when the receiver opens; what the FIN takes does not count.

    Examples
    --------
    >>> flows = pl.DataFrame({"first_sent_s": [1.0, 1.0], "last_data_s": [3.5, None]})
    >>> flows.select(t=transmission_time())["t"].to_list()
    [2.5, None]
    """
    return pl.col("last_data_s") - pl.col("first_sent_s")


def mean_transmission_time(records: pl.DataFrame, bins_per_decade: int | None = None) -> pl.DataFrame:
    """Mean transmission time given the flow size (Rai 2003, Fig. 7a).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records; TCP flows whose data is complete count.
    bins_per_decade : int, optional
        Geometric size bins per factor of ten, >= 1; every size apart when None.

    Returns
    -------
    polars.DataFrame
        As :func:`mayfly.metrics.conditional_mean`.

    Raises
    ------
    MayflyError
        ``bins_per_decade`` below 1.
    """
    timed = records.with_columns(response_time_s=transmission_time(), finish_s=pl.col("last_data_s"))
    return conditional_mean(timed, bins_per_decade)
