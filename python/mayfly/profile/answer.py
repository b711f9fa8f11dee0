"""What `mayfly profile` answers: everything of Chen 2012, 8.2 and 8.3, from one table of connections."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mayfly.profile.classes import classified, composition, dataset, directions
from mayfly.profile.distributions import (
    carried_by_largest,
    gaps_within,
    positive,
    retransmission,
    samples,
    summaries,
    summary,
    unseen,
)
from mayfly.profile.fitting import BOOTSTRAP, Fit, fits_document, fits_of
from mayfly.profile.hosts import counted, read_hosts, roles_by_balance
from mayfly.profile.load import BIN_S, across_bins, load_by_class, load_document, totals
from mayfly.profile.periods import SHORTEST, TESTS, Period, periods_document, periods_of
from mayfly.profile.ratios import host_traffic, ratios_document
from mayfly.profile.round_trips import round_trips_document
from mayfly.profile.sides import Sides, sides_of
from mayfly.profile.table import Connections, read_connections
from mayfly.simulate.folder import filled, write_table
from mayfly.workload.connections import write_connections

if TYPE_CHECKING:
    from rich.table import Table

FITTED = ("size_bytes", "gap_s", "duration_s")
"""What laws are fitted to; the paper fits the first two."""

FEWEST = 8
"""Fewest values laws are fitted to."""

FILES = ("report.html", "profile.json", "connections.parquet", "hosts.parquet")
"""What is written."""


@dataclass(frozen=True, eq=False)
class Profile:
    """A profile.

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
    bin_s : float
        Width of a bin of the load, s.
    load, hosts : polars.DataFrame
        Of :func:`mayfly.profile.load.load_by_class` and :func:`mayfly.profile.ratios.host_traffic`.
    samples : dict of polars.DataFrame
        Of :func:`mayfly.profile.distributions.samples`.
    periods : list of Period
        Of the load of all classes over whole bins.
    fits : dict of list of Fit
        By measure of :data:`FITTED`; of fewer than eight values none.
    """

    connections: Connections
    frame: pl.DataFrame
    sides: Sides
    roles: Mapping[str, str]
    roles_from: str
    bin_s: float
    load: pl.DataFrame
    hosts: pl.DataFrame
    samples: dict[str, pl.DataFrame]
    periods: list[Period]
    fits: dict[str, list[Fit]]

    def document(self) -> dict[str, Any]:
        """All of it for JSON.

        Returns
        -------
        dict
            As ``docs/profile.md`` lists it; no NaN.
        """
        return self._document

    @cached_property
    def _document(self) -> dict[str, Any]:
        frame, read = self.frame, self.connections
        sizes = self.samples["size_bytes"]["value"].to_numpy()
        starts = self.load["start_s"].unique().sort().to_numpy()
        gaps = gaps_within(frame, "side") | gaps_within(frame, "class")
        return {
            "captures": list(read.sources),
            "counts": read.counts,
            "dataset": dataset(frame, self.sides, read.duration_s, read.first_epoch_s),
            "site": {
                "found_by": self.sides.how,
                "networks": list(self.sides.networks),
                "roles_from": self.roles_from,
                **counted(self.roles, self.sides),
            },
            "composition": composition(frame),
            "directions": directions(frame, self.sides, self.roles),
            "load": load_document(self.load, self.bin_s, across_bins(frame, self.bin_s)),
            "periods": {"tests": TESTS, "found": periods_document(self.periods, starts, self.bin_s)},
            "size_bytes": summaries(self.samples["size_bytes"])
            | {"carried_by_largest_5_percent": carried_by_largest(sizes)},
            "packets": summaries(self.samples["packets"]),
            "duration_s": summaries(self.samples["duration_s"]) | unseen(frame),
            "gap_s": {"all": summary(self.samples["gap_s"]["value"].to_numpy())}
            | {name: summary(values) for name, values in gaps.items()},
            "rtt_s": summaries(self.samples["rtt_s"]),
            "round_trips": round_trips_document(frame),
            "retransmission": retransmission(frame),
            "fits": {name: fits_document(fits, self.fitted(name)) for name, fits in self.fits.items()},
            "hosts": ratios_document(self.hosts),
        }

    def fitted(self, name: str) -> np.ndarray:
        """Values of a measure that laws are fitted to: those above 0."""
        return positive(self.samples[name]["value"].to_numpy())[0]

    def tables(self) -> list[Table]:
        """What the terminal shows."""
        from mayfly.report.profile_table import profile_tables

        return profile_tables(self.document())

    def sentences(self) -> list[str]:
        """What stands out, in words."""
        from mayfly.report.profile_words import profile_sentences

        return profile_sentences(self.document())

    def write(self, folder: str | os.PathLike) -> dict[str, str]:
        """Write :data:`FILES`, and ``trains.parquet`` where there are trains; they appear together or not at all.

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
        from mayfly.report import page
        from mayfly.report.profile_page import profile_page

        trains = self.connections.trains
        names = FILES if trains is None else (*FILES, "trains.parquet")
        with filled(folder, names) as partial:
            page.write(partial / "report.html", profile_page(self))
            (partial / "profile.json").write_text(json.dumps(self.document(), allow_nan=False), encoding="utf-8")
            write_connections(self.frame, self.connections.counts, partial / "connections.parquet")
            write_table(self.hosts, partial / "hosts.parquet")
            if trains is not None:
                write_table(trains, partial / "trains.parquet")
        return {name.partition(".")[0]: os.path.join(folder, name) for name in names}


