"""A long run cut into windows of time that run side by side, and what the cut does to its means.

Principle: window k begins an overlap early, so that the link is as busy as in the whole run when the flows begin that
count (those that start in the window), and goes on for an overlap, so that they can end. Two things tell what the cut
cost.

* Flows behind a seam run twice: at the end of one window, which has been at work for long, and at the beginning of the
  next, which has only warmed up. Their differences, flow by flow, are what a cold start does to flows behind a seam.
* A fluid twin (:mod:`mayfly.simulate.fluid`) serves the same flows uncut and cut. Its difference, times the regression
  of the packets on the fluid over windows, corrects the means: a control variate whose mean is known (Glasserman 2004,
  4.1).

Source: Heidelberger and Stone 1990 (time-parallel simulation by windows); docs/how-to/streams.md.
"""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.metrics.intervals import on_time_scale, student_t
from mayfly.models.queue.flow_records import Link
from mayfly.models.queue.jobs import Level, simulate_jobs
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.fluid import run_fluid, service_of
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import Progress
from mayfly.simulate.streamed import Source, run_stream, source_of
from mayfly.workers.job import Done
from mayfly.workers.workers import Workers, run_all
from mayfly.workers.workers import workers as workers_of
from mayfly.workload import streamed

CLASSES = 48
"""Classes of sizes, three to a factor of ten, and one of all flows behind them."""

LEAST_WINDOWS = 4
MOST_WINDOWS = 100_000


@dataclass(frozen=True)
class Window:
    """A window, s: it runs from ``begin_s`` to ``end_s``, flows that start from ``from_s`` to ``until_s`` count.

    Parameters
    ----------
    begin_s, from_s, until_s, end_s : float
        Ascending.
    mark : Mark
        Place of the first flow from ``begin_s`` on.
    """

    begin_s: float
    from_s: float
    until_s: float
    end_s: float
    mark: streamed.Mark


@dataclass(frozen=True)
class Sums:
    """What a window found.

    Parameters
    ----------
    flows, seconds : ndarray, shape (n_classes + 1,)
        Flows that count and ended, and the sum of their response times.
    fluid_flows, fluid_seconds : ndarray, shape (n_classes + 1,)
        The same of the fluid twin.
    crossing : int
        Flows that count and had not ended at the end of the window.
    early, late : polars.DataFrame, shape (n, 2)
        ``flow_id`` and ``response_time_s`` of flows that start within an overlap behind either end of the window.
    cpu_s : float
        Processor time, s.
    """

    flows: Floats
    seconds: Floats
    fluid_flows: Floats
    fluid_seconds: Floats
    crossing: int
    early: pl.DataFrame
    late: pl.DataFrame
    cpu_s: float


def windows_of(scenario: Scenario, count: int, overlap_s: float) -> list[Window]:
    """Cuts the duration of a scenario.

    Parameters
    ----------
    scenario : Scenario
        With a workload that is a stream.
    count : int
        Windows of equal length.
    overlap_s : float
        By which a window begins early and ends late, s.

    Returns
    -------
    list of Window

    Raises
    ------
    MayflyError
        Windows that cannot be.
    """
    duration_s = scenario.duration
    if not LEAST_WINDOWS <= count <= MOST_WINDOWS:
        raise MayflyError(f"windows = {count}: must be from {LEAST_WINDOWS} to {MOST_WINDOWS}")
    if not 0 < overlap_s <= duration_s / count:
        raise MayflyError(f"overlap = {overlap_s:g} s: must be above 0 and at most a window, {duration_s / count:g} s")
    source_of(scenario, None)
    given = scenario.workload
    transfers = given.drawn(network_of(scenario).ends(given.from_, given.to))
    if transfers.exact_load:
        raise MayflyError("exact_load = true: must be false where a list is cut into windows")
    edges = [duration_s * k / count for k in range(count + 1)]
    begins = [max(0.0, edge - overlap_s) for edge in edges[:-1]]
    wire = scenario.tcp.mss + scenario.tcp.headers_bytes
    found = streamed.marks(transfers, begins, duration_s, scenario.seed, wire)
    if len(found) < count:
        raise MayflyError(f"windows = {count}: must be fewer: the last of them have no flows")
    ends = [min(duration_s, edge + overlap_s) for edge in edges[1:]]
    return [Window(*row) for row in zip(begins, edges[:-1], edges[1:], ends, found, strict=True)]


