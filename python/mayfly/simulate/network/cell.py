"""Wireless cells between scenarios, flow lists and the native simulator."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Integers
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.scenario.edca import CATEGORIES
from mayfly.scenario.scenario import Scenario, Workload
from mayfly.scenario.wlan import Wlan
from mayfly.simulate.network.dumbbell import check_sides
from mayfly.simulate.network.protocol import Alone, CellTables, Settings
from mayfly.simulate.tables import IN_CELL
from mayfly.workload.hosts import Hosts

DEFAULT_CATEGORY = "be"
"""Of flows whose group has none."""


@dataclass(frozen=True)
class Cell:
    """The cell of a scenario.

    Parameters
    ----------
    wlan : Wlan
        Section ``[network.wlan]``.
    """

    wlan: Wlan

    @property
    def rate_bps(self) -> int:
        """Speed of the fastest station's data on the air, bit/s."""
        return self.wlan.fastest_bps

    @property
    def fastest_bps(self) -> float:
        """The same: no path exceeds it."""
        return self.wlan.fastest_bps

    byte_ns = 0.0
    """A segment's time too much, of 300 or more."""

    path_columns = ("station", "category")

    together = None
    """The cell has so many stations."""

    def workload_hosts(self, given: Workload) -> tuple[Hosts, Hosts]:
        """Hosts behind the access point, and the stations."""
        return self.hosts(given.senders)

    def ends(self, source: str | None, sink: str | None) -> None:
        """There are two groups only, as in a dumbbell."""
        return check_sides(source, sink)

    def hosts(self, wired: int) -> tuple[range, range]:
        """Hosts of a synthetic workload: as many behind the access point as asked, and the stations, from 0 on."""
        stations = self.wlan.stations
        return range(stations, stations + wired), range(stations)

    def pairs(self, given: Workload) -> Iterator[tuple[int, int]]:
        """A wired host and a station for each user in turn.

        Yields
        ------
        src, dst : int
            Of :meth:`hosts`.

        Raises
        ------
        MayflyError
            There are more users than stations.
        """
        senders, stations = self.hosts(given.senders)
        yield from zip(itertools.cycle(senders), stations, strict=False)
        raise MayflyError(f"users of the workload: must be at most {len(stations)} in all, as network.wlan.stations")

    def numbers(self, flows: pl.DataFrame) -> tuple[Integers, Integers]:
        """Numbers of the end points of flows, of wired hosts and of stations apart.

        Parameters
        ----------
        flows : polars.DataFrame, shape (n_flows, ...)
            With ``src``, ``dst`` and ``direction``.

        Returns
        -------
        src, dst : ndarray, shape (n_flows,), uint32
            Hosts of the stations' side that are all whole numbers below the number of stations are the stations of
            these numbers; else they are the stations in order of their names, whole numbers by value.

        Raises
        ------
        MayflyError
            More stations than the cell has.
        """
        up = flows["direction"] == "up"
        is_up = up.to_numpy()
        wired = _ranks(flows["src"].zip_with(~up, flows["dst"]))
        station = self._stations(flows["dst"].zip_with(~up, flows["src"]))
        return np.where(is_up, station, wired), np.where(is_up, wired, station)

    def _stations(self, names: pl.Series) -> Integers:
        distinct, most = names.unique(), self.wlan.stations
        if names.dtype.is_integer() and distinct.is_between(0, most - 1).all():
            return names.cast(pl.UInt32).to_numpy()
        if len(distinct) > most:
            raise MayflyError(
                f"{len(distinct)} stations in the flow list: must be at most {most}, as network.wlan.stations"
            )
        return _ranks(names)

    def stations(self, flows: pl.DataFrame) -> Integers:
        """Number of the station of each flow.

        Parameters
        ----------
        flows : polars.DataFrame, shape (n_flows, ...)
            As for :meth:`numbers`.

        Returns
        -------
        ndarray, shape (n_flows,), uint32
            From 0 on.
        """
        src, dst = self.numbers(flows)
        return np.where((flows["direction"] == "up").to_numpy(), src, dst)

    def category_of(self, flows: pl.DataFrame) -> list[int]:
        """Access category of each flow, by its group.

        Parameters
        ----------
        flows : polars.DataFrame, shape (n_flows, ...)
            A normalised flow list.

        Returns
        -------
        list of int, shape (n_flows,) or (0,)
            Places in ``CATEGORIES``; empty in plain DCF.
        """
        if not self.wlan.edca:
            return []
        places = {group: CATEGORIES.index(name) for group, name in self.wlan.categories.items()}
        groups = flows.get_column("group", default=pl.repeat(None, flows.height, dtype=pl.String, eager=True))
        distinct = groups.unique()
        other = CATEGORIES.index(DEFAULT_CATEGORY)
        found = pl.Series([places.get(group, other) for group in distinct], dtype=pl.UInt8)
        return groups.replace_strict(distinct, found).to_list()

    @cached_property
    def _alike(self) -> Integers:
        """For each station the first one with equal rate: alone in the cell they are the same."""
        rates = self.wlan.station_rates
        return np.array([rates.index(rate) for rate in rates], dtype=np.uint32)

    def paths(self, flows: pl.DataFrame) -> pl.DataFrame:
        """The flows with ``station`` and ``category``: flows with equal ones are equal alone."""
        categories = self.category_of(flows) or [0] * flows.height
        return flows.with_columns(
            station=pl.Series(self._alike[self.stations(flows)]), category=pl.Series(categories, dtype=pl.UInt8)
        )

    def records(self, flows: pl.DataFrame, outcomes: pl.DataFrame) -> dict[str, pl.Series]:
        """What the records of flows in a cell have beside those of others.

        Parameters
        ----------
        flows : polars.DataFrame, shape (n_flows, ...)
            The list that was run.
        outcomes : polars.DataFrame, shape (n_flows, ...)
            Native table ``flows``.

        Returns
        -------
        dict of polars.Series, each of shape (n_flows,)
            ``station``, ``presence_s`` and ``warm_up_bytes`` of docs/tables.md.
        """
        return {
            "station": pl.Series(self.stations(flows), dtype=pl.Int64),
            **outcomes.select(IN_CELL).to_dict(),
        }

    def settings(self, compared: Discipline, full_packet_bytes: int, flows: pl.DataFrame | None = None) -> Settings:
        """The cell as the native module takes it, with the categories of flows where they are given."""
        wlan = self.wlan.native([] if flows is None else self.category_of(flows))
        return {"graph": None, "wlan": wlan, "traces": [None, None]}

    def cell(self, native: CellTables | None, counters: Mapping[str, Any]) -> dict[str, Any] | None:
        """Totals of the cell: :func:`totals`."""
        return totals(native, counters)

    def interfaces(self, native: pl.DataFrame, counters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """None: the medium has the totals of :meth:`cell`."""
        return []

    def alone(self, transfers: pl.DataFrame, settings: Settings) -> Iterator[Alone]:
        """In parts by category; ``transfers`` have a station and a category."""
        flows = transfers.with_columns(src=pl.lit(0), dst=pl.lit(0))
        for (category,), part in flows.with_row_index("at").partition_by("category", as_dict=True).items():
            station, up = part["station"].to_numpy(), (part["direction"] == "up").to_numpy()
            ends = (np.where(up, station, 0).astype(np.uint32), np.where(up, 0, station).astype(np.uint32))
            native = self.wlan.native([])
            wlan = native | {"categories": [native["categories"][category]]}
            yield Alone(part["at"].to_list(), {"wlan": wlan}, part, ends)


def _ranks(hosts: pl.Series) -> Integers:
    """Index of each host among the distinct ones, numbers by value, names as text; few are distinct."""
    distinct = hosts.unique()
    return hosts.replace_strict(distinct, (distinct.rank("dense") - 1).cast(pl.UInt32)).to_numpy()


def cell_of(scenario: Scenario) -> Cell | None:
    """The cell of a scenario.

    Parameters
    ----------
    scenario : Scenario
        With a network.

    Returns
    -------
    Cell or None
        None without ``[network.wlan]``.
    """
    return None if scenario.network.wlan is None else Cell(scenario.network.wlan)


def totals(native: CellTables | None, counters: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a cell did, in seconds.

    Parameters
    ----------
    native : tuple of polars.DataFrame, or None
        Native tables ``cell`` and ``nodes``.
    counters : mapping
        Native totals of the run: they say how long it was.

    Returns
    -------
    dict or None
        After the warm-up: ``seconds`` counted; ``busy_s`` in which the medium was taken; ``data_arrivals``,
        ``data_drops``, ``ack_arrivals``, ``ack_drops``, packets at the access point's queue; ``nodes``, for each
        measure a list with the access point first, then the stations: ``attempts``, ``retries``, ``collided``,
        ``damaged``, ``acked``, ``given_up`` (frames), ``acked_bytes`` (of IP), ``accesses``, ``airtime_s``.
        None without a cell.
    """
    if native is None:
        return None
    cell, nodes = native
    return {
        "seconds": max(counters["end_ns"] - counters["begin_ns"], 1) * 1e-9,
        **cell.row(0, named=True),
        "nodes": nodes.to_dict(as_series=False),
    }
