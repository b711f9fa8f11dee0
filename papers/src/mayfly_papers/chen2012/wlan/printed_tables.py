"""Chen 2012, Tables A.1 to A.6 as printed: mean response times of the mixed workload in a cell of 802.11a."""

from dataclasses import dataclass

from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Printed

LARS = "lars(count=acknowledged)"
COLUMNS = ("down_short_s", "down_long_s", "up_short_s", "up_long_s")
"""In the order of the tables, by the names of :func:`mayfly_papers.chen2012.wlan.measures.transfers`."""


@dataclass(frozen=True)
class Table:
    """One table.

    Parameters
    ----------
    sizes : tuple of int
        Mean sizes, MSS, by `COLUMNS`.
    cells : dict of tuple of Printed
        Mean response times, s, by discipline, then `COLUMNS`.
    """

    sizes: tuple[int, ...]
    cells: dict[str, tuple[Printed, ...]]


TABLES = {
    name: Table(cells["sizes"], {discipline: times for discipline, times in cells.items() if discipline != "sizes"})
    for name, cells in data.printed(__package__)["appendix"].items()
}
"""By number."""
