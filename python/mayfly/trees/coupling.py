"""Where circuits have to be simulated together: in nodes that what their circuits send fills.

Principle. Each circuit is simulated alone first, with its own ceiling only. What left it is added up at every node
above it, in intervals of a few milliseconds. A node that serves at its ceiling would have kept back

    w(k) = max(0, w(k - 1) + sent(k) - ceil * interval)

of it at the end of interval k. While no bucket of any node is empty, a simulation of the whole tree goes the very same
way: by induction over its events, the first that differs would be a packet that a node keeps back, and none does. A
node in which the time ``w / ceil`` exceeds `TOLERANCE_S` at any moment is *full*: all its circuits are simulated
together, under it and the nodes in it, and what leaves them then counts above. So the nodes are looked at from the
bottom up. In a node that is not full a packet waits for less than `TOLERANCE_S` and one interval, by this sum; that TCP
would have felt such a wait is left out.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.discipline_registry import Discipline
from mayfly.scenario.scenario import Scenario
from mayfly.scenario.tree import Circuit, Node, Tree
from mayfly.simulate.network.tree import CIRCUIT
from mayfly.simulate.run import Progress
from mayfly.trees.subtree_run import Outcome, Part, simulated
from mayfly.trees.tables import CIRCUITS, NODES

TOLERANCE_S = 0.001
"""A node that would keep a packet back for longer is full."""

MOST_BINS = 30_000
LEAST_BIN_S = 0.001

PER_PART = 64
"""Circuits that are alone and make one simulation."""

Flows = Callable[[Sequence[Circuit]], pl.DataFrame]
"""Gives the flows of some circuits, with their column `CIRCUIT`; the same whenever it is asked."""


def bin_of(duration_s: float) -> float:
    """Length of the intervals in which departures are counted, s.

    Examples
    --------
    >>> bin_of(10.0), bin_of(60.0)
    (0.001, 0.002)
    """
    return max(LEAST_BIN_S, duration_s / MOST_BINS)


def kept_back(sent: Integers, ceil_bps: float, bin_s: float) -> Floats:
    """Time for which a node would keep packets back at the end of each interval.

    Parameters
    ----------
    sent : ndarray, shape (n_bins,)
        What came to it in each, bytes.
    ceil_bps : float
        What it serves, bit/s.
    bin_s : float
        Length of an interval, s.

    Returns
    -------
    ndarray, shape (n_bins,)
        Seconds.

    Examples
    --------
    >>> kept_back(np.array([1000, 3000, 0, 0]), 8e6, 0.002).tolist()
    [0.0, 0.001, 0.0, 0.0]
    """
    # Reflected at zero: the sum less its least value so far.
    walk = np.cumsum(sent * 8.0 - ceil_bps * bin_s)
    return np.asarray((walk - np.minimum(np.minimum.accumulate(walk), 0.0)) / ceil_bps)


@dataclass(frozen=True)
class Layout:
    """A tree with what is above and below each node.

    Parameters
    ----------
    tree : Tree
    """

    tree: Tree
    nodes: dict[str, Node] = field(init=False)
    circuits: dict[str, list[Circuit]] = field(init=False)
    children: dict[str, list[Node]] = field(init=False)
    depth: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        nodes = {node.name: node for node in self.tree.node}
        depth: dict[str, int] = {}
        for node in self.tree.node:
            depth[node.name] = 0 if node.parent is None else depth[node.parent] + 1
        below: dict[str, list[Circuit]] = {name: [] for name in nodes}
        for circuit in self.tree.circuit:
            for name in above(nodes, circuit.parent):
                below[name].append(circuit)
        children: dict[str, list[Node]] = {name: [] for name in nodes}
        for node in self.tree.node:
            if node.parent is not None:
                children[node.parent].append(node)
        for name, value in (("nodes", nodes), ("circuits", below), ("children", children), ("depth", depth)):
            object.__setattr__(self, name, value)

    def under(self, top: str) -> Part:
        """The circuits in a node, and the nodes that they share up to it."""
        inside = {top}
        for node in self.tree.node:
            if node.parent in inside:
                inside.add(node.name)
        return Part(tuple(self.circuits[top]), tuple(node for node in self.tree.node if node.name in inside))


def above(nodes: dict[str, Node], name: str | None) -> Iterator[str]:
    """A node and those it is in, from the bottom."""
    while name is not None:
        yield name
        name = nodes[name].parent


@dataclass
class Found:
    """What came out under one discipline.

    Parameters
    ----------
    layout : Layout
    discipline : Discipline
    bins : int
        Intervals in which departures are counted.
    bin_s : float
        Length of each, s.
    rows : list of (str or None, polars.DataFrame)
        Rows of circuits, and the full node they were simulated under.
    direct : dict of ndarray, each of shape (n_bins,)
        Bytes that left the circuits right in a node, each alone, by node and direction.
    sent : dict of ndarray
        Bytes that left a node.
    nodes : dict of dict
        By node: ``full``, and of each direction ``wait``, ``peak`` and ``utilisation``.
    """

    layout: Layout
    discipline: Discipline
    bins: int
    bin_s: float
    rows: list[tuple[str | None, pl.DataFrame]] = field(default_factory=list)
    direct: dict[tuple[str, bool], Integers] = field(default_factory=dict)
    sent: dict[tuple[str, bool], Integers] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take_alone(self, part: Part, outcome: Outcome) -> None:
        """Takes circuits that were simulated alone."""
        self.rows.append((None, outcome.rows))
        parents = {circuit.name: circuit.parent for circuit in part.circuits}
        of = pl.col(CIRCUIT).replace_strict(parents, default=None, return_dtype=pl.String)
        own = outcome.departures.with_columns(of.alias("node")).filter(pl.col("node").is_not_null())
        for (node, up), rows in own.partition_by("node", "up", as_dict=True).items():
            key = (str(node), bool(up))
            self.direct[key] = self._of(self.direct, key) + self._binned(rows)

    def take_together(self, top: str, outcome: Outcome) -> None:
        """Takes the circuits of a full node, in place of what was there before."""
        inside = pl.col(CIRCUIT).is_in(outcome.rows[CIRCUIT].to_list())
        self.rows = [(node, rows.filter(~inside)) for node, rows in self.rows] + [(top, outcome.rows)]
        for up in (False, True):
            self.sent[top, up] = self._binned(outcome.departures.filter(pl.col("up") == up))

    def is_full(self, node: Node) -> bool:
        """Looks at a node, all below which were looked at."""
        told: dict[str, Any] = {"full": False}
        inner = [child.name for child in self.layout.children[node.name]]
        for up, way in ((False, "down"), (True, "up")):
            came = self._of(self.direct, (node.name, up)).copy()
            for child in inner:
                # It is not asked for again.
                came += self.sent.pop((child, up))
            ceil_bps = node.shares(up)[1]
            back_s = float(kept_back(came, ceil_bps, self.bin_s).max(initial=0.0))
            per_second = max(round(1 / self.bin_s), 1)
            seconds = np.add.reduceat(came, np.arange(0, self.bins, per_second))
            told |= {
                f"wait_{way}_s": back_s,
                f"peak_{way}": float(seconds.max(initial=0)) * 8 / ceil_bps,
                f"utilisation_{way}": float(came.sum()) * 8 / ceil_bps / (self.bins * self.bin_s),
            }
            told["full"] |= back_s > TOLERANCE_S
            self.sent[node.name, up] = came
        self.nodes[node.name] = told
        return bool(told["full"])

    def _of(self, kept: dict[tuple[str, bool], Integers], key: tuple[str, bool]) -> Integers:
        found = kept.get(key)
        return np.zeros(self.bins, np.uint32) if found is None else found

    def _binned(self, rows: pl.DataFrame) -> Integers:
        sums = np.bincount(rows["bin"].to_numpy(), weights=rows["bytes"].to_numpy(), minlength=self.bins)
        return sums[: self.bins].astype(np.uint32)

    def circuits(self) -> pl.DataFrame:
        """A row per circuit, in the order of the tree."""
        label = self.discipline.label
        frames = [rows.with_columns(together=pl.lit(node, pl.String)) for node, rows in self.rows if rows.height]
        shares = [
            (circuit.name, circuit.parent, circuit.shares(False)[1], circuit.shares(True)[1])
            for circuit in self.layout.tree.circuit
        ]
        heads = ("circuit", "parent", "ceil_down_bps", "ceil_up_bps")
        known = pl.DataFrame(
            shares, schema=dict(zip(heads, (pl.String, pl.String, pl.Int64, pl.Int64), strict=True)), orient="row"
        )
        seconds = self.bins * self.bin_s
        found = known.join(pl.concat(frames), on=CIRCUIT, how="left", maintain_order="left").with_columns(
            discipline=pl.lit(label), marks=pl.col("marks_down") + pl.col("marks_up")
        )
        found = found.with_columns(
            (pl.col(f"bytes_{way}") * 8 / pl.col(f"ceil_{way}_bps") / seconds).alias(f"utilisation_{way}")
            for way in ("down", "up")
        ).with_columns(
            (pl.col(f"peak_bytes_{way}").fill_null(0) * 8 / pl.col(f"ceil_{way}_bps")).alias(f"peak_{way}")
            for way in ("down", "up")
        )
        counts = ("flows", "unfinished", "short_flows", "pings")
        found = found.with_columns(pl.col(counts).fill_null(0), pl.col("ping_lost").fill_null(0.0))
        return found.select(pl.col(name).cast(kind) for name, kind in CIRCUITS.schema.items())

    def table_of_nodes(self) -> pl.DataFrame:
        """A row per node, in the order of the tree."""
        rows = [
            {
                "node": node.name,
                "parent": node.parent,
                "discipline": self.discipline.label,
                "circuits": len(self.layout.circuits[node.name]),
                "ceil_down_bps": node.shares(False)[1],
                "ceil_up_bps": node.shares(True)[1],
                **self.nodes[node.name],
            }
            for node in self.layout.tree.node
        ]
        return pl.DataFrame(rows, schema=NODES.schema)


@dataclass
class _Job:
    """A simulation that is to be done."""

    found: Found
    part: Part
    top: str | None
    control: "_native.Control" = field(default_factory=_native.Control)


def simulate(
    scenario: Scenario,
    disciplines: Sequence[Discipline],
    flows: Flows,
    progress: Progress | None = None,
    workers: int | None = None,
    per_part: int = PER_PART,
) -> list[Found]:
    """Run a tree under every discipline, in parts.

    Parameters
    ----------
    scenario : Scenario
        With a tree.
    disciplines : sequence of Discipline
    flows : callable
        Gives the flows of some circuits.
    progress : callable, optional
        Called with the fraction done; nodes that turn out to be full add to what is to be done.
    workers : int, optional
        Threads; as many as processors when not given.
    per_part : int
        Circuits alone that make one simulation.

    Returns
    -------
    list of Found
        One of each discipline.

    Raises
    ------
    MayflyError
        A value is refused.
    KeyboardInterrupt
        After an interrupt; all runs have stopped.
    """
    tree = scenario.network.tree
    # Whoever calls this has made one.
    assert tree is not None
    layout = Layout(tree)
    bin_s = bin_of(scenario.duration)
    bins = max(int(np.ceil(scenario.duration / bin_s)), 1)
    found = [Found(layout, discipline, bins, bin_s) for discipline in disciplines]
    parts = [Part(tree.circuit[at : at + per_part]) for at in range(0, len(tree.circuit), per_part)]
    meter = _Meter(progress, len(tree.circuit) * len(disciplines))
    with _Pool(scenario, flows, meter, workers) as pool:
        for job, outcome in pool.done([_Job(each, part, None) for part in parts for each in found]):
            job.found.take_alone(job.part, outcome)
        for level in sorted({*layout.depth.values()}, reverse=True):
            nodes = [node for node in tree.node if layout.depth[node.name] == level]
            full = [(each, node) for each in found for node in nodes if each.is_full(node)]
            jobs = [_Job(each, layout.under(node.name), node.name) for each, node in full]
            # The largest first: they decide when all are done.
            jobs.sort(key=lambda job: -len(job.part.circuits))
            meter.total += sum(len(job.part.circuits) for job in jobs)
            for job, outcome in pool.done(jobs):
                # A full job has its node.
                assert job.top is not None
                job.found.take_together(job.top, outcome)
    return found


class _Meter:
    """Fraction of the circuits done; it does not go back when there are more to do."""

    def __init__(self, progress: Progress | None, total: int):
        self.progress, self.total, self.done, self.told = progress, total, 0.0, 0.0

    def tell(self, running: float) -> None:
        self.told = max(self.told, min((self.done + running) / max(self.total, 1), 1.0))
        if self.progress is not None:
            self.progress(self.told)


class _Pool:
    """Threads that simulate; the native code releases the interpreter lock."""

    def __init__(self, scenario: Scenario, flows: Flows, meter: _Meter, workers: int | None):
        self._scenario, self._flows, self._meter = scenario, flows, meter
        self._workers = workers or os.cpu_count() or 1
        self._threads = ThreadPoolExecutor(self._workers)
        self._running: list[_Job] = []

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *error: object) -> None:
        for job in self._running:
            job.control.cancel()
        self._threads.shutdown(wait=not any(error), cancel_futures=True)

    def _run(self, job: _Job) -> Outcome:
        flows = self._flows(job.part.circuits)
        return simulated(self._scenario, job.found.discipline, job.part, flows, job.found.bin_s, job.control)

    def done(self, jobs: Sequence[_Job]) -> Iterator[tuple[_Job, Outcome]]:
        """The jobs as they end. Few wait for a thread at a time, so that few results wait to be taken."""
        waiting = list(reversed(jobs))
        pending: dict[Future[Outcome], _Job] = {}
        self._running = list(jobs)
        while waiting or pending:
            while waiting and len(pending) < 2 * self._workers:
                job = waiting.pop()
                pending[self._threads.submit(self._run, job)] = job
            ended, _ = wait(pending, timeout=0.2, return_when="FIRST_COMPLETED")
            for future in ended:
                job = pending.pop(future)
                outcome = future.result()
                self._meter.done += len(job.part.circuits)
                yield job, outcome
            span = self._scenario.duration
            self._meter.tell(sum(len(job.part.circuits) * job.control.reached_s / span for job in pending.values()))
