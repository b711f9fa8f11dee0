"""Runs that show why claims of Chen 2012, 5.3, do not come out as printed."""

from mayfly_papers.chen2012.subflows.claims import EXPERIMENTS, SETTINGS, las_over_fifo, of
from mayfly_papers.declare.declaration import Claim
from mayfly_papers.declare.rows import at_least, at_most

__all__ = ["EXPERIMENTS", "TESTS"]


def law_decides() -> Claim:
    """The order in the high queue follows from the law of the sub-flows."""
    rows = (
        at_most("sub-flows of at most 3 packets, hosts at 100 Mb/s", of("fast-hosts", "small"), 0.75),
        at_most(
            "LAS+FIFO over FIFO+FIFO by the model, the same", las_over_fifo("fast-hosts", "cuts_control_s", "fifo"), 1
        ),
        at_least("sub-flows of at most 3 packets, hosts at 10 Mb/s", of("slow-hosts", "small"), 0.95),
        at_least(
            "LAS+FIFO over FIFO+FIFO by the model, the same", las_over_fifo("slow-hosts", "cuts_control_s", "fifo"), 1.1
        ),
    )
    says = "by the model LAS is faster where sub-flows vary in size and slower where nearly all have one packet"
    return Claim("law-decides", "Chen 2012, 5.3.2.2", says, SETTINGS, rows)


TESTS = (law_decides(),)
