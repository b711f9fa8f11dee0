"""What a host's connections look like: six numbers (Chen 2012, 8.4.1), made comparable between sites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from mayfly.arrays import Booleans, Floats
from mayfly.errors import MayflyError
from mayfly.profile.hosts import ROLES, answered
from mayfly.profile.roles.instances import Attribute, Instances

FEATURES = ("incnx", "outcnx", "dportin", "dportout", "fanin", "fanout")
"""Connections answered and opened, distinct destination ports of them, distinct hosts they come from and go to."""

CLASSES = tuple(sorted(ROLES))
"""Client and server."""

NORMALISATIONS = ("linear", "student", "none")
"""How a feature is set in relation to those of the other hosts of its trace."""

LEAST_CONNECTIONS = 10
"""Fewest connections a host is judged by: with fewer the share of the answered ones has an error above 0.16."""


def host_features(frame: pl.DataFrame, hosts: Iterable[str]) -> pl.DataFrame:
    """Measure the features of hosts.

    Parameters
    ----------
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Connections.
    hosts : iterable of str
        Addresses of the site.

    Returns
    -------
    polars.DataFrame, shape (n_hosts, 9)
        ``host``, the :data:`FEATURES`, ``connections`` (incnx + outcnx) and ``bytes`` of all connections of the host,
        ordered by address. Incoming are connections the host answered; a refused or unanswered one makes no server.
        Outgoing are all it tried to open: that is what a scanner does. A host that appears only in connections it did
        not answer has zeros.

    Examples
    --------
    >>> from mayfly.workload.capture import connections
    >>> found = host_features(connections("captures/office.pcap.gz")[0], ["10.10.0.11"])
    >>> found.select(FEATURES).row(0)
    (0, 91, 0, 3, 0, 4)
    """
    named = pl.DataFrame({"host": sorted(set(hosts))}, schema={"host": pl.String})
    # ICMP has types and codes in place of ports, which do not identify a service, and other protocols have none.
    frame = frame.filter(pl.col("protocol").is_in(["tcp", "udp"]))
    incoming = frame.filter(answered()).group_by(pl.col("responder").alias("host"))
    outgoing = frame.group_by(pl.col("opener").alias("host"))
    found = incoming.agg(
        pl.len().cast(pl.Int64).alias("incnx"),
        pl.col("responder_port").n_unique().cast(pl.Int64).alias("dportin"),
        pl.col("opener").n_unique().cast(pl.Int64).alias("fanin"),
    )
    sent = outgoing.agg(
        pl.len().cast(pl.Int64).alias("outcnx"),
        pl.col("responder_port").n_unique().cast(pl.Int64).alias("dportout"),
        pl.col("responder").n_unique().cast(pl.Int64).alias("fanout"),
    )
    volume = pl.concat(
        frame.select(
            pl.col(end).alias("host"), (pl.col("opener_wire_bytes") + pl.col("responder_wire_bytes")).alias("bytes")
        )
        for end in ("opener", "responder")
    )
    joined = named.join(found, on="host", how="left").join(sent, on="host", how="left")
    joined = joined.join(volume.group_by("host").agg(pl.col("bytes").sum()), on="host", how="left").fill_null(0)
    total = (pl.col("incnx") + pl.col("outcnx")).alias("connections")
    return joined.select("host", *FEATURES, total, "bytes").sort("host")


def enough(features: pl.DataFrame, least: int) -> Booleans:
    """Whether hosts have enough connections to be judged, shape (n_hosts,).

    Raises
    ------
    MayflyError
        ``least`` is below 1.
    """
    if least < 1:
        raise MayflyError(f"least connections = {least}: must be at least 1")
    return (features["connections"] >= least).to_numpy()


def normalised(values: Floats, how: str) -> Floats:
    """Set each feature in relation to the other hosts.

    Parameters
    ----------
    values : array_like, shape (n_hosts, n_features)
        Of one trace.
    how : str
        ``linear``: (x - min) / (max - min); ``student``: (x - mean) / s with divisor n - 1; ``none``.

    Returns
    -------
    numpy.ndarray, shape (n_hosts, n_features)
        A feature that is the same everywhere becomes 0.

    Raises
    ------
    MayflyError
        ``how`` is none of these.

    Examples
    --------
    >>> normalised([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0]], "linear").tolist()
    [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]]
    >>> normalised([[0.0], [2.0], [4.0]], "student").ravel().tolist()
    [-1.0, 0.0, 1.0]
    """
    values = np.asarray(values, dtype=float)
    if how not in NORMALISATIONS:
        raise MayflyError(f"normalisation = {how}: must be {', '.join(NORMALISATIONS)}")
    if how == "none" or not len(values):
        return values
    if how == "linear":
        origin, unit = values.min(axis=0), np.ptp(values, axis=0)
    else:
        origin = values.mean(axis=0)
        unit = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
    result: Floats = np.divide(values - origin, unit, out=np.zeros_like(values), where=unit > 0)
    return result


def instances_of(features: pl.DataFrame, roles: Mapping[str, str], how: str) -> Instances:
    """Make instances of hosts.

    Parameters
    ----------
    features : polars.DataFrame
        Of :func:`host_features`, of hosts with enough connections.
    roles : mapping of str
        Known roles; other hosts have none.
    how : str
        As for :func:`normalised`.

    Returns
    -------
    Instances
        A row for each host, in their order.
    """
    values = normalised(features.select(FEATURES).to_numpy(), how)
    labels = [CLASSES.index(roles[host]) if host in roles else -1 for host in features["host"]]
    return Instances(tuple(map(Attribute, FEATURES)), CLASSES, values, np.array(labels, dtype=int))
