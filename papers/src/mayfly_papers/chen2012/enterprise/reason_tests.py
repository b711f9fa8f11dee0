"""Runs that show why claims of Chen 2012, 9.3.1, do not come out as printed."""

from mayfly_papers.chen2012.enterprise.claims import EXPERIMENTS, UNDERLOAD, discrepancy
from mayfly_papers.chen2012.wlan.topology import DISCIPLINES, SIZES
from mayfly_papers.declare.declaration import Claim
from mayfly_papers.declare.rows import at_most, below

__all__ = ["EXPERIMENTS", "TESTS"]

OTHERS = tuple(discipline for discipline in DISCIPLINES if discipline != "fifo")


def fifo_alone() -> Claim:
    """Without FIFO no difference is left."""
    experiment = f"wired-topological-{UNDERLOAD}"
    rows = []
    for size, text in SIZES.items():
        own = discrepancy(experiment, f"internet_{size}_s", OTHERS)
        rows += [
            at_most(f"discrepancy, Internet, {text}, without FIFO", own, 1.1),
            below(
                f"discrepancy, Internet, {text}, without FIFO, again",
                own,
                discrepancy(experiment, f"internet_{size}_s"),
                direction="below that with FIFO",
            ),
        ]
    says = "in underload the disciplines but FIFO are within a tenth for transfers of high latency"
    settings = f"`enterprise`, 300 packets, 1000 s, {UNDERLOAD} Mb/s both ways together"
    return Claim("fifo-alone", "Chen 2012, 9.3.1", says, settings, tuple(rows))


TESTS = (fifo_alone(),)
