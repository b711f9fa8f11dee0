"""Traffic by class (Chen 2012, 8.2, Table 8.2 and Fig. 8.1): who talks to whom, and which way the bytes go.

Principle: each connection gets exactly one class, so that the classes add up to the table. The four classes of the
paper do not add up to its own total (1,137,969 of 1,506,538 connections); what is in none of them is ``other`` here,
by reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly import _native
from mayfly.arrays import Integers
from mayfly.workload.columns import Table, columns_of, sums_at
from mayfly.workload.sides import Sides

if TYPE_CHECKING:
    import polars as pl

CLASSES = ("lc-rp", "ls-rp", "lc-ls", "ls-ls", "other")
"""Local client and remote peer, local server and remote peer, local client and local server, two local servers."""

SIDES = ("external", "internal", "neither")
"""Across the boundary of the site, inside it, or with no host of the site at both ends that is known."""

MEASURES = ("connections", "bytes", "packets")

UNFINISHED = ("half_open", "rejected")
"""TCP connections that ended in the set-up stage."""


def classified(frame: pl.DataFrame, sides: Sides, roles: Mapping[str, str]) -> pl.DataFrame:
    """Give each connection its class.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.
    sides : Sides
        Of the hosts.
    roles : mapping of str
        ``server`` or ``client`` of internal hosts; a host without one has an unknown role.

    Returns
    -------
    polars.DataFrame, shape (n_connections, n_columns + 6)
        With ``class`` (:data:`CLASSES`), ``side`` (:data:`SIDES`), ``reason`` (why it is ``other``, else null),
        ``bytes`` and ``packets`` in both directions, and ``mature``: data came, and the connection got beyond its
        set-up.
    """
    import polars as pl

    kinds = {host: "nobody" for host in sides.nobody}
    kinds |= {host: "remote" for host in sides.external}
    kinds |= {host: roles.get(host, "unknown") for host in sides.internal}
    names = pl.Series(list(kinds), dtype=pl.String), pl.Series(list(kinds.values()), dtype=pl.String)
    first = pl.col("opener").replace_strict(*names, return_dtype=pl.String)
    second = pl.col("responder").replace_strict(*names, return_dtype=pl.String)
    ends = pl.concat_str(first, second, separator=" ")
    table = pl.DataFrame(
        [(f"{one} {two}", *row) for one, two, *row in _native.connection_classes()],
        schema={"ends": pl.String, "class": pl.String, "side": pl.String, "reason": pl.String},
        orient="row",
    )
    data = pl.col("opener_distinct_bytes") + pl.col("responder_distinct_bytes") > 0
    return (
        frame.with_columns(ends.alias("ends"))
        .join(table, on="ends", how="left", maintain_order="left")
        .drop("ends")
        .with_columns(
            (pl.col("opener_wire_bytes") + pl.col("responder_wire_bytes")).alias("bytes"),
            (pl.col("opener_packets") + pl.col("responder_packets")).alias("packets"),
            (data & ~pl.col("state").is_in(UNFINISHED)).alias("mature"),
        )
    )


def composition(frame: Table) -> list[dict[str, Any]]:
    """Connections, bytes and packets of each class: Table 8.2.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Of :func:`classified`.

    Returns
    -------
    list of dict
        A row for each class of :data:`CLASSES` and side it occurs on, ``other`` once per side and reason: ``class``,
        ``side``, ``reason``, the :data:`MEASURES`, for each its ``_share`` of all and ``_share_of_side`` (None of
        nothing). The four classes of the paper are always there.
    """
    table = columns_of(frame)
    words = [table.words(name) for name in ("class", "side", "reason")]
    places: Integers = np.zeros(table.height, dtype=np.int64)
    for column in words:
        places = places * (len(column.names) + 1) + column.codes
    _, first, group = np.unique(places, return_index=True, return_inverse=True)
    sums = [sums_at(group, values, len(first)) for values in (1, table["bytes"], table["packets"])]
    rows = {
        key: dict(zip(MEASURES, counts, strict=True))
        for *key_words, counts in zip(
            *(column.of(first).listed() for column in words),
            zip(*(sum_.tolist() for sum_ in sums), strict=True),
            strict=True,
        )
        for key in [tuple(key_words)]
    }
    always = [(name, "external" if name.endswith("rp") else "internal", None) for name in CLASSES[:4]]
    others = sorted((key for key in rows if key[0] == "other"), key=lambda key: (SIDES.index(key[1]), key[2]))
    listed = [
        {"class": key[0], "side": key[1], "reason": key[2]}
        | {name: rows.get(key, {}).get(name, 0) for name in MEASURES}
        for key in (*always, *others)
    ]
    for name in MEASURES:
        whole = sum(row[name] for row in listed)
        by_side = {side: sum(row[name] for row in listed if row["side"] == side) for side in SIDES}
        for row in listed:
            row[f"{name}_share"] = share(row[name], whole)
            row[f"{name}_share_of_side"] = share(row[name], by_side[row["side"]])
    return listed


def share(part: float, whole: float) -> float | None:
    """Part of a whole, None of nothing.

    Examples
    --------
    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


