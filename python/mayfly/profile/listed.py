"""What `mayfly profile --connections` writes, from captures to the file without a table in Python.

Principle: a capture of a million packets is read in a tenth of the time that the libraries for tables take to import.
So the compiled module reads, tells the classes and writes; connections beyond what memory holds wait in a file. Roles
that are given, trains and tables of connections are for :mod:`mayfly.profile.listing`, which says the same of the rest.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.limits import Look
from mayfly.show.notebook import Result
from mayfly.text.folder import filled
from mayfly.text.parquet import is_parquet
from mayfly.text.waiting import WaitingFolder
from mayfly.workload.account import account_of, cannot_answer, others
from mayfly.workload.reading import ReadOptions, most_connections, most_hosts, most_open
from mayfly.workload.sieve import noted, read_through, sieve_sentences

if TYPE_CHECKING:
    from mayfly.profile.listing import Listing
    from mayfly.profile.shards import ShardFolder, Sharding

CONNECTIONS = "connections.parquet"


@dataclass(frozen=True, eq=False, repr=False)
class Listed(Result):
    """Connections of captures with their classes, not yet written.

    Parameters
    ----------
    sources : tuple of str
        Names of the files.
    counts, dataset, site : dict
        Of the document.
    """

    sources: tuple[str, ...]
    counts: dict[str, Any]
    dataset: dict[str, Any]
    site: dict[str, Any]
    _rows: Any = field(repr=False)
    _folder: tempfile.TemporaryDirectory[str] | ShardFolder = field(repr=False)
    """Of the connections that wait in files, as long as they are asked for."""
    _lost: int = field(default=0, repr=False)
    """Connections that were answered and given up, and wait in no file."""

    def document(self) -> dict[str, Any]:
        """What was captured, for JSON, as :meth:`mayfly.profile.listing.Listing.document`."""
        return {
            "captures": list(self.sources),
            "counts": others(self.counts),
            "account": [account_of(self.counts, self.sources)],
            "dataset": self.dataset,
            "site": self.site,
        }

    def tables(self) -> Sequence[object]:
        """What the terminal shows."""
        from mayfly.profile.terminal import dataset_table

        return [dataset_table(self.document())]

    def sentences(self) -> list[str]:
        """Whose hosts are whose, in words."""
        from mayfly.profile.sentences import site_sentences, summed_up
        from mayfly.workload.copies import copies_sentence

        document = self.document()
        found = [
            *cannot_answer(document["account"]),
            *site_sentences(document),
            *summed_up(self.counts, listed=not self._lost),
        ]
        found += sieve_sentences(self.counts)
        return found if (copies := copies_sentence(self.counts)) is None else [*found, copies]

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Write ``connections.parquet``, as :meth:`mayfly.profile.listing.Listing.write`; rows that left early first.

        Parameters
        ----------
        folder : path
            Created when absent.

        Returns
        -------
        dict of str
            Its path by its name.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        with filled(folder, (CONNECTIONS,)) as partial:
            path = partial / CONNECTIONS
            try:
                self._rows.write(path, json.dumps(self.counts))
            except OSError as error:
                raise MayflyError(f"{os.fspath(folder)}: {error}") from None
        return {"connections": os.path.join(folder, CONNECTIONS)}


def listed(
    captures: Sequence[str | os.PathLike[str]],
    *,
    internal: Sequence[str] | None = None,
    hosts: str | os.PathLike[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    trains: bool = False,
    sharding: Sharding | None = None,
    progress: Callable[[float], None] | None = None,
    filter: str | None = None,
    anonymize: bool | bytes | None = None,
) -> Listed | Listing:
    """Read captures into connections, and tell their classes.

    Parameters
    ----------
    captures, internal, hosts, model, trains, sharding, progress
        As :func:`mayfly.profile.listing.listing`.
    filter, anonymize
        As for :func:`mayfly.profile.answer.profile`.

    Returns
    -------
    Listed or Listing
        The latter of tables, and where trains or roles are asked for.

    Raises
    ------
    MayflyError
        As there.

    Examples
    --------
    >>> found = listed(["captures/office.pcap.gz"], internal=["10.10.0.0/24"])
    >>> found.dataset["connections"], found.site["networks"]
    (707, ['10.10.0.0/24'])
    """
    with read_through(filter, anonymize) as sieve:
        near = sieve.internal(internal)
        return _listed(captures, near, hosts, model, trains=trains, sharding=sharding, progress=progress)


def _listed(
    captures: Sequence[str | os.PathLike[str]],
    internal: list[str] | None,
    hosts: str | os.PathLike[str] | None,
    model: str | os.PathLike[str] | None,
    *,
    trains: bool,
    sharding: Sharding | None,
    progress: Callable[[float], None] | None,
) -> Listed | Listing:
    names = [os.fspath(path) for path in captures]
    tables = any(name != "-" and is_parquet(name) for name in names)
    if not names or hosts is not None or model is not None or trains or tables:
        from mayfly.profile.listing import listing

        return listing(
            captures,
            internal=internal,
            hosts=hosts,
            model=model,
            trains=trains,
            sharding=sharding,
            progress=progress,
        )
    stopped, folder, rows = _rows(names, internal) if sharding is None else _rows_of_shards(names, internal, sharding)
    told = json.loads(rows.answer())
    counts = noted(told["counts"])
    counts["stopped"] = stopped if counts["stopped"] else None
    if counts["evicted"]:
        # Others that were given up wait in a file, and are rows all the same.
        counts["lost"] = told["lost"] + counts["unanswered"]["connections"]
    sources = tuple("standard input" if name == "-" else Path(name).name for name in names)
    if not told["dataset"]["connections"]:
        from mayfly.workload.doubts import why_nothing

        raise MayflyError(f"{', '.join(sources)}: no connection to profile: {why_nothing(counts)}")
    if progress is not None:
        progress(1.0)
    dataset = {"date": _date(counts["first_epoch_s"]), "duration_s": counts["duration_s"], **told["dataset"]}
    return Listed(sources, counts, dataset, told["site"], rows, folder, told["lost"])


def _rows(names: list[str], networks: list[str] | None) -> tuple[Any, tempfile.TemporaryDirectory[str], Any]:
    """Where reading was stopped, the folder of what left early, and the rows."""
    folder = WaitingFolder()
    look = Look(names, gives_up=True)
    options = ReadOptions(max_flows=most_open(), max_held=most_connections()).for_files(names)
    left = os.path.join(folder.name, "left.parquet")
    try:
        rows = _native.list_capture(names, options, look, networks, left, most_hosts())
    except ValueError as error:
        raise MayflyError(" ".join(str(error).split())) from None
    except OSError as error:
        raise MayflyError(f"{folder.name}: connections that do not fit into memory cannot be kept: {error}") from None
    look.end()
    return look.stopped, folder, rows


def _rows_of_shards(names: list[str], networks: list[str] | None, sharding: Sharding) -> tuple[Any, ShardFolder, Any]:
    """The same by many processes."""
    from mayfly.profile.shards import read_shards, told_of

    read = read_shards(names, sharding)
    try:
        rows = _native.list_shards(read.folders, told_of(read), networks)
    except ValueError as error:
        read.place.remove()
        raise MayflyError(" ".join(str(error).split())) from None
    except OSError as error:
        read.place.remove()
        raise MayflyError(f"{read.place.name}: shards that were read are damaged: {error}") from None
    return read.counts["stopped"], read.place, rows


def _date(first_epoch_s: float | None) -> str | None:
    from datetime import UTC, datetime

    return None if first_epoch_s is None else datetime.fromtimestamp(first_epoch_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