def class_of(packets: Floats | Integers) -> Integers:
    """Class of sizes, as of the figures of a stream."""
    places = np.floor(np.log10(packets) * 3 + 1e-9).astype(np.int64)
    found: Integers = np.minimum(places, CLASSES - 1)
    return found


def run_window(scenario: Scenario, discipline: Discipline, window: Window) -> Sums:
    """Runs a window, by packets and as a fluid.

    Parameters
    ----------
    scenario : Scenario
        That of the whole run.
    discipline : Discipline
        Of the forward queue.
    window : Window

    Returns
    -------
    Sums
    """
    given = scenario.workload
    network = network_of(scenario)
    sides = network.workload_hosts(given)
    drawn = streamed.drawn(
        given.drawn(network.ends(given.from_, given.to)),
        duration_s=window.end_s,
        seed=scenario.seed,
        senders=sides[0],
        receivers=sides[1],
        mss=scenario.tcp.mss,
        header_bytes=scenario.tcp.headers_bytes,
        after=window.mark,
    )
    kept: list[pl.DataFrame] = []

    def shifted() -> Iterator[pl.DataFrame]:
        for flows in drawn:
            kept.append(flows.select("flow_id", "start_s", "size_bytes", "direction"))
            yield flows.with_columns(pl.col("start_s") - window.begin_s)

    records: list[pl.DataFrame] = []
    own = scenario.model_copy(update={"duration": window.end_s - window.begin_s, "warm_up": 0.0})
    wanted = ("flow_id", "size_packets", "response_time_s")
    found = run_stream(
        own, discipline, Source(shifted(), sides), taken=lambda part: records.append(part.select(wanted))
    )
    flows = pl.concat(kept).join(pl.concat(records), on="flow_id", how="left")
    counted = flows.filter(pl.col("start_s").is_between(window.from_s, window.until_s, closed="left"))
    ended = counted.drop_nulls("response_time_s")
    overlap_s = max(window.from_s - window.begin_s, window.end_s - window.until_s)
    early, late = (
        flows.filter(pl.col("start_s").is_between(at, at + overlap_s, closed="left"))
        .drop_nulls("response_time_s")
        .select("flow_id", "response_time_s")
        for at in (window.from_s, window.until_s)
    )
    cpu_s = float(found.counters["cpu_s"])
    here = _sums(ended["size_packets"].to_numpy(), ended["response_time_s"].to_numpy())
    fluid = _fluid(scenario, discipline, window, flows)
    return Sums(*here, *fluid, counted.height - ended.height, early, late, cpu_s)


def _sums(packets: Integers, seconds: Floats) -> tuple[Floats, Floats]:
    """Numbers and sums by class, those of all flows last."""
    place = class_of(packets)
    flows = np.bincount(place, minlength=CLASSES).astype(float)
    sums = np.asarray(np.bincount(place, seconds, minlength=CLASSES), dtype=float)
    return np.append(flows, flows.sum()), np.append(sums, sums.sum())


