"""Runs that show why claims of Chen 2012, 5.1 and 5.3, do not come out as printed."""

from dataclasses import replace
from typing import Any

from mayfly_papers.chen2012.subflows import claims
from mayfly_papers.chen2012.subflows.claims import SETTINGS, las_over_fifo, of
from mayfly_papers.declare.declaration import Claim
from mayfly_papers.declare.rows import at_least, at_most, quantity

LINKS: dict[str, dict[str, Any]] = {
    "1ms": dict.fromkeys(("network.delay", "network.access_delay", "network.exit_delay"), "1ms"),
    "20mbit": {"network.access_rate": "20mbit"},
    "window-2": {"tcp.initial_window": 2},
}
"""What spaces the packets of a flow, each beside hosts at 100 Mb/s without delay."""

EXPERIMENTS = (
    *claims.EXPERIMENTS,
    *(
        replace(
            own, id=f"subflows-0.5-{name}", overrides={**own.overrides, **more}, disciplines=("efd",), replications=2
        )
        for own in claims.EXPERIMENTS[:1]
        for name, more in LINKS.items()
    ),
)


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


def spacing_decides() -> Claim:
    """What lies between the hosts and the queue decides how far a flow falls apart."""

    def with_links(name: str, measure: str):
        return quantity(f"subflows-0.5-{name}", "efd", measure)

    rows = (
        at_most("sub-flows of at most 3 packets, hosts at 100 Mb/s", of("fast-hosts", "small"), 0.75),
        at_least("the same, links of 1 ms", with_links("1ms", "small"), 0.85),
        at_least("the same, hosts at 20 Mb/s", with_links("20mbit", "small"), 0.8),
        at_least("the same, initial window 2", with_links("window-2", "small"), 0.8),
        at_least("the same, hosts at 10 Mb/s", of("slow-hosts", "small"), 0.95),
        at_least("total over queueing time, up to 20 packets, links of 1 ms", with_links("1ms", "upto_th_ratio"), 1.5),
        at_most("the same, 300 to 999 packets", with_links("1ms", "long_ratio"), 1.1),
    )
    says = "links of 1 ms, slower hosts or a smaller initial window make sub-flows small; links of 1 ms make idle times"
    return Claim("spacing-decides", "Chen 2012, 5.1, 5.3.1", says, SETTINGS, rows)


TESTS = (law_decides(), spacing_decides())
