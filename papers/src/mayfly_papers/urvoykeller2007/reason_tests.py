"""Runs that show why claims of Urvoy-Keller 2007 do not come out as printed."""

from mayfly_papers.declare.declaration import Claim, Runs, Values
from mayfly_papers.declare.rows import at_least, at_most, below, quantity, ratio, within
from mayfly_papers.urvoykeller2007 import endless, measures, transfers
from mayfly_papers.urvoykeller2007.transfers import MIX_CAPACITY, SHORT, SHORT_TEXT, TABLE_1, downloads_at

LATER_S = 0.007
"""What is added to the presence of the smallest flows: with it the printed column comes out from 1 to 6 Mb/s."""

LATER_LOADS = (1, 2, 3, 4, 5, 6)


def later(run) -> dict[str, float]:
    """Capacity by Eq. 10, and what it is when every smallest flow is at the access point for `LATER_S` more."""
    return measures.capacity_only(run) | {"later_mbps": measures.capacity_only(run, LATER_S)["capacity_mbps"]}


EXPERIMENTS = (
    *transfers.EXPERIMENTS,
    *endless.EXPERIMENTS,
    *(downloads_at("bp-9.67", load, ("las",), later, more=SHORT) for load in LATER_LOADS),
)


def constant_time() -> Claim:
    """Table 1 with a constant in T."""

    def over_print(load: int):
        printed = TABLE_1["bp-9.67"][load - 1]

        def of_runs(runs: Runs) -> Values:
            return runs.values(f"bp-9.67-{load}-short", "las", "later_mbps") / printed

        return of_runs

    rows = [
        within(f"capacity with 7 ms more in T, over print, {load} Mb/s", over_print(load), 1.1) for load in LATER_LOADS
    ]
    rows += [
        at_least(
            "capacity without, 1 Mb/s over 6 Mb/s",
            ratio(*(quantity(f"bp-9.67-{load}-short", "las", "capacity_mbps") for load in (1, 6))),
            1.2,
        ),
        below(
            "capacity with 7 ms more, 1 Mb/s",
            quantity("bp-9.67-1-short", "las", "later_mbps"),
            quantity("bp-9.67-6-short", "las", "later_mbps"),
            "Mb/s",
            "below that at 6 Mb/s",
        ),
    ]
    says = "with 7 ms more for every smallest flow the printed column comes out, and the slope turns"
    settings = f"`wlan-b`, downloads, bounded Pareto of mean 9.67 MSS, LAS, 50 kB, 1000 s{SHORT_TEXT}"
    return Claim("constant-time", "Urvoy-Keller 2007, 6.1.1", says, settings, tuple(rows))


def less_overload() -> Claim:
    """The mix at 5 Mb/s where the cell carries more."""

    def of(discipline: str, name: str, load: int, variant: str = "-short"):
        return quantity(f"mix-bp-6.67-{load}{variant}", discipline, name)

    rows = [
        below(
            f"{way} up to the median, LASACK",
            of("lasack", f"{way}_half_s", 5),
            of("fifo", f"{way}_half_s", 5),
            "s",
            "below FIFO",
        )
        for way in ("down", "up")
    ]
    rows += [
        at_most(
            "3 MSS, downloads, 5 over 2 Mb/s, LASACK",
            ratio(*(of("lasack", "down_smallest_s", load) for load in (5, 2))),
            2.5,
        ),
        at_least(
            "the same, long preamble over short",
            ratio(of("lasack", "down_smallest_s", 5, ""), of("lasack", "down_smallest_s", 5)),
            100,
        ),
        at_least(
            "capacity over print, 5 Mb/s", lambda runs: of("lasack", "capacity_mbps", 5)(runs) / MIX_CAPACITY.value, 1
        ),
    ]
    says = (
        "a cell with short preambles carries 5 Mb/s of the mix: LASACK is fast there, and its capacity is no less than "
        "printed"
    )
    settings = f"`wlan-b`, downloads to uploads 2:1, bounded Pareto of mean 6.67 MSS, 50 kB, 1000 s{SHORT_TEXT}"
    return Claim("less-overload", "Urvoy-Keller 2007, 7", says, settings, tuple(rows))


def short_frames() -> Claim:
    """Eq. 10 measures flows of short frames."""
    total = quantity("endless-30", "lasack", "total_mbps")
    rows = [
        at_least(
            f"endless flows of full packets over the capacity of Eq. 10, {load} Mb/s",
            ratio(total, quantity(f"bp-9.67-{load}", "las", "capacity_mbps")),
            bound,
        )
        for load, bound in ((2, 1.2), (3, 1.4))
    ]
    says = "the capacity of Eq. 10 is that of flows of 3 MSS, half of whose frames are short; full packets get more"
    settings = "`wlan-5v5` over 802.11b, 30 MSS, beside `wlan-b`, downloads, LAS"
    return Claim("short-frames", "Urvoy-Keller 2007, 6.1", says, settings, tuple(rows))


def depth_of_overload() -> Claim:
    """FIFO over LAS falls through the printed range between 5 and 6 Mb/s."""

    def over(load: int):
        return ratio(*(quantity(f"bp-9.67-{load}", d, "unfinished") for d in ("fifo", "las")))

    rows = (
        at_least("active after 1000 s, FIFO over LAS, 5 Mb/s", over(5), 2),
        at_most("active after 1000 s, FIFO over LAS, 6 Mb/s", over(6), 1.6),
        below("the same, 7 Mb/s", over(7), over(6), direction="below that at 6 Mb/s"),
    )
    says = "FIFO is left with more than twice as many open flows at 5 Mb/s, with about as many at 6: overload decides"
    settings = "`wlan-b`, downloads, bounded Pareto of mean 9.67 MSS, 50 kB, 1000 s"
    return Claim("depth-of-overload", "Urvoy-Keller 2007, 6", says, settings, rows)


TESTS = (constant_time(), less_overload(), short_frames(), depth_of_overload())