def directions(frame: Table, sides: Sides, roles: Mapping[str, str]) -> dict[str, Any]:
    """Bytes and packets by direction: Fig. 8.1.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Of :func:`classified`.
    sides, roles
        As there.

    Returns
    -------
    dict
        ``bytes`` and ``packets`` of ``external up`` (leaving the site), ``external down``, ``internal up`` (client to
        server), ``internal down`` and ``internal servers`` (between servers), each with its ``share``; ``left_out``
        counts ``immature`` connections, ``other`` ones and their bytes. Without ``other`` and immature connections,
        as in the paper.
    """
    table = columns_of(frame)
    classes, side, mature = table.words("class"), table.words("side"), table["mature"]
    kept = mature & ~classes.are("other")
    opener = table.words("opener")
    near = opener.among(sides.internal)
    clients = opener.among(host for host in sides.internal if roles.get(host) == "client")
    # The end whose sending is "up": the site of external traffic, the client of internal traffic.
    up_is_opener = np.where(side.are("external"), near, clients)
    servers = classes.are("ls-ls")
    parts = ("external up", "external down", "internal up", "internal down", "internal servers")
    sums = {measure: dict.fromkeys(parts, 0) for measure in ("bytes", "packets")}
    for sender in ("opener", "responder"):
        up = up_is_opener == (sender == "opener")
        for part in parts:
            where, _, way = part.partition(" ")
            rows = kept & side.are(where) & (servers if way == "servers" else ~servers & (up == (way == "up")))
            for measure, column in (("bytes", "wire_bytes"), ("packets", "packets")):
                sums[measure][part] += int(table[f"{sender}_{column}"][rows].sum())
    answer: dict[str, Any] = {}
    for measure, values in sums.items():
        whole = sum(values.values())
        answer[measure] = {part: {measure: value, "share": share(value, whole)} for part, value in values.items()}
    answer["left_out"] = {
        what: {
            "connections": int(rows.sum()),
            "bytes": int(table["bytes"][rows].sum()),
            "packets": int(table["packets"][rows].sum()),
        }
        for what, rows in (("immature", ~mature), ("other", mature & classes.are("other")))
    }
    return answer


def dataset(frame: Table, sides: Sides, duration_s: float, first_epoch_s: float | None) -> dict[str, Any]:
    """What was captured: a column of Table 8.1.

    Parameters
    ----------
    frame : polars.DataFrame or Columns, shape (n_connections, n_columns)
        Of :func:`classified`.
    sides : Sides
        Of the hosts.
    duration_s : float
        Of the capture.
    first_epoch_s : float or None
        When it began, s since 1970.

    Returns
    -------
    dict
        ``date`` (UTC, None when unknown), ``duration_s, connections, tcp, udp, icmp, other, bytes, packets,
        local_hosts, remote_hosts``; bytes from the IP header on.
    """
    from datetime import UTC, datetime

    began = None if first_epoch_s is None else datetime.fromtimestamp(first_epoch_s, UTC)
    table = columns_of(frame)
    protocols = table.words("protocol")
    return {
        "date": None if began is None else began.strftime("%Y-%m-%d %H:%M:%S"),
        "duration_s": duration_s,
        "connections": table.height,
        **{name: int(protocols.are(name).sum()) for name in ("tcp", "udp", "icmp", "other")},
        "bytes": int(table["bytes"].sum()),
        "packets": int(table["packets"].sum()),
        "local_hosts": len(sides.internal),
        "remote_hosts": len(sides.external),
    }
