"""What `mayfly profile` answers: everything of Chen 2012, 8.2 and 8.3, from one table of connections."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mayfly.arrays import Floats
from mayfly.profile.classes import composition, directions
from mayfly.profile.distributions import (
    Sample,
    carried_by_largest,
    gaps_within,
    grouped_summaries,
    positive,
    retransmission,
    sampled,
    summaries,
    unseen,
)
from mayfly.profile.fitting import BOOTSTRAP, Fit, differ, fits_document, fits_of
from mayfly.profile.link import LinkGuess, link_guess
from mayfly.profile.listing import CONNECTIONS, TRAINS, Listing, listing
from mayfly.profile.load import Loads, across_bins, bin_width, load_document, loads_by_class, totals
from mayfly.profile.overview import overview
from mayfly.profile.periods import SHORTEST, TESTS, Period, periods_document, periods_of
from mayfly.profile.ratios import HostTraffic, ratios_document, traffic_of_hosts
from mayfly.profile.round_trips import round_trips_document
from mayfly.profile.table import Connections
from mayfly.profile.traffic import Traffic, traffic_of
from mayfly.text.folder import filled
from mayfly.workload.sides import Sides, near_of_site
from mayfly.workload.sieve import read_through
from mayfly.workload.udp_share import UdpShare, udp_share

if TYPE_CHECKING:
    import polars as pl

    from mayfly.profile.shards import Sharding

FITTED = ("size_bytes", "gap_s", "duration_s")
"""What laws are fitted to; the paper fits the first two."""

FEWEST = 8
"""Fewest values laws are fitted to."""

FILES = ("report.html", "profile.json", CONNECTIONS, "hosts.parquet")
"""What is written."""


@dataclass(frozen=True, eq=False, repr=False)
class Loaded(Listing):
    """Connections with their classes, and the load over time.

    Parameters
    ----------
    connections, columns, sides, roles, roles_from
        Of the :class:`mayfly.profile.listing.Listing`.
    bin_s : float
        Width of a bin of the load, s.
    loads : Loads
        Of :func:`mayfly.profile.load.loads_by_class`.
    periods : list of Period
        Of the load of all classes over whole bins.
    """

    bin_s: float
    loads: Loads
    periods: list[Period]

    @cached_property
    def load(self) -> pl.DataFrame:
        """Load as :func:`mayfly.profile.load.load_by_class` returns it."""
        return self.loads.frame

    @classmethod
    def of(cls, listed: Listing, bin_s: float | None = None) -> Loaded:
        """Of connections; ``bin_s`` as of :func:`profile`."""
        read, table = listed.connections, listed.columns
        bin_s = bin_width(read.duration_s) if bin_s is None else bin_s
        loads = loads_by_class(table, read.duration_s, bin_s)
        whole = totals(loads, "class")["all"]
        # A last bin that the capture does not fill is no load to compare.
        if read.duration_s % bin_s and len(whole) > 1:
            whole = whole[:-1]
        periods = periods_of(whole) if len(whole) >= SHORTEST else []
        return Loaded(read, table, listed.sides, listed.roles, listed.roles_from, bin_s, loads, periods)


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Loaded):
    """A profile.

    Parameters
    ----------
    connections, columns, sides, roles, roles_from, bin_s, loads, periods
        Of the :class:`Loaded`.
    host_traffic : HostTraffic
        Of :func:`mayfly.profile.ratios.traffic_of_hosts`.
    sampled : dict of Sample
        Of :func:`mayfly.profile.distributions.sampled`.
    fits : dict of list of Fit
        By measure of :data:`FITTED`; of fewer than eight values none.
    not_fitted : dict of dict of str
        By the same measures why a law could not be fitted.
    traffic, guess : Traffic and LinkGuess, optional
        What crossed the boundary of the site when, and what it says of the link; None for a table of connections.
    """

    host_traffic: HostTraffic
    sampled: dict[str, Sample]
    fits: dict[str, list[Fit]]
    not_fitted: dict[str, dict[str, str]]
    traffic: Traffic | None
    guess: LinkGuess | None

    @cached_property
    def hosts(self) -> pl.DataFrame:
        """Traffic of hosts as :func:`mayfly.profile.ratios.host_traffic` returns it."""
        return self.host_traffic.frame

    @cached_property
    def samples(self) -> dict[str, pl.DataFrame]:
        """Values of each measure as :func:`mayfly.profile.distributions.samples` returns them."""
        return {name: sample.frame for name, sample in self.sampled.items()}

    def _shown(self) -> list[Any]:
        from mayfly.show.notebook import steps
        from mayfly.text.readable import rate_text

        rates = [float(rate_bps) for rate_bps in totals(self.loads, "class")["all"]]
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
        table, values = self.columns, {name: sample.values for name, sample in self.sampled.items()}
        gaps = gaps_within(table, "side") | gaps_within(table, "class")
        return {
            **super().document(),
            "udp": self.udp.document(),
            "link": overview(table, self.traffic, self.guess),
            "composition": composition(table),
            "directions": directions(table, self.sides, self.roles),
            "load": load_document(self.loads, self.bin_s, across_bins(table, self.bin_s)),
            "periods": {"tests": TESTS, "found": periods_document(self.periods, self.loads.starts, self.bin_s)},
            "size_bytes": summaries(self.sampled["size_bytes"])
            | {"carried_by_largest_5_percent": carried_by_largest(values["size_bytes"])},
            "packets": summaries(self.sampled["packets"]),
            "duration_s": summaries(self.sampled["duration_s"]) | unseen(table),
            "gap_s": grouped_summaries(values["gap_s"], gaps),
            "rtt_s": summaries(self.sampled["rtt_s"]),
            "round_trips": round_trips_document(table),
            "retransmission": retransmission(table),
            "fits": {name: fits_document(fits, self.fitted(name)) for name, fits in self.fits.items()},
            "not_fitted": {name: reasons for name, reasons in self.not_fitted.items() if reasons},
            "hosts": ratios_document(self.host_traffic),
        }

    @cached_property
    def udp(self) -> UdpShare:
        """Shares of QUIC and other UDP."""
        return udp_share(self.columns)

    def fitted(self, name: str) -> Floats:
        """Values of a measure that laws are fitted to: those above 0."""
        return positive(self.sampled[name].values)[0]

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
            self.host_traffic.write(partial / "hosts.parquet")
        return {name.partition(".")[0]: os.path.join(folder, name) for name in names}


def profile(
    captures: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Connections,
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
    filter: str | None = None,
    anonymize: bool | bytes | None = None,
) -> Profile:
    """Profile captures.

    Parameters
    ----------
    captures : path or sequence of path, or Connections
        As :func:`mayfly.profile.table.read_connections` takes them, or what it has read.
    internal : str or sequence of str, optional
        CIDRs of the site; as :func:`mayfly.workload.sides.sides_of` when absent.
    hosts : path or mapping of str, optional
        Roles of the hosts of the site, or the file of them (:func:`mayfly.profile.hosts.read_hosts`); hosts that are
        not in it have an unknown role. Without these and a model, those of
        :class:`mayfly.workload.sides.Sides`.
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
    filter : str, optional
        Which packets count, such as ``tcp port 443 or host 10.0.0.5`` (:func:`mayfly.workload.sieve.read_through`); all
        when absent.
    anonymize : bool or bytes, optional
        Give addresses the images that Crypto-PAn makes of them under this key of 32 bytes, or under one of this run
        alone (True). ``internal``, ``hosts`` and ``filter`` name real addresses.

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

    several = [captures] if isinstance(captures, str | os.PathLike) else captures
    listed = listing_through(
        several,
        internal=internal,
        hosts=hosts,
        model=model,
        trains=trains,
        volumes=True,
        sharding=sharding,
        progress=part(0, 0.5),
        filter=filter,
        anonymize=anonymize,
    )
    read, table, sides, roles = listed.connections, listed.columns, listed.sides, listed.roles
    loaded = Loaded.of(listed, bin_s)
    values = sampled(table)
    fits: dict[str, list[Fit]] = {}
    not_fitted: dict[str, dict[str, str]] = {}
    for place, name in enumerate(FITTED):
        usable = positive(values[name].values)[0]
        if len(usable) >= FEWEST and not differ(usable):
            not_fitted[name] = {"every law": "all values are equal"}
        elif len(usable) >= FEWEST:
            begin = 0.5 + place / (2 * len(FITTED))
            further = part(begin, begin + 1 / 6)
            reasons = not_fitted[name] = {}
            fits[name] = fits_of(usable, bootstrap=bootstrap, seed=seed, progress=further, not_fitted=reasons)
    of_hosts = traffic_of_hosts(table, sides, roles)
    traffic = _traffic(read, sides)
    guess = None if traffic is None else link_guess(read.columns, traffic)
    return Profile(
        read,
        table,
        sides,
        roles,
        listed.roles_from,
        loaded.bin_s,
        loaded.loads,
        loaded.periods,
        of_hosts,
        values,
        fits,
        not_fitted,
        traffic,
        guess,
    )


def listing_through(
    captures: Sequence[str | os.PathLike[str]] | Connections,
    *,
    internal: Sequence[str] | None,
    hosts: str | os.PathLike[str] | Mapping[str, str] | None,
    filter: str | None,
    anonymize: bool | bytes | None = None,
    **more: Any,
) -> Listing:
    """As :func:`mayfly.profile.listing.listing`, with the packets and addresses that :func:`profile` takes."""
    with read_through(filter, anonymize) as sieve:
        roles = {sieve.address(host): role for host, role in hosts.items()} if isinstance(hosts, Mapping) else hosts
        return listing(captures, internal=sieve.internal(internal), hosts=roles, **more)


def _traffic(read: Connections, sides: Sides) -> Traffic | None:
    if read.carried is None:
        return None
    # Whole sites are told apart for the tables of hosts; a link may lie inside one.
    near, found_by, crossing = near_of_site(read.columns, sides.internal, sides.how)
    return traffic_of(
        read.columns,
        read.carried,
        width_s=read.counts["volume_width_s"],
        duration_s=read.duration_s,
        near=near,
        found_by=found_by,
        whole=not read.counts["volumes_left_out"],
        crossing=crossing,
    )
