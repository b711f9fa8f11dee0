"""Roles over several traces of one site (Chen 2012, 8.4.2.2 and Fig. 8.12): whether a host keeps its role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

VERDICTS = ("always server", "likely server", "likely client", "always client")
"""Only ever told to be one; told to be a server in half of the traces or more; in fewer."""


def over_traces(applied: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put the roles of hosts in several traces together.

    Parameters
    ----------
    applied : sequence of polars.DataFrame
        For each trace what :meth:`mayfly.profile.roles.model.Model.apply` told.

    Returns
    -------
    polars.DataFrame, shape (n_hosts, 5)
        ``host, server, client, insufficient`` (traces in which it was told to be one, or had too little traffic) and
        ``verdict``, one of :data:`VERDICTS` or ``insufficient traffic`` in all. Ordered by address.

    Examples
    --------
    >>> def trace(**roles):
    ...     return pl.DataFrame({"host": list(roles), "role": list(roles.values())})
    >>> traces = [trace(a="server", b="client"), trace(a="server", b="server"), trace(b="client")]
    >>> over_traces(traces).select("host", "server", "client", "verdict").rows()
    [('a', 2, 0, 'always server'), ('b', 1, 2, 'likely client')]
    """
    whole = pl.concat([table.select("host", "role") for table in applied])
    role = pl.col("role")
    counted = whole.group_by("host").agg(
        (role == "server").sum().cast(pl.Int64).alias("server"),
        (role == "client").sum().cast(pl.Int64).alias("client"),
        (~role.is_in(["server", "client"])).sum().cast(pl.Int64).alias("insufficient"),
    )
    server, client = pl.col("server"), pl.col("client")
    verdict = (
        pl.when(server + client == 0)
        .then(pl.lit("insufficient traffic"))
        .when(client == 0)
        .then(pl.lit("always server"))
        .when(server == 0)
        .then(pl.lit("always client"))
        .when(server >= client)
        .then(pl.lit("likely server"))
        .otherwise(pl.lit("likely client"))
    )
    return counted.with_columns(verdict.alias("verdict")).sort("host")


def histogram(hosts: pl.DataFrame) -> list[dict[str, Any]]:
    """Hosts by verdict and by how often each role was told: Fig. 8.12.

    Parameters
    ----------
    hosts : polars.DataFrame
        Of :func:`over_traces`.

    Returns
    -------
    list of dict
        ``verdict``, ``told`` (``3s2c``: three times a server, twice a client), ``hosts``; the verdicts in their order.
    """
    counted = hosts.filter(pl.col("verdict").is_in(VERDICTS)).group_by("verdict", "server", "client").agg(pl.len())
    rows = [
        {"verdict": row["verdict"], "told": told_text(row["server"], row["client"]), "hosts": row["len"]}
        for row in counted.sort("server", "client", descending=[True, False]).iter_rows(named=True)
    ]
    return sorted(rows, key=lambda row: VERDICTS.index(row["verdict"]))


def told_text(server: int, client: int) -> str:
    """How often each role was told, as the paper writes it.

    Examples
    --------
    >>> told_text(3, 2), told_text(0, 4)
    ('3s2c', '4c')
    """
    return (f"{server}s" if server else "") + (f"{client}c" if client else "")
