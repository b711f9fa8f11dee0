"""Round-trip times of a profile by what they were measured from, and by the side of the tap (docs/captures.md).

A handshake is one sample of the whole path. Data and its acknowledgements, and timestamps, give many, of the part
between the tap and one end; a connection counts with its mean, and the whole path with the sum of both parts where both
are known.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from mayfly.profile.distributions import summaries

KINDS = ("data_ack", "timestamp")
"""Measured from acknowledgements of data (Karn's algorithm); from timestamps (RFC 7323)."""

ENDS = ("opener", "responder")


def round_trips(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Round-trip times of TCP connections, each with its class.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Of :func:`mayfly.profile.classes.classified`.

    Returns
    -------
    dict of polars.DataFrame
        Each with ``class``, ``side``, ``value`` (s) and ``samples``: ``handshake``; ``data_ack_to_opener``,
        ``data_ack_to_responder`` and ``data_ack``, the whole path; the same of ``timestamp``. Those whose columns the
        table lacks are left out.
    """
    of_kinds = [f"{kind}_to_{end}_{of}" for kind in KINDS for end in ENDS for of in ("mean_s", "samples")]
    there = [name for name in of_kinds if name in frame.columns]
    tcp = frame.select("protocol", "class", "side", "rtt_s", *there).filter(pl.col("protocol") == "tcp")
    found = {"handshake": _of(tcp, pl.col("rtt_s"), pl.lit(1))}
    for kind in KINDS:
        means = [f"{kind}_to_{end}_mean_s" for end in ENDS]
        counts = [f"{kind}_to_{end}_samples" for end in ENDS]
        if not {*means, *counts} <= set(tcp.columns):
            continue
        for end, mean, count in zip(ENDS, means, counts, strict=True):
            found[f"{kind}_to_{end}"] = _of(tcp, pl.col(mean), pl.col(count))
        # The part with fewer samples says how well the sum is known.
        found[kind] = _of(tcp, pl.col(means[0]) + pl.col(means[1]), pl.min_horizontal(counts))
    return found


def _of(tcp: pl.DataFrame, value: pl.Expr, samples: pl.Expr) -> pl.DataFrame:
    table = tcp.select("class", "side", value.alias("value"), samples.cast(pl.Int64).alias("samples"))
    return table.drop_nulls("value")


def round_trips_document(frame: pl.DataFrame) -> dict[str, Any]:
    """Summaries of :func:`round_trips`.

    Parameters
    ----------
    frame : polars.DataFrame
        As for :func:`round_trips`.

    Returns
    -------
    dict
        By kind: ``samples`` in all, and for ``all``, each side and class as
        :func:`mayfly.profile.distributions.summary`.
    """
    tables = round_trips(frame)
    return {name: {"samples": int(table["samples"].sum())} | summaries(table) for name, table in tables.items()}
