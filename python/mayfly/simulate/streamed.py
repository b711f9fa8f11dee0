"""A run of a stream of flows: memory follows the flows that are alive, and the summary is made of counts and sketches.

The run is that of the whole list, event by event (``crates/netsim/src/sim/streamed.rs``); flows come in batches
(:mod:`mayfly.workload.streamed`), records leave in batches, in the order in which the last packet of each flow ended.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from mayfly import _native
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate import columns, queue_delay
from mayfly.simulate.network.dumbbell import Dumbbell
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import Progress
from mayfly.simulate.settings import native_settings
from mayfly.simulate.tables import FLOWS
from mayfly.workload import streamed
from mayfly.workload.hosts import Hosts

T = TypeVar("T")

ABOVE = 2_000_000
"""Expected transfers of a workload from which on a run is one of a stream unless it is asked for as a list."""


@dataclass(frozen=True)
class StreamRun:
    """One discipline on a stream.

    Parameters
    ----------
    discipline : Discipline
        What ran.
    figures : dict
        Counts, means and quantiles (docs/tables.md).
    counters : dict
        Totals of the run after its warm-up.
    samples : polars.DataFrame, shape (n_samples, ...)
        Time series of the forward queue.
    """

    discipline: Discipline
    figures: dict[str, Any]
    counters: dict[str, Any]
    samples: pl.DataFrame = field(repr=False)


@dataclass(frozen=True)
class Source:
    """Where the flows of a stream come from.

    Parameters
    ----------
    batches : iterable of polars.DataFrame
        Normalised flow lists, ascending by start.
    sides : pair of sequences
        All hosts of either side of the link.
    """

    batches: Iterable[pl.DataFrame]
    sides: tuple[Hosts, Hosts]


def source_of(scenario: Scenario, flows: Path | None) -> Source:
    """The flows of a file, or those that the scenario draws.

    Parameters
    ----------
    scenario : Scenario
        A dumbbell.
    flows : path, optional
        A flow list, CSV or Parquet.

    Returns
    -------
    Source

    Raises
    ------
    MayflyError
        A file that cannot be read, or a scenario that has no stream.
    """
    refuse(scenario)
    mss = scenario.tcp.mss
    if flows is not None:
        file = streamed.File(flows, mss, scenario.duration)
        return Source(file, file.hosts())
    given, network = scenario.workload, network_of(scenario)
    from mayfly.workload.sources.registry import SOURCES

    if not given.has_transfers or any(getattr(given, kind) for kind in SOURCES):
        raise MayflyError("workload: must have transfers of one law and nothing else in a stream")
    sides = network.workload_hosts(given)
    batches = streamed.drawn(
        given.drawn(network.ends(given.from_, given.to)),
        duration_s=scenario.duration,
        seed=scenario.seed,
        senders=sides[0],
        receivers=sides[1],
        mss=mss,
        header_bytes=scenario.tcp.headers_bytes,
    )
    return Source(batches, sides)


def refuse(scenario: Scenario) -> None:
    """Refuses a scenario that has no stream.

    Raises
    ------
    MayflyError
        It has another network than a dumbbell, or asks for what belongs to single flows.
    """
    if not isinstance(network_of(scenario), Dumbbell):
        raise MayflyError("network: must be a dumbbell in a run of a stream")
    network = scenario.network
    refused = {
        "network.symmetric": network.symmetric or None,
        "network.shaper": "given" if network.shaper is not None else None,
        "probes": "given" if scenario.probes.any else None,
        "mark_of": "given" if scenario.mark_of else None,
        "trace": ", ".join(scenario.trace) or None,
        "subflows": "true" if scenario.subflows else None,
        "nonresponsive": ", ".join(scenario.nonresponsive) or None,
        "replications": scenario.replications if scenario.replications > 1 else None,
    }
    for name, value in refused.items():
        if value is not None:
            raise MayflyError(f"{name} = {value}: must be left out of a run of a stream")


def has_stream(scenario: Scenario) -> bool:
    """Whether the workload of a scenario can be drawn as a stream."""
    try:
        source_of(scenario, None)
    except MayflyError:
        return False
    return True


def attended(run: Callable[[], T], control: _native.Control, duration_s: float, progress: Progress | None) -> T:
    """What a run in a thread of its own gives; it is told how far it is, and an interrupt ends it.

    Parameters
    ----------
    run : callable
        Runs to the end, or until ``control`` is told to stop.
    control : mayfly._native.Control
        Of that run.
    duration_s : float
        Its simulated time, s.
    progress : callable, optional
        Called with the fraction done.

    Raises
    ------
    MayflyError
        The simulator refuses.
    """
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(run)
        try:
            while not wait([pending], timeout=0.1).done:
                if progress is not None:
                    progress(min(control.reached_s / duration_s, 1.0))
        except BaseException:
            control.cancel()
            raise
        try:
            return pending.result()
        except ValueError as error:
            raise MayflyError(str(error)) from None


def run_stream(
    scenario: Scenario,
    discipline: Discipline,
    source: Source,
    *,
    taken: Callable[[pl.DataFrame], None] | None = None,
    progress: Progress | None = None,
) -> StreamRun:
    """Runs one discipline on a stream.

    Parameters
    ----------
    scenario : Scenario
        Network and transport.
    discipline : Discipline
        Of the forward queue.
    source : Source
        The flows.
    taken : callable, optional
        Called with flow records (docs/tables.md, without ``slowdown``) in batches.
    progress : callable, optional
        Called several times a second with the fraction done.

    Returns
    -------
    StreamRun

    Raises
    ------
    MayflyError
        A value is refused.
    KeyboardInterrupt
        After an interrupt.
    """
    full_packet = scenario.tcp.mss + scenario.tcp.headers_bytes
    settings = native_settings(scenario, discipline, scenario.seed)
    kept = Kept(scenario, discipline, taken) if taken is not None else None
    control = _native.Control()

    def given() -> Iterator[dict[str, Any]]:
        for flows in source.batches:
            if kept is not None:
                kept.begin(flows)
            yield columns.native_flows(flows, full_packet, streamed.numbers(flows, source.sides))

    def run() -> tuple[dict[str, Any], str, float]:
        began = time.thread_time()
        hosts = [len(side) for side in source.sides]
        found, figures = _native.run_streamed(
            json.dumps(settings), hosts, given(), control, None if kept is None else kept.end
        )
        return found, figures, time.thread_time() - began

    found, figures, cpu_s = attended(run, control, scenario.duration, progress)
    counters = queue_delay.taken(pl.DataFrame(found["counters"]).row(0, named=True)) | {"cpu_s": cpu_s}
    seconds = max(counters["end_ns"] - counters["begin_ns"], 1) * 1e-9
    down, up = (counters[name] * 8 / seconds for name in ("sent_bytes", "reverse_sent_bytes"))
    counters |= {
        "utilisation": down / settings["rate_bps"],
        "throughput_down_mbps": down / 1e6,
        "throughput_up_mbps": up / 1e6,
        "reverse_utilisation": up / (settings["reverse_rate_bps"] or settings["rate_bps"]),
    }
    labels = {"discipline": pl.lit(discipline.label), "replication": pl.lit(0, dtype=pl.Int32)}
    return StreamRun(discipline, json.loads(figures), counters, pl.DataFrame(found["samples"]).with_columns(**labels))


class Kept:
    """The batches of a stream that have flows alive, and the records of those that are not.

    Parameters
    ----------
    scenario : Scenario
        What runs.
    discipline : Discipline
        Of the forward queue.
    taken : callable
        Gets the records.
    """

    def __init__(self, scenario: Scenario, discipline: Discipline, taken: Callable[[pl.DataFrame], None]):
        self._mss, self._label, self._taken = scenario.tcp.mss, discipline.label, taken
        self._begun = 0
        # First place of each batch that has flows alive, the batch, and how many of its flows there are records of.
        self._batches: dict[int, tuple[pl.DataFrame, int]] = {}

    def begin(self, flows: pl.DataFrame) -> None:
        """A batch begins."""
        self._batches[self._begun] = (flows, 0)
        self._begun += flows.height

    def end(self, places: "_native.Table", records: "_native.Table") -> None:
        """Puts records and flows together, and forgets the batches that have no flow left."""
        outcomes = pl.DataFrame(records).with_columns(pl.DataFrame(places)["place"]).sort("place")
        parts, ended = [], []
        for first, (flows, over) in self._batches.items():
            own = outcomes.filter(pl.col("place").is_between(first, first + flows.height - 1))
            if own.height == 0:
                continue
            parts.append(flows[own["place"] - first])
            self._batches[first] = (flows, over + own.height)
            if over + own.height == flows.height:
                ended.append(first)
        for first in ended:
            del self._batches[first]
        records_of = columns.records_frame(pl.concat(parts), outcomes.drop("place"), self._mss)
        labels = {"discipline": pl.lit(self._label), "replication": pl.lit(0, dtype=pl.Int32)}
        self._taken(columns.begun(records_of).with_columns(slowdown=pl.lit(None, pl.Float64), **labels))


class RecordsFile:
    """``flows.parquet`` of a stream, a row group for each batch of records.

    Parameters
    ----------
    path : path
        Where it is written.
    """

    def __init__(self, path: Path):
        self._file = _native.ParquetBatches(path, sorted(FLOWS.metadata().items()))

    def write(self, records: pl.DataFrame) -> None:
        """Writes a batch."""
        self._file.write(records.rechunk())

    def close(self) -> None:
        """Writes the end."""
        self._file.close()


def expected_transfers(scenario: Scenario) -> float:
    """Transfers that the workload of a scenario draws, about; 0 where it has none.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    float
    """
    from mayfly.workload.arrivals import arrival_rate

    given = scenario.workload
    if not given.has_transfers or given.load is None:
        return 0.0
    mean = given.drawn(None).law.mean_packets()
    if not mean < math.inf:
        return 0.0
    return arrival_rate(given.load, mean * (scenario.tcp.mss + scenario.tcp.headers_bytes)) * scenario.duration
