"""Round-trip times of a profile by what they were measured from, and by the side of the tap (docs/captures.md).

A handshake is one sample of the whole path. Data and its acknowledgements, and timestamps, give many, of the part
between the tap and one end; a connection counts with its mean, and the whole path with the sum of both parts where both
are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.profile.distributions import Sample, sample_of, summaries
from mayfly.workload.columns import Columns, Table, columns_of
from mayfly.workload.quic import rows_with_trains

if TYPE_CHECKING:
    import polars as pl

KINDS = ("data_ack", "timestamp")
"""Measured from acknowledgements of data (Karn's algorithm); from timestamps (RFC 7323)."""

ENDS = ("opener", "responder")


def round_trips(frame: Table) -> dict[str, pl.DataFrame]:
    """Round-trip times of connections of TCP and QUIC, each with its class.

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
    return {name: sample.frame for name, sample in _sampled(columns_of(frame)).items()}


def _sampled(table: Columns) -> dict[str, Sample]:
    rows = np.flatnonzero(rows_with_trains(table))
    found = {"handshake": sample_of(table, rows, table["rtt_s"][rows], np.ones(len(rows), dtype=np.int64))}
    for kind in KINDS:
        means = [f"{kind}_to_{end}_mean_s" for end in ENDS]
        counts = [f"{kind}_to_{end}_samples" for end in ENDS]
        if not all(name in table for name in (*means, *counts)):
            continue
        for end, mean, count in zip(ENDS, means, counts, strict=True):
            found[f"{kind}_to_{end}"] = sample_of(table, rows, table[mean][rows], table[count][rows])
        whole = table[means[0]][rows] + table[means[1]][rows]
        # The part with fewer samples says how well the sum is known.
        found[kind] = sample_of(table, rows, whole, np.minimum(*(table[name][rows] for name in counts)))
    return found


def round_trips_document(frame: Table) -> dict[str, Any]:
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
    found = _sampled(columns_of(frame))
    return {name: {"samples": _count(sample)} | summaries(sample) for name, sample in found.items()}


def _count(sample: Sample) -> int:
    return 0 if sample.counts is None else int(sample.counts.sum())
