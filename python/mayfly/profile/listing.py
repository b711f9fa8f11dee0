"""Connections of captures, each with its class: what `mayfly profile` counts, and all that `--connections` writes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.profile.classes import dataset
from mayfly.profile.table import Connections, names_of, read_connections, read_profiled
from mayfly.show.notebook import Result
from mayfly.text.folder import filled
from mayfly.workload.account import account_of, cannot_answer, others
from mayfly.workload.columns import Columns, columns_of, hosts_of_ends
from mayfly.workload.doubts import why_nothing
from mayfly.workload.sides import Sides, counted

if TYPE_CHECKING:
    import polars as pl

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
    columns : Columns, shape (n_connections, n_columns)
        Of :func:`mayfly.profile.classes.classified`.
    sides : Sides
        Of the hosts.
    roles : mapping of str
        Of the hosts of the site.
    roles_from : str
        ``hosts file``, ``model``, ``hosts file and model`` or ``balance``.
    """

    connections: Connections
    columns: Columns
    sides: Sides
    roles: Mapping[str, str]
    roles_from: str

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The connections with their classes as a table."""
        return self.columns.frame

    def _in_short(self) -> str:
        names = [os.path.basename(source) for source in self.connections.sources]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{names[0]}{more}, {self.columns.height:,} connections in {self.connections.duration_s:.4g} s"

    def document(self) -> dict[str, Any]:
        """What was captured, for JSON: ``captures``, ``counts``, ``dataset`` and ``site`` of ``profile.json``."""
        read = self.connections
        return {
            "captures": list(read.sources),
            "counts": others(read.counts),
            "account": [account_of(read.counts, read.sources)],
            "dataset": dataset(self.columns, self.sides, read.duration_s, read.first_epoch_s),
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
        from mayfly.workload.copies import copies_sentence
        from mayfly.workload.sieve import sieve_sentences

        copies = copies_sentence(self.connections.counts)
        document = self.document()
        found = [*cannot_answer(document["account"]), *site_sentences(document), *([] if copies is None else [copies])]
        return [*found, *sieve_sentences(self.connections.counts)]

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
        path, read = os.path.join(folder, CONNECTIONS), self.connections.carried
        if isinstance(read, _native.CaptureProfile):
            try:
                read.write(path, json.dumps(self.connections.counts))
            except OSError as error:
                raise MayflyError(f"{path}: {error}") from None
            return
        from mayfly.text.folder import write_table
        from mayfly.workload import connections as kept

        kept.write_connections(self.frame, self.connections.counts, path)
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
    whole: bool = False,
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
    whole : bool
        Whether connections that nobody answered are rows, however many they are.

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
    if not isinstance(captures, Connections) and hosts is None and model is None and not trains:
        names, tables = names_of(captures)
        if not tables and sharding is None:
            read, site = read_profiled(names, internal, volumes=volumes, unanswered=whole)
            if progress is not None:
                progress(1.0)
            return _told(read, site)
    if isinstance(captures, Connections):
        read = captures
    else:
        read = read_connections(captures, progress=progress, trains=trains, volumes=volumes, sharding=sharding)
    from mayfly.profile.classes import classified
    from mayfly.workload.sides import sides_of

    _refuse_nothing(read)
    sides = sides_of(read.frame, internal)
    roles, roles_from = _roles(read.frame, sides, hosts, model)
    return Listing(read, columns_of(classified(read.frame, sides, roles)), sides, roles, roles_from)


def _refuse_nothing(read: Connections) -> None:
    if not read.columns.height:
        raise MayflyError(f"{', '.join(read.sources)}: no connection to profile: {why_nothing(read.counts)}")


def _told(read: Connections, site: Mapping[str, Any]) -> Listing:
    """The listing of captures whose classes the compiled module tells."""
    _refuse_nothing(read)
    assert isinstance(read.carried, _native.CaptureProfile)
    hosts, _, _ = hosts_of_ends(read.columns)
    sides = Sides.of(hosts, read.carried.kinds(hosts), site["found_by"], site["networks"])
    return Listing(read, read.columns, sides, sides.roles, site["roles_from"])


def _roles(
    frame: pl.DataFrame,
    sides: Sides,
    hosts: str | os.PathLike[str] | Mapping[str, str] | None,
    model: str | os.PathLike[str] | None,
) -> tuple[Mapping[str, str], str]:
    """Roles of the hosts of the site, and where they come from."""
    from mayfly.profile.hosts import read_hosts

    if hosts is None and model is None:
        return sides.roles, "balance"
    known = {} if hosts is None else dict(hosts) if isinstance(hosts, Mapping) else read_hosts(hosts)
    if model is None:
        return known, "hosts file"
    from mayfly.profile.roles.features import host_features
    from mayfly.profile.roles.model import read_model

    told = read_model(model).apply(host_features(frame, sides.internal)).drop_nulls("probability")
    return dict(told.select("host", "role").iter_rows()) | known, "model" if hosts is None else "hosts file and model"
