"""Which connections of a table are QUIC, and so transfers whose senders slow down, as those of TCP are."""

from __future__ import annotations

from typing import cast

import numpy as np

from mayfly.arrays import Booleans
from mayfly.workload.columns import Columns

QUIC = "quic"
"""Preset of the transport of connections that are QUIC."""

MARKS = ("quic", "quic_probably")
"""Columns of a connection table: its beginning shows it, or what follows does."""


def marked(table: Columns, mark: str) -> Booleans:
    """Which rows of UDP have a mark.

    Parameters
    ----------
    table : Columns, shape (n_connections, n_columns)
    mark : str
        One of :data:`MARKS`; a table without its column has no row of it.

    Returns
    -------
    ndarray, shape (n_connections,), bool
    """
    udp = table.words("protocol").are("udp")
    return cast("Booleans", udp & np.asarray(table[mark], dtype=bool)) if mark in table else np.zeros_like(udp)


def quic_rows(table: Columns) -> Booleans:
    """Which rows are QUIC, for certain or probably.

    Parameters
    ----------
    table : Columns, shape (n_connections, n_columns)

    Returns
    -------
    ndarray, shape (n_connections,), bool
    """
    return marked(table, MARKS[0]) | marked(table, MARKS[1])


def rows_with_trains(table: Columns) -> Booleans:
    """Which rows are of TCP or QUIC, whose ends wait for each other.

    Parameters
    ----------
    table : Columns, shape (n_connections, n_columns)

    Returns
    -------
    ndarray, shape (n_connections,), bool
    """
    return table.words("protocol").are("tcp") | quic_rows(table)
