"""Runs that show why claims of Chen 2012, ch. 4, do not come out as printed."""

from mayfly_papers.chen2012.wired import measures
from mayfly_papers.declare.declaration import Claim, Experiment
from mayfly_papers.declare.rows import at_least, at_most, below, quantity, ratio

EXACT_MBPS = (9.9, 10.4)
"""Loads on 10 Mb/s just below and just above saturation, met exactly in every run."""


def _experiment(load_mbps: float) -> Experiment:
    given = {"workload.load": round(load_mbps * 1e6), "workload.exact_load": True, "sample_interval": 0}
    return Experiment(f"exact-{load_mbps}", given, ("run2c", "efd"), 8, measures.responses)


EXPERIMENTS = tuple(map(_experiment, EXACT_MBPS))


def saturation_decides() -> Claim:
    """EFD beside Run2C at exact loads."""
    under, over = (
        ratio(*(quantity(f"exact-{load}", discipline, "short_s") for discipline in ("efd", "run2c")))
        for load in EXACT_MBPS
    )
    rows = (
        at_most("short flows, EFD over Run2C, 9.9 Mb/s", under, 1.5),
        below("short flows, EFD over Run2C, 9.9 Mb/s, again", under, over, direction="below that at 10.4 Mb/s"),
        at_least("short flows, EFD over Run2C, 10.4 Mb/s", over, 1),
    )
    says = "EFD is as Run2C at an exact load of 9.9 Mb/s and behind it at 10.4 Mb/s: the draw of the load decides"
    return Claim("saturation-decides", "Chen 2012, 4.6.2", says, "`wired`, 9.9 and 10.4 Mb/s, exact", rows)


TESTS = (saturation_decides(),)
