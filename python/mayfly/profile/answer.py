"""What `mayfly profile` answers: everything of Chen 2012, 8.2 and 8.3, from one table of connections."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.arrays import Floats
from mayfly.profile.classes import composition, directions
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
from mayfly.profile.fitting import BOOTSTRAP, Fit, differ, fits_document, fits_of
from mayfly.profile.link import LinkGuess, link_guess
from mayfly.profile.listing import CONNECTIONS, TRAINS, Listing, listing
from mayfly.profile.load import across_bins, bin_width, load_by_class, load_document, totals
from mayfly.profile.overview import overview
from mayfly.profile.periods import SHORTEST, TESTS, Period, periods_document, periods_of
from mayfly.profile.ratios import host_traffic, ratios_document
from mayfly.profile.round_trips import round_trips_document
from mayfly.profile.sides import Sides
from mayfly.profile.table import Connections
from mayfly.profile.traffic import Traffic, traffic_of
from mayfly.text.folder import filled, write_table
from mayfly.workload.capture import near_side

if TYPE_CHECKING:
    from mayfly.profile.shards import Sharding

FITTED = ("size_bytes", "gap_s", "duration_s")
"""What laws are fitted to; the paper fits the first two."""

FEWEST = 8
"""Fewest values laws are fitted to."""

FILES = ("report.html", "profile.json", CONNECTIONS, "hosts.parquet")
"""What is written."""


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Listing):
    """A profile.

    Parameters
    ----------
    connections, frame, sides, roles, roles_from
        Of the :class:`mayfly.profile.listing.Listing`.
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
    not_fitted : dict of dict of str
        By the same measures why a law could not be fitted.
    traffic, guess : Traffic and LinkGuess, optional
        What crossed the boundary of the site when, and what it says of the link; None for a table of connections.
    """

    bin_s: float
    load: pl.DataFrame
    hosts: pl.DataFrame
    samples: dict[str, pl.DataFrame]
    periods: list[Period]
    fits: dict[str, list[Fit]]
    not_fitted: dict[str, dict[str, str]]
    traffic: Traffic | None
    guess: LinkGuess | None

    def _shown(self) -> list[Any]:
        from mayfly.show.notebook import steps
        from mayfly.text.readable import rate_text

        rates = [float(rate_bps) for rate_bps in totals(self.load, "class")["all"]]
        title = f"Bits per second in bins of {self.bin_s:g} s"
        drawn = [steps(title, rates, self.bin_s, rate_text(max(rates)))] if len(rates) > 1 else []
        return [*drawn, *super()._shown()]

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
        frame = self.frame
        sizes = self.samples["size_bytes"]["value"].to_numpy()
        starts = self.load["start_s"].unique().sort().to_numpy()
        gaps = gaps_within(frame, "side") | gaps_within(frame, "class")
        return {
            **super().document(),
            "link": overview(frame, self.connections.volumes, self.traffic, self.guess),
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
            "not_fitted": {name: reasons for name, reasons in self.not_fitted.items() if reasons},
            "hosts": ratios_document(self.hosts),
        }

    def fitted(self, name: str) -> Floats:
        """Values of a measure that laws are fitted to: those above 0."""
        return positive(self.samples[name]["value"].to_numpy())[0]

    def tables(self) -> Sequence[object]:
        """What the terminal shows first: sentences and tables of at most 40 lines with what follows."""
        from mayfly.profile.terminal import first_tables

        return first_tables(self.document())

    def details(self) -> Sequence[object]:
        """What the terminal shows on request: classes, connections, laws and tests."""
        from mayfly.profile.sentences import profile_sentences
        from mayfly.profile.terminal import profile_tables

        return [*profile_tables(self.document()), *profile_sentences(self.document())]

    def sentences(self) -> list[str]:
        """What stands out, in words."""
        from mayfly.profile.sentences import first_sentences

        return first_sentences(self.document())

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
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
        from mayfly.profile.page import write_profile_page

        names = FILES if self.connections.trains is None else (*FILES, TRAINS)
        with filled(folder, names) as partial:
            write_profile_page(partial / "report.html", self)
            (partial / "profile.json").write_text(json.dumps(self.document(), allow_nan=False), encoding="utf-8")
            self.fill(partial)
            write_table(self.hosts, partial / "hosts.parquet")
        return {name.partition(".")[0]: os.path.join(folder, name) for name in names}


def profile(
    captures: Sequence[str | os.PathLike[str]] | Connections,
    *,
    internal: Sequence[str] | None = None,
    hosts: str | os.PathLike[str] | Mapping[str, str] | None = None,
    model: str | os.PathLike[str] | None = None,
    bin_s: float | None = None,
    bootstrap: int = BOOTSTRAP,
    seed: int = 1,
    trains: bool = False,
    sharding: Sharding | None = None,
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
    bin_s : float, optional
        Width of a bin of the load, s; that of :func:`mayfly.profile.load.bin_width` when absent.
    bootstrap : int
        Samples for the p of the fits, from 0.
    seed : int
        Of these samples.
    trains : bool
        Keep the trains of the connections, for :meth:`Profile.write`.
    sharding : Sharding, optional
        Captures are read by many processes (:mod:`mayfly.profile.shards`); by this one when absent.
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

    listed = listing(
        captures,
        internal=internal,
        hosts=hosts,
        model=model,
        trains=trains,
        volumes=True,
        sharding=sharding,
        progress=part(0, 0.5),
    )
    read, frame, sides, roles = listed.connections, listed.frame, listed.sides, listed.roles
    bin_s = bin_width(read.duration_s) if bin_s is None else bin_s
    load = load_by_class(frame, read.duration_s, bin_s)
    values = samples(frame)
    fits: dict[str, list[Fit]] = {}
    not_fitted: dict[str, dict[str, str]] = {}
    for place, name in enumerate(FITTED):
        usable = positive(values[name]["value"].to_numpy())[0]
        if len(usable) >= FEWEST and not differ(usable):
            not_fitted[name] = {"every law": "all values are equal"}
        elif len(usable) >= FEWEST:
            begin = 0.5 + place / (2 * len(FITTED))
            further = part(begin, begin + 1 / 6)
            reasons = not_fitted[name] = {}
            fits[name] = fits_of(usable, bootstrap=bootstrap, seed=seed, progress=further, not_fitted=reasons)
    whole = totals(load, "class")["all"]
    # A last bin that the capture does not fill is no load to compare.
    if read.duration_s % bin_s and len(whole) > 1:
        whole = whole[:-1]
    periods = periods_of(whole) if len(whole) >= SHORTEST else []
    of_hosts = host_traffic(frame, sides, roles)
    traffic = _traffic(read, sides)
    guess = None if traffic is None else link_guess(read.frame, traffic)
    return Profile(
        read,
        frame,
        sides,
        roles,
        listed.roles_from,
        bin_s,
        load,
        of_hosts,
        values,
        periods,
        fits,
        not_fitted,
        traffic,
        guess,
    )


def _traffic(read: Connections, sides: Sides) -> Traffic | None:
    if read.volumes is None:
        return None
    # Whole sites are told apart for the tables of hosts; a link may lie inside one.
    near, found_by = (sides.internal, "given") if sides.how == "given" else near_side(read.frame)
    return traffic_of(
        read.frame,
        read.volumes,
        width_s=read.counts["volume_width_s"],
        duration_s=read.duration_s,
        near=near,
        found_by=found_by,
        whole=not read.counts["volumes_left_out"],
    )
