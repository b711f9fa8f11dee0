"""Figures 26 to 31 of Zhao 2004 as pictures, from the first seed, with LTNRF that start staggered."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mayfly.papers.declaration import Experiment, Runs
from mayfly.papers.pictures import Curve, Picture
from mayfly.papers.zhao2004_scenarios import BUFFERS, CHAPTER_4, LINKS, LOADS, MULTIPLES, NAMES, QUEUES, name_of, of

ABOUT = {
    "RED": "thresholds at 1/4 and 3/4 of the buffer",
    "RED-ECN": "the same, and TCP is marked",
    "DropTail": "what comes to a full buffer is dropped",
}
SEED = "Seed 1, LTNRF staggered."
PERCENT = {mice: float(load.split()[0]) for mice, load in LOADS.items()}
_RELATIVE = "queueing delay over round trip"


def pictures() -> list[Picture]:
    """All of them.

    Returns
    -------
    list of Picture
        In the order of the dissertation.
    """
    return list(pictures_of(CHAPTER_4))


def pictures_of(experiments: Sequence[Experiment]) -> Iterable[Picture]:
    """The same from experiments of one's own, by the ids of the declared ones.

    Parameters
    ----------
    experiments : sequence of Experiment
        With all ids of chapter IV; one replication is run.

    Yields
    ------
    Picture
        In the order of the dissertation.
    """
    points = Points(Runs(replace(experiment, replications=1) for experiment in experiments))
    yield points.by_buffer()
    for mbps in LINKS:
        yield points.tcp_by_delay(mbps)
    for mbps in LINKS:
        yield points.deviation_by_delay(mbps)
    yield from map(points.delay_by_capacity, MULTIPLES)
    for mbps in LINKS:
        yield points.normalised_by_load(mbps)
    for mbps in LINKS:
        yield points.delay_by_load(mbps)


class Points:
    """Points of the figures, measured when first asked for."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def _at(self, measure: str, queue: str, mbps: int, mice: int, multiple: str = "1", on_off: bool = False) -> float:
        return float(of(name_of(queue, mbps, mice, "staggered", multiple, on_off), measure)(self._runs)[0])

    def by_buffer(self) -> Picture:
        """Figure 26."""
        sizes = [BUFFERS[35][multiple] for multiple in MULTIPLES]
        curves = _curves(
            lambda queue: (sizes, [self._at("delay_ms", queue, 35, 1300, multiple) for multiple in MULTIPLES])
        )
        title = "Figure 26: queueing delay by buffer, 35 Mb/s, 30 % STF"
        caption = f"The text: the mean queueing delay grows linearly with the buffer. {SEED}"
        return Picture("fig-26", title, caption, "buffer (packets)", "mean queueing delay (ms)", curves, False)

    def tcp_by_delay(self, mbps: int) -> Picture:
        """Figure 27."""
        curves = self._by_delay("ltrf_of_link", mbps, False)
        caption = (
            "The text: DropTail gives long TCP flows more than RED and RED-ECN, always, and less more as the buffer "
            "grows, at more than 3 times the delay of RED with the largest; RED-ECN gains little over RED. Points are "
            f"buffers of 1/3, 1 and 3 BWDP. {SEED}"
        )
        title = f"Figure 27: TCP throughput by queueing delay, {mbps} Mb/s, 30 % STF"
        return Picture(
            f"fig-27-{mbps}", title, caption, "mean queueing delay (ms)", "LTRF, share of the link", curves, False
        )

    def deviation_by_delay(self, mbps: int) -> Picture:
        """Figure 28."""
        curves = self._by_delay("deviation_ms", mbps, True)
        caption = (
            "The text: with LTNRF on and off for 20 s each, deviations are comparable at 5 Mb/s; at higher rates and "
            "with larger buffers those of RED and RED-ECN are much smaller. Points are buffers of 1/3, 1 and 3 BWDP. "
            f"{SEED}"
        )
        title = f"Figure 28: standard deviation of the queueing delay, {mbps} Mb/s, 30 % STF"
        y = "standard deviation (ms)"
        return Picture(f"fig-28-{mbps}", title, caption, "mean queueing delay (ms)", y, curves, False)

    def _by_delay(self, measure: str, mbps: int, on_off: bool) -> tuple[Curve, ...]:
        return _curves(
            lambda queue: tuple(
                [self._at(name, queue, mbps, 1300, multiple, on_off) for multiple in MULTIPLES]
                for name in ("delay_ms", measure)
            )
        )

    def delay_by_capacity(self, multiple: str) -> Picture:
        """Figure 29."""
        curves = _curves(lambda queue: (LINKS, [self._at("delay", queue, mbps, 1300, multiple) for mbps in LINKS]))
        caption = (
            "The text: the delay of DropTail is close to its buffer, that of RED and RED-ECN a third of it; the "
            f"capacity has next to no impact. {SEED}"
        )
        title = f"Figure 29: relative queueing delay by capacity, {multiple} BWDP, 30 % STF"
        key = f"fig-29-{multiple.replace('/', '-')}"
        return Picture(key, title, caption, "capacity (Mb/s)", _RELATIVE, curves, False)

    def normalised_by_load(self, mbps: int) -> Picture:
        """Figure 30."""
        caption = (
            "The text: as the load of short flows rises, the lead of DropTail in TCP throughput over that of TCP and "
            f"UDP shrinks or stays. {SEED}"
        )
        title = f"Figure 30: normalised TCP throughput by STF load, {mbps} Mb/s, 1 BWDP"
        return self._by_load(f"fig-30-{mbps}", title, caption, "LTRF over LTRF and LTNRF", "normalised", mbps)

    def delay_by_load(self, mbps: int) -> Picture:
        """Figure 31."""
        caption = (
            "The text: DropTail is close to 1 and 2 to 3 times RED; short flows have next to no impact; RED and "
            f"RED-ECN are similar. {SEED}"
        )
        title = f"Figure 31: relative queueing delay by STF load, {mbps} Mb/s, 1 BWDP"
        return self._by_load(f"fig-31-{mbps}", title, caption, _RELATIVE, "delay", mbps)

    def _by_load(self, key: str, title: str, caption: str, y: str, measure: str, mbps: int) -> Picture:
        loads = list(PERCENT.values())
        curves = _curves(lambda queue: (loads, [self._at(measure, queue, mbps, mice) for mice in LOADS]))
        return Picture(key, title, caption, "STF load (%)", y, curves, False)


def _curves(points) -> tuple[Curve, ...]:
    return tuple(Curve(NAMES[queue], ABOUT[NAMES[queue]], *points(queue)) for queue in QUEUES)