def _fluid(scenario: Scenario, discipline: Discipline, window: Window, flows: pl.DataFrame) -> tuple[Floats, Floats]:
    """Numbers and sums of the fluid twin of a window."""
    _, levels, lags = service_of(scenario, discipline)
    if lags is not None:
        raise MayflyError("discipline = lfq: has no windows: its fluid twin is too slow")
    order = [Level(name, upto) for name, upto in levels]
    mss, header = scenario.tcp.mss, scenario.tcp.headers_bytes
    network, parts = scenario.network, [np.zeros(CLASSES + 1), np.zeros(CLASSES + 1)]
    for direction, rate in (("down", network.rate), ("up", network.reverse_rate or network.rate)):
        own = flows.filter(pl.col("direction") == direction)
        if own.height == 0:
            continue
        byte_s = Link(rate, 1.0).byte_s
        packets = -(-own["size_bytes"].to_numpy() // mss)
        work = own["size_bytes"].to_numpy() + (packets + Link(rate, 1.0).control_packets) * float(header)
        starts = own["start_s"].to_numpy() - window.begin_s
        served = simulate_jobs(order, starts / byte_s, work, until=(window.end_s - window.begin_s) / byte_s)
        time_s = served.response_time * byte_s
        counts = (own["start_s"].to_numpy() >= window.from_s) & (own["start_s"].to_numpy() < window.until_s)
        counts &= np.isfinite(time_s)
        for total, part in zip(parts, _sums(packets[counts], time_s[counts]), strict=True):
            total += part
    return parts[0], parts[1]


def _uncut(scenario: Scenario, discipline: Discipline) -> dict[str, Any]:
    """Figures of the fluid twin of the whole run."""
    return run_fluid(scenario, discipline, source_of(scenario, None), path=False)[1]


@dataclass(frozen=True)
class WindowJob:
    """One window, as :mod:`mayfly.workers` takes it.

    Parameters
    ----------
    scenario : Scenario
        That of the whole run.
    discipline : Discipline
    window : Window, optional
        The fluid twin of the whole run when None.
    """

    scenario: Scenario
    discipline: Discipline
    window: Window | None

    def run(self, key: str) -> Done:
        """Runs it; a refusal is a row too.

        Parameters
        ----------
        key : str
            Its address.

        Returns
        -------
        row : dict
            ``key``, ``status``, ``error``, and ``found``: :class:`Sums`, or the figures of the twin.
        records : None
        """
        try:
            found: Sums | dict[str, Any]
            if self.window is None:
                found = _uncut(self.scenario, self.discipline)
            else:
                found = run_window(self.scenario, self.discipline, self.window)
        except (MayflyError, OSError, MemoryError) as error:
            return self.lost(key, str(error) or type(error).__name__)
        return {"key": key, "status": "done", "error": None, "found": found}, None

    def lost(self, key: str, error: str) -> Done:
        """Its row where it was not run to its end, and why."""
        return {"key": key, "status": "failed", "error": error, "found": None}, None


def run_windows(
    scenario: Scenario,
    discipline: Discipline,
    count: int,
    overlap_s: float,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    certificates: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Runs all windows, and estimates the means of the whole run.

    A worker that is lost costs the time of its windows, which run again.

    Parameters
    ----------
    scenario : Scenario
        With a workload that is a stream, without ``exact_load``.
    discipline : Discipline
        Of the forward queue; with levels of priority that play it (:func:`mayfly.simulate.fluid.service_of`).
    count : int
        Windows.
    overlap_s : float
        Of each with the next, s.
    workers, cluster, certificates
        Who runs them, as for :func:`mayfly.workers.workers.workers`; as many processes as cores when not given.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    dict
        Of :func:`estimate`, with ``cpu_s``.

    Raises
    ------
    MayflyError
        A value is refused, or a window was lost more than once.
    """
    make_workers = workers_of(workers, cluster, certificates)
    windows = windows_of(scenario, count, overlap_s)
    service_of(scenario, discipline)
    # The twin of the whole run is the longest piece of all, so it goes first.
    jobs = [WindowJob(scenario, discipline, window) for window in (None, *windows)]
    whole, *sums = _run(jobs, make_workers(), progress)
    return estimate(sums, whole) | {"overlap_s": overlap_s, "cpu_s": sum(one.cpu_s for one in sums)}


def _run(jobs: list[WindowJob], crew: Workers, progress: Progress | None) -> list[Any]:
    """What each found."""
    found: dict[int, Any] = {}
    try:
        for place, row in run_all(jobs, crew):
            if row["status"] != "done":
                raise MayflyError(f"a window could not be run: {row['error']}")
            found[place] = row["found"]
            if progress is not None:
                progress(len(found) / len(jobs))
    finally:
        crew.close()
    return [found[place] for place in range(len(jobs))]


def estimate(sums: list[Sums], whole: dict[str, Any]) -> dict[str, Any]:
    """Means of the whole run from those of its windows.

    Parameters
    ----------
    sums : list of Sums
        Of the windows in order.
    whole : dict
        Figures of the fluid twin of the whole run.

    Returns
    -------
    dict
        ``windows``; ``flows_crossing``, which count and had not ended with their window; ``seam``, what a cold start
        does to flows right behind a seam: ``flows``, ``mean_difference_s`` with ``ci95`` (Student's t over seams),
        ``mean_s`` of these flows; ``all`` and ``by_size``: ``flows``, ``windows_mean_s``, ``correction_s``,
        ``mean_s`` and ``ci95``, that of the law from which the list is drawn (Student's t over windows).
    """
    known = {int(class_of(np.array([part["from_packets"]]))[0]): part for part in whole["by_size"]}
    counts, seconds = np.array([one.flows for one in sums]), np.array([one.seconds for one in sums])
    fluid_counts, fluid = np.array([one.fluid_flows for one in sums]), np.array([one.fluid_seconds for one in sums])
    rows = []
    for place in (CLASSES, *sorted(known)):
        truth = whole["mean_s"] if place == CLASSES else known[place]["mean_s"]
        n, f = counts[:, place], fluid_counts[:, place]
        if not (n.sum() > 0 and f.sum() > 0):
            continue
        mean, twin = seconds[:, place].sum() / n.sum(), fluid[:, place].sum() / f.sum()
        off, twin_off = seconds[:, place] - mean * n, fluid[:, place] - twin * f
        spread = float(twin_off @ twin_off)
        beta = float(off @ twin_off) / spread if spread > 0 else 0.0
        correction = beta * (truth - twin)
        squares = float(off @ off) * len(sums) / (len(sums) - 1)
        half = student_t(len(sums) - 1) * math.sqrt(squares) / n.sum()
        corrected = mean + correction
        row = {
            "flows": int(n.sum()),
            "windows_mean_s": float(mean),
            "correction_s": float(correction),
            "mean_s": float(corrected),
            "ci95": on_time_scale([float(corrected - half), float(corrected + half)]),
        }
        sizes = {} if place == CLASSES else {name: known[place][name] for name in ("from_packets", "below_packets")}
        rows.append(sizes | row)
    return {
        "windows": len(sums),
        "flows_crossing": sum(one.crossing for one in sums[:-1]),
        "seam": _seam(sums),
        "all": rows[0],
        "by_size": rows[1:],
    }


def _seam(sums: list[Sums]) -> dict[str, Any]:
    """Differences of the flows that ran twice: in a window that has just begun less in one that has long."""
    means, flows, total, level = [], 0, 0.0, 0.0
    for before, behind in pairwise(sums):
        both = behind.early.join(before.late, on="flow_id", suffix="_long")
        if both.height == 0:
            continue
        difference = (both["response_time_s"] - both["response_time_s_long"]).to_numpy()
        means.append(float(difference.mean()))
        flows, total = flows + both.height, total + float(difference.sum())
        level += float(both["response_time_s_long"].to_numpy().sum())
    half = student_t(len(means) - 1) * float(np.std(means, ddof=1)) / len(means) ** 0.5 if len(means) > 1 else None
    mean = total / flows if flows else None
    centre = float(np.mean(means)) if means else 0.0
    return {
        "flows": flows,
        "mean_s": level / flows if flows else None,
        "mean_difference_s": mean,
        "ci95": None if half is None else [centre - half, centre + half],
    }
