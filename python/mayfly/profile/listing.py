"""Connections of captures, each with its class: what `mayfly profile` counts, and all that `--connections` writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.profile.classes import classified, dataset
from mayfly.profile.hosts import counted, read_hosts, roles_by_balance
from mayfly.profile.sides import Sides, sides_of
from mayfly.profile.table import Connections, read_connections
from mayfly.show.notebook import Result
from mayfly.text.folder import filled, write_table
from mayfly.workload import connections as kept
from mayfly.workload.connections import write_connections

if TYPE_CHECKING:
    from mayfly.profile.shards import Sharding

CONNECTIONS, TRAINS = "connections.parquet", "trains.parquet"
"""What is written; the second where trains were asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Listing(Result):
    """Connections with their classes.

    Parameters
    ----------
    connections : Connections
        As read.
    frame : polars.DataFrame, shape (n_connections, n_columns)
        Of :func:`mayfly.profile.classes.classified`.
    sides : Sides
        Of the hosts.
    roles : mapping of str
        Of the hosts of the site.
    roles_from : str
        ``hosts file``, ``model``, ``hosts file and model`` or ``balance``.
    """

    connections: Connections
    frame: pl.DataFrame
    sides: Sides
    roles: Mapping[str, str]
    roles_from: str

    def _in_short(self) -> str:
        names = [os.path.basename(source) for source in self.connections.sources]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{names[0]}{more}, {self.frame.height:,} connections in {self.connections.duration_s:.4g} s"

    def document(self) -> dict[str, Any]:
        """What was captured, for JSON: ``captures``, ``counts``, ``dataset`` and ``site`` of ``profile.json``."""
        read = self.connections
        return {
            "captures": list(read.sources),
            "counts": read.counts,
            "dataset": dataset(self.frame, self.sides, read.duration_s, read.first_epoch_s),
            "site": {
                "found_by": self.sides.how,
                "networks": list(self.sides.networks),
                "roles_from": self.roles_from,
                **counted(self.roles, self.sides),
            },
        }

    def tables(self) -> Sequence[object]:
        """What the terminal shows."""
        from mayfly.profile.terminal import dataset_table

        return [dataset_table(self.document())]

    def sentences(self) -> list[str]:
        """Whose hosts are whose, in words."""
        from mayfly.profile.sentences import site_sentences

        return site_sentences(self.document())

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Write ``connections.parquet``, and ``trains.parquet`` where there are trains, together or not at all.

        Parameters
        ----------
        folder : path
            Created when absent.

        Returns
        -------
        dict of str
            Paths by name without ending.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        names = (CONNECTIONS,) if self.connections.trains is None else (CONNECTIONS, TRAINS)
        with filled(folder, names) as partial:
            self.fill(partial)
        return {name.partition(".")[0]: os.path.join(folder, name) for name in names}

    def fill(self, folder: os.PathLike[str]) -> None:
        """Write the files into a folder that is there."""
        write_connections(self.frame, self.connections.counts, os.path.join(folder, CONNECTIONS))
        if self.connections.trains is not None:
            write_table(self.connections.trains, os.path.join(folder, TRAINS), metadata=kept.TRAINS.metadata())


def listing(
    captures: Sequence[str | os.PathLike[str]] | Connections,
    *,
    internal: Sequence[str] | None = None,
    hosts: str | os.PathLike[str] | Mapping[str, str] | None = None,
    model: str | os.PathLike[str] | None = None,
    trains: bool = False,
    volumes: bool = False,
    sharding: Sharding | None = None,
    progress: Callable[[float], None] | None = None,
) -> Listing:
    """Read captures into connections, and tell their classes.

    Parameters
    ----------
    captures, internal, hosts, model, trains, sharding, progress
        As :func:`mayfly.profile.answer.profile`.
    volumes : bool
        Keep what each direction carried when, of captures.

    Returns
    -------
    Listing

    Raises
    ------
    MayflyError
        As there.

    Examples
    --------
    >>> found = listing(["captures/office.pcap.gz"], internal=["10.10.0.0/24"])
    >>> found.frame.height, found.document()["site"]["networks"]
    (707, ['10.10.0.0/24'])
    """
    if isinstance(captures, Connections):
        read = captures
    else:
        read = read_connections(captures, progress=progress, trains=trains, volumes=volumes, sharding=sharding)
    if not read.frame.height:
        raise MayflyError(f"{', '.join(read.sources)}: no connection to profile: {kept.why_nothing(read.counts)}")
    sides = sides_of(read.frame, internal)
    roles, roles_from = _roles(read.frame, sides, hosts, model)
    return Listing(read, classified(read.frame, sides, roles), sides, roles, roles_from)


def _roles(
    frame: pl.DataFrame,
    sides: Sides,
    hosts: str | os.PathLike[str] | Mapping[str, str] | None,
    model: str | os.PathLike[str] | None,
) -> tuple[dict[str, str], str]:
    """Roles of the hosts of the site, and where they come from."""
    if hosts is None and model is None:
        return roles_by_balance(frame, sides), "balance"
    known = {} if hosts is None else dict(hosts) if isinstance(hosts, Mapping) else read_hosts(hosts)
    if model is None:
        return known, "hosts file"
    from mayfly.profile.roles.features import host_features
    from mayfly.profile.roles.model import read_model

    told = read_model(model).apply(host_features(frame, sides.internal)).drop_nulls("probability")
    return dict(told.select("host", "role").iter_rows()) | known, "model" if hosts is None else "hosts file and model"
