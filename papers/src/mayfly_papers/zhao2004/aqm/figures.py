"""Figures 26 to 31 of Zhao 2004 as figures: means over the replications, with LTNRF that start staggered."""

from collections.abc import Iterable
from dataclasses import replace

from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Curve, Drawn, Figure
from mayfly_papers.zhao2004.aqm.scenarios import BUFFERS, CHAPTER_4, LINKS, LOADS, MULTIPLES, NAMES, QUEUES, name_of, of

ABOUT = {
    "RED": "thresholds at 1/4 and 3/4 of the buffer",
    "RED-ECN": "the same, and TCP is marked",
    "DropTail": "what comes to a full buffer is dropped",
}
HOW = "Means over the seeds, LTNRF staggered."
PERCENT = {mice: float(load.split()[0]) for mice, load in LOADS.items()}
_DELAY, _RELATIVE = "mean queueing delay (ms)", "queueing delay over round trip"


def figures(runs: Runs | None = None) -> Iterable[Figure]:
    """All of them.

    Parameters
    ----------
    runs : Runs, optional
        With the runs of chapter IV, by their ids; one replication each of its own when not given.

    Yields
    ------
    Figure
        In the order of the dissertation.
    """
    points = Points(runs or Runs(replace(experiment, replications=1) for experiment in CHAPTER_4))
    yield points.by_buffer()
    for drawn in (points.tcp_by_delay, points.deviation_by_delay):
        yield from map(drawn, LINKS)
    yield from map(points.delay_by_capacity, MULTIPLES)
    for drawn in (points.normalised_by_load, points.delay_by_load):
        yield from map(drawn, LINKS)


class Points:
    """Points of the figures, measured when first asked for."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def _at(self, measure: str, queue: str, mbps: int, mice: int, multiple: str = "1", on_off: bool = False) -> float:
        return float(of(name_of(queue, mbps, mice, "staggered", multiple, on_off), measure)(self._runs).mean())

    def by_buffer(self) -> Figure:
        """Figure 26."""
        sizes = [BUFFERS[35][multiple] for multiple in MULTIPLES]
        curves = _curves(
            lambda queue: (sizes, [self._at("delay_ms", queue, 35, 1300, multiple) for multiple in MULTIPLES])
        )
        title = "queueing delay by buffer, 35 Mb/s, 30 % STF"
        caption = f"The text: the mean queueing delay grows linearly with the buffer. {HOW}"
        return _figure("26", "", title, caption, "buffer (packets)", _DELAY, curves)

    def tcp_by_delay(self, mbps: int) -> Figure:
        """Figure 27."""
        curves = self._by_delay("ltrf_of_link", mbps, False)
        caption = (
            "The text: DropTail gives long TCP flows more than RED and RED-ECN, always, by less as the buffer "
            "grows, at more than 3 times the delay of RED with the largest; RED-ECN gains little over RED. Points are "
            f"buffers of 1/3, 1 and 3 BWDP. {HOW}"
        )
        title = f"TCP throughput by queueing delay, {mbps} Mb/s, 30 % STF"
        return _figure("27", mbps, title, caption, _DELAY, "LTRF, share of the link", curves)

    def deviation_by_delay(self, mbps: int) -> Figure:
        """Figure 28."""
        curves = self._by_delay("deviation_ms", mbps, True)
        caption = (
            "The text: with LTNRF on and off for 20 s each, deviations are comparable at 5 Mb/s; at higher rates and "
            "with larger buffers those of RED and RED-ECN are much smaller. Points are buffers of 1/3, 1 and 3 BWDP. "
            f"{HOW}"
        )
        title = f"standard deviation of the queueing delay, {mbps} Mb/s, 30 % STF"
        return _figure("28", mbps, title, caption, _DELAY, "standard deviation (ms)", curves)

    def _by_delay(self, measure: str, mbps: int, on_off: bool) -> tuple[Curve, ...]:
        return _curves(
            lambda queue: tuple(
                [self._at(name, queue, mbps, 1300, multiple, on_off) for multiple in MULTIPLES]
                for name in ("delay_ms", measure)
            )
        )

    def delay_by_capacity(self, multiple: str) -> Figure:
        """Figure 29."""
        curves = _curves(lambda queue: (LINKS, [self._at("delay", queue, mbps, 1300, multiple) for mbps in LINKS]))
        caption = (
            "The text: the delay of DropTail is close to its buffer, that of RED and RED-ECN a third of it; the "
            f"capacity has next to no impact. {HOW}"
        )
        title = f"relative queueing delay by capacity, {multiple} BWDP, 30 % STF"
        return _figure("29", multiple.replace("/", "-"), title, caption, "capacity (Mb/s)", _RELATIVE, curves)

    def normalised_by_load(self, mbps: int) -> Figure:
        """Figure 30."""
        caption = (
            "The text: as the load of short flows rises, the lead of DropTail in TCP throughput over that of TCP and "
            f"UDP shrinks or stays. {HOW}"
        )
        title = f"normalised TCP throughput by STF load, {mbps} Mb/s, 1 BWDP"
        return self._by_load("30", title, caption, "LTRF over LTRF and LTNRF", "normalised", mbps)

    def delay_by_load(self, mbps: int) -> Figure:
        """Figure 31."""
        caption = (
            "The text: DropTail is close to 1 and 2 to 3 times RED; short flows have next to no impact; RED and "
            f"RED-ECN are similar. {HOW}"
        )
        title = f"relative queueing delay by STF load, {mbps} Mb/s, 1 BWDP"
        return self._by_load("31", title, caption, _RELATIVE, "delay", mbps)

    def _by_load(self, number: str, title: str, caption: str, y: str, measure: str, mbps: int) -> Figure:
        loads = list(PERCENT.values())
        curves = _curves(lambda queue: (loads, [self._at(measure, queue, mbps, mice) for mice in LOADS]))
        return _figure(number, mbps, title, caption, "STF load (%)", y, curves)


def _curves(points) -> tuple[Curve, ...]:
    return tuple(Curve(NAMES[queue], ABOUT[NAMES[queue]], *points(queue)) for queue in QUEUES)


def _figure(number: str, part: object, title: str, caption: str, x: str, y: str, curves: tuple[Curve, ...]) -> Figure:
    """A figure of a figure, or of the ``part`` of it."""
    key = f"fig-{number}-{part}".rstrip("-")
    source = f"Zhao 2004, Fig. {number}"
    return Figure(key, f"Figure {number}: {title}", caption, x, y, curves, False, source=source)


FIGURES = (Drawn("Zhao 2004, Fig. 26 to 31", figures),)