def profile(
    captures: Sequence[str | os.PathLike] | Connections,
    *,
    internal: Sequence[str] | None = None,
    hosts: str | os.PathLike | Mapping[str, str] | None = None,
    model: str | os.PathLike | None = None,
    bin_s: float = BIN_S,
    bootstrap: int = BOOTSTRAP,
    seed: int = 1,
    trains: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Profile:
    """Profile captures.

    Parameters
    ----------
    captures : sequence of path, or Connections
        As :func:`mayfly.profile.table.read_connections` takes them, or what it has read.
    internal : sequence of str, optional
        CIDRs of the site; as :func:`mayfly.profile.sides.sides_of` when absent.
    hosts : path or mapping of str, optional
        Roles of the hosts of the site, or the file of them (:func:`mayfly.profile.hosts.read_hosts`); hosts that are
        not in it have an unknown role. Without these and a model, :func:`mayfly.profile.hosts.roles_by_balance`.
    model : path, optional
        Trained model of roles (:func:`mayfly.profile.roles.model.read_model`), for hosts that are not in the file;
        those with too little traffic for it have an unknown role.
    bin_s : float
        Width of a bin of the load, s.
    bootstrap : int
        Samples for the p of the fits, from 0.
    seed : int
        Of these samples.
    trains : bool
        Keep the trains of the connections, for :meth:`Profile.write`.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Profile

    Raises
    ------
    MayflyError
        As those functions; or there is no connection.
    """

    def part(begin: float, end: float) -> Callable[[float], None] | None:
        return None if progress is None else lambda fraction: progress(begin + (end - begin) * fraction)

    read = captures
    if not isinstance(captures, Connections):
        read = read_connections(captures, progress=part(0, 0.5), trains=trains)
    if not read.frame.height:
        from mayfly.errors import MayflyError

        raise MayflyError(f"{', '.join(read.sources)}: no connection to profile")
    sides = sides_of(read.frame, internal)
    roles, roles_from = _roles(read.frame, sides, hosts, model)
    frame = classified(read.frame, sides, roles)
    load = load_by_class(frame, read.duration_s, bin_s)
    values = samples(frame)
    fits: dict[str, list[Fit]] = {}
    for place, name in enumerate(FITTED):
        usable = positive(values[name]["value"].to_numpy())[0]
        if len(usable) >= FEWEST and usable.min() < usable.max():
            begin = 0.5 + place / (2 * len(FITTED))
            fits[name] = fits_of(usable, bootstrap=bootstrap, seed=seed, progress=part(begin, begin + 1 / 6))
    whole = totals(load, "class")["all"]
    # A last bin that the capture does not fill is no load to compare.
    if read.duration_s % bin_s and len(whole) > 1:
        whole = whole[:-1]
    periods = periods_of(whole) if len(whole) >= SHORTEST else []
    traffic = host_traffic(frame, sides, roles)
    return Profile(read, frame, sides, roles, roles_from, bin_s, load, traffic, values, periods, fits)


def _roles(
    frame: pl.DataFrame,
    sides: Sides,
    hosts: str | os.PathLike | Mapping[str, str] | None,
    model: str | os.PathLike | None,
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
