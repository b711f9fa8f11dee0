"""Demotion thresholds of PIAS for a law, or a measurement, of flow sizes.

Principle: the link is a queue of flows with levels (:mod:`mayfly.models.queue.levels`). The time a flow spends up to
the end of a level depends on the two thresholds of that level only, so the mean over all flows is a sum over
neighbouring thresholds: the best ones are a shortest path through the candidates, found exactly and without chance.
Candidates are flow sizes, first a few over the whole range, then ever closer to the best.

Source: Bai et al. 2015, section 4.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.models.queue import levels as sharing
from mayfly.models.queue.flow_sizes import FlowSizes, ended
from mayfly.models.queue.mg1 import MG1
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table

    from mayfly.laws.sizes import SizeLaw
    from mayfly.scenario.scenario import Scenario
    from mayfly.summary_types import Accounted

MOST_LEVELS = 64
"""Levels the discipline has at most."""

TOLERANCE = 5e-4
"""Relative error of the response times in a level, where flows share it."""

COARSE, ROUNDS = 32, 5
"""Candidates over the whole range, and how often the distance of those around the best is then halved."""


def visit(queue: MG1, above: float, upto: float) -> float:
    """Mean time in a level taken as an M/M/1 queue of its own, of a flow that reaches it, in bytes.

    Notes
    -----
    T = 1 / (mu - lambda) (Bai et al. 2015, 4.1): mu is what the levels above leave of the server, in flows of the mean
    length they have in this level, lambda the flows that reach it. That makes m / (1 - R(upto)), m that mean length.
    """
    sent = float(queue.law.truncated(1, upto) - queue.law.truncated(1, above))
    return sent / float(queue.law.survival(above)) / (1 - float(queue.load(upto)))


def _shared(queue: MG1, above: float, upto: float, at: Floats) -> Floats:
    return sharing.in_level(queue, above, upto, at, TOLERANCE)


Cost = Callable[[float, float], float]
"""What a level from one threshold to the next adds to the mean over all flows."""


def _sizes_of(queue: MG1) -> FlowSizes:
    """The law of a queue that :func:`_checked` has made."""
    assert isinstance(queue.law, FlowSizes)
    return queue.law


def _own_cost(queue: MG1, weights: Floats, response: Callable[[MG1, float, float, Floats], Floats]) -> Cost:
    """Costs of a level: those of the flows that end in it."""
    law = _sizes_of(queue)

    def cost(above: float, upto: float) -> float:
        part = slice(int(law.place(above)), int(law.place(upto)))
        return float(weights[part] @ response(queue, above, upto, law.values[part]))

    return cost


def _visit_cost(queue: MG1, weights: Floats) -> Cost:
    """Costs of a level: its time, for all flows that reach it."""
    law = _sizes_of(queue)
    return lambda above, upto: visit(queue, above, upto) * float(weights[int(law.place(above)) :].sum())


OBJECTIVES: dict[str, Callable[[MG1, Floats], Cost]] = {
    "mg1": lambda queue, weights: _own_cost(queue, weights, _shared),
    "mg1-fcfs": lambda queue, weights: _own_cost(queue, weights, sharing.in_turn),
    "pias": _visit_cost,
}
"""Models of the mean: flows of a level share it, or take turns, or each level is an M/M/1 queue."""

MEASURES = ("response", "slowdown")
"""Means to be minimised: response time, and response time over transmission time."""


@dataclass(frozen=True, repr=False)
class Thresholds(Result):
    """Demotion thresholds and what the model expects of them.

    Parameters
    ----------
    thresholds_bytes : tuple of int
        Ascending: one fewer than there are levels.
    load : float
        For which they were found.
    objective, minimise : str
        Model and mean, as given to :func:`optimise`.
    mean_bytes : float
        Mean size of a flow.
    response, slowdown : float
        Mean response time, in transmission times of the mean flow, and mean slowdown.
    response_of_one_level, slowdown_of_one_level : float
        The same without thresholds.
    flows, bytes : tuple of float
        By level, the share of the flows that end in it and of the bytes that are sent in it.
    account : tuple of Accounted
        Of the flow list whose sizes these are, if there is one.
    """

    thresholds_bytes: tuple[int, ...]
    load: float
    objective: str
    minimise: str
    mean_bytes: float
    response: float
    slowdown: float
    response_of_one_level: float
    slowdown_of_one_level: float
    flows: tuple[float, ...]
    bytes: tuple[float, ...]
    account: tuple[Accounted, ...] = ()

    @property
    def discipline(self) -> str:
        """The discipline with these thresholds, as `mayfly compare` takes it."""
        return f"pias(thresholds={':'.join(map(str, self.thresholds_bytes))})"

    def document(self) -> dict[str, Any]:
        """All of it for JSON.

        Returns
        -------
        dict
            The fields of the class and ``discipline``; ``account`` where a list was read.
        """
        found = {"discipline": self.discipline} | asdict(self)
        account = list(found.pop("account"))
        return found | ({"account": account} if account else {})

    def leading(self) -> list[str]:
        """What of the flow list is missing, and what it cannot answer."""
        from mayfly.workload.account import leading

        return leading(self.account)

    def table(self) -> Table:
        """The levels as a rich table."""
        from rich import box
        from rich.table import Table

        found = Table(title=f"{self.discipline}  at load {self.load:.3g}", box=box.SIMPLE_HEAD, title_justify="left")
        for header in ("level", "bytes of a flow", "flows that end in it", "bytes sent in it"):
            found.add_column(header, justify="right")
        edges = ["0", *(f"{bytes:,}" for bytes in self.thresholds_bytes), "on"]
        for level, (flows, bytes) in enumerate(zip(self.flows, self.bytes, strict=True)):
            span = f"{edges[level]} to {edges[level + 1]}" if level + 1 < len(self.flows) else f"from {edges[level]}"
            found.add_row(str(level + 1), span, f"{flows:.1%}", f"{bytes:.1%}")
        return found

    def sentences(self) -> tuple[str, str]:
        """What the model expects, in words.

        Returns
        -------
        tuple of str
            On the mean response time and on the mean slowdown, each with that of one level.
        """
        return (
            f"expected by {self.objective}: mean response {self.response:.2f} transmission times of the mean flow, "
            f"{self.mean_bytes / 1000:,.1f} kB; {self.response_of_one_level:.2f} with one level",
            f"mean slowdown {self.slowdown:.2f}; {self.slowdown_of_one_level:.2f} with one level",
        )


def evaluate(
    sizes: FlowSizes | SizeLaw | Floats,
    thresholds_bytes: Iterable[float],
    load: float,
    *,
    objective: str = "mg1",
) -> tuple[float, float]:
    """Mean response time and mean slowdown with given thresholds.

    Parameters
    ----------
    sizes : FlowSizes or SizeLaw or array_like, shape (n_flows,)
        A law in packets of 1500 bytes, or sizes in bytes on the wire.
    thresholds_bytes : iterable of float
        Ascending, above 0, bytes; none for one level.
    load : float
        Offered load as a share of the rate, above 0, below 1.
    objective : str
        ``mg1``, ``mg1-fcfs`` or ``pias``: see :func:`optimise`.

    Returns
    -------
    response : float
        In transmission times of the mean flow.
    slowdown : float
        Mean of response time over transmission time.

    Raises
    ------
    MayflyError
        A value is outside its bounds.

    Examples
    --------
    >>> from mayfly.laws.sizes import wired
    >>> [round(mean, 2) for mean in evaluate(wired(), [30000], 0.8)]
    [3.99, 1.89]
    """
    queue, make = _checked(sizes, load, objective)
    edges, last = [0.0, *map(float, thresholds_bytes)], float(_sizes_of(queue).values[-1])
    if not all(low < high for low, high in pairwise(edges)):
        raise MayflyError(f"thresholds = {edges[1:]}: must be ascending numbers of bytes above 0")
    # Levels no flow reaches cost nothing.
    edges = [*(edge for edge in edges if edge < last), last]
    means = []
    for measure in MEASURES:
        cost = make(queue, _weights(_sizes_of(queue), measure))
        means.append(math.fsum(cost(low, high) for low, high in pairwise(edges)))
    return means[0], means[1]


def optimise(
    sizes: FlowSizes | SizeLaw | Floats,
    levels: int,
    load: float,
    *,
    objective: str = "mg1",
    minimise: str = "response",
) -> Thresholds:
    """Find the thresholds with the smallest mean.

    Parameters
    ----------
    sizes : FlowSizes or SizeLaw or array_like, shape (n_flows,)
        A law in packets of 1500 bytes, or sizes in bytes on the wire.
    levels : int
        From 2 to 64, at most the number of different sizes.
    load : float
        Offered load as a share of the rate, above 0, below 1.
    objective : str
        ``mg1``: M/G/1 queue, the flows of a level share the server. ``mg1-fcfs``: they take turns. ``pias``: each level
        is an M/M/1 queue of its own.
    minimise : str
        ``response`` or ``slowdown``.

    Returns
    -------
    Thresholds
        Sizes of flows: a flow of exactly that size ends in the level above.

    Raises
    ------
    MayflyError
        A value is outside its bounds.

    Notes
    -----
    For ``pias`` and ``response`` the best thresholds are known: 1 - R(n) = (1 - load)^(n / levels), R(n) being the load
    of the flows cut off at threshold n. Levels that serve the flow first that has sent least would make the mean the
    same whatever the thresholds: that is LAS, what many levels come to.

    Examples
    --------
    >>> from mayfly.laws.sizes import wired
    >>> found = optimise(wired(), levels=2, load=0.8)
    >>> 400_000 < found.thresholds_bytes[0] < 500_000, round(found.response, 2)
    (True, 3.38)
    """
    if minimise not in MEASURES:
        raise MayflyError(f"minimise = {minimise!r}: must be one of {', '.join(MEASURES)}")
    queue, make = _checked(sizes, load, objective)
    found = queue.law
    if not (isinstance(levels, Integral) and 2 <= levels <= MOST_LEVELS):
        raise MayflyError(f"levels = {levels!r}: must be a whole number from 2 to {MOST_LEVELS}")
    if levels > len(found.values):
        raise MayflyError(f"levels = {levels}: must be at most {len(found.values)}, the number of different sizes")
    path = _best(found.values, levels, cache(make(queue, _weights(found, minimise))))
    # Rounded up: a flow of that size is to end in the level above.
    thresholds = [math.ceil(cut) for cut in path]
    if len(set(thresholds)) < len(thresholds):
        raise MayflyError(f"levels = {levels}: must be fewer, as thresholds would fall on the same byte: {thresholds}")
    edges = [0.0, *path, float(found.values[-1])]
    means = evaluate(found, path, load, objective=objective)
    return Thresholds(
        tuple(thresholds),
        load,
        objective,
        minimise,
        found.mean,
        *means,
        *evaluate(found, [], load, objective=objective),
        flows=tuple(low - high for low, high in pairwise(map(float, queue.law.survival(np.array(edges))))),
        bytes=tuple(float(step) for step in np.diff(queue.law.truncated(1, np.array(edges))) / found.mean),
    )


def _checked(sizes: Any, load: float, objective: str) -> tuple[MG1, Callable[[MG1, Floats], Cost]]:
    if objective not in OBJECTIVES:
        raise MayflyError(f"objective = {objective!r}: must be one of {', '.join(OBJECTIVES)}")
    if not 0 < load < 1:
        raise MayflyError(f"load = {load}: must be above 0 and below 1, or the queue grows without end")
    if not isinstance(sizes, FlowSizes):
        sizes = FlowSizes.of_law(sizes) if hasattr(sizes, "cdf") else FlowSizes.of_sample(sizes)
    return MG1(sizes, load), OBJECTIVES[objective]


def _weights(sizes: FlowSizes, measure: str) -> Floats:
    result: Floats = sizes.shares / (sizes.mean if measure == "response" else sizes.values)
    return result


def _best(sizes: Floats, levels: int, cost: Cost) -> tuple[float, ...]:
    """The cheapest thresholds: over the whole range, then around what was found."""
    inner, count = sizes[:-1], max(COARSE, 2 * levels)
    coarse = _snapped(np.geomspace(inner[0], inner[-1], count), inner)
    if len(coarse) < levels - 1:
        # The sizes lie so close that many of the steps fell on the same.
        coarse = inner
    path = _cheapest([coarse] * (levels - 1), sizes[-1], cost)
    step = (inner[-1] / inner[0]) ** (1 / count)
    for _ in range(ROUNDS):
        step = math.sqrt(step)
        path = _cheapest(
            [_snapped(cut * step ** np.arange(-2, 3, dtype=float), inner) for cut in path], sizes[-1], cost
        )
    return path


def _snapped(cuts: Floats, sizes: Floats) -> Floats:
    """The next size up from each: between two sizes a threshold lets no further flow end above it."""
    result: Floats = sizes[np.unique(np.searchsorted(sizes, cuts * (1 - 1e-12)).clip(max=len(sizes) - 1))]
    return result


def _cheapest(stages: Sequence[Floats], last: float, cost: Cost) -> tuple[float, ...]:
    """The cheapest ascending path with one threshold out of each stage, from 0 to the largest size."""
    reached: dict[float, tuple[float, tuple[float, ...]]] = {0.0: (0.0, ())}
    for stage in stages:
        ways = {
            upto: [(paid + cost(above, upto), (*path, upto)) for above, (paid, path) in reached.items() if above < upto]
            for upto in stage.tolist()
        }
        reached = {upto: min(way) for upto, way in ways.items() if way}
    return min((paid + cost(above, float(last)), path) for above, (paid, path) in reached.items())[1]


def offered_by(
    scenario: Scenario,
    flows: str | os.PathLike[str] | None = None,
    accounts: list[Accounted] | None = None,
) -> tuple[FlowSizes, float]:
    """Sizes and load of what a scenario offers the forward queue.

    Parameters
    ----------
    scenario : Scenario
        Law, load, rate and packet length.
    flows : path, optional
        Flow list in place of the law and the load; its TCP flows that go down and end count.
    accounts : list, optional
        Gets the account of the list.

    Returns
    -------
    sizes : FlowSizes
        Bytes on the wire, with headers, SYN and FIN.
    load : float
        Share of the rate of the link.

    Raises
    ------
    MayflyError
        The scenario has no transfers, or the list is refused or has none.

    Examples
    --------
    >>> from mayfly.scenario.scenario import load_scenario
    >>> sizes, load = offered_by(load_scenario("wired"))
    >>> round(sizes.mean), load
    (60080, 0.8)
    """
    from mayfly.laws.sizes import BoundedPareto, BoundedZipf

    given, mss, header, rate = scenario.workload, scenario.tcp.mss, scenario.tcp.headers_bytes, scenario.network.rate
    if flows is not None:
        from mayfly.workload.formats.registry import read_flows_any
        from mayfly.workload.mix import offered

        part = partial(ended, direction="down")
        listed = part(read_flows_any(flows, mss=mss, accounts=accounts, part=part))
        mbps = offered(listed, mss=mss, header_bytes=header)["down"]["mbps"]
        return FlowSizes.of_flows(listed, mss=mss, header_bytes=header), math.inf if mbps is None else mbps * 1e6 / rate
    if given.load is None:
        raise MayflyError(f"{scenario.name}: has no transfers; name their load with --set workload.load=8mbit")
    parameters = {name: getattr(given, name) for name in ("minimum", "maximum", "mean", "cov")}
    laws: dict[str, type[BoundedZipf] | type[BoundedPareto]] = {"zipf": BoundedZipf, "pareto": BoundedPareto}
    solved = laws[given.law].solve(**{name: value for name, value in parameters.items() if value is not None})
    return FlowSizes.of_law(solved, mss=mss, header_bytes=header), given.load * (1 - given.up_share) / rate


def spelled(
    law: str, unit_bytes: float, load: float | None, flows: str | os.PathLike[str] | None = None
) -> tuple[FlowSizes, float]:
    """Sizes of a law in a line, and the load that must come with it.

    Raises
    ------
    MayflyError
        The law is refused, there is no load, or a flow list is named too.

    Examples
    --------
    >>> spelled("exponential:mean=30", 1500, 0.8)[1]
    0.8
    """
    from mayfly.laws.service_spec import service_law

    if flows is not None:
        raise MayflyError(f"flows = {flows}: must be left out where a law is given")
    if load is None:
        raise MayflyError("load: must be given with a law, such as --load 0.8")
    return FlowSizes.of_service(service_law(law), unit_bytes), load
