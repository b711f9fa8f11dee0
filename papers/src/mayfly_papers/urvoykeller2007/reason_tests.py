"""Runs that show why claims of Urvoy-Keller 2007 do not come out as printed."""

from dataclasses import replace

from mayfly_papers.declare.declaration import Claim, Runs, Values
from mayfly_papers.declare.rows import at_least, at_most, below, quantity, ratio, within
from mayfly_papers.urvoykeller2007 import endless, transfers
from mayfly_papers.urvoykeller2007.transfers import LOADS, OTHER, TABLE_1

MORE = 20
"""Runs of the mix under FIFO: five of them do not tell how much slower it gets at 5 Mb/s."""

OFTEN = tuple(
    replace(experiment, id=f"{experiment.id}-often", disciplines=("fifo",), replications=MORE)
    for experiment in transfers.EXPERIMENTS
    if experiment.id in ("mix-bp-6.67-2", "mix-bp-6.67-5")
)

EXPERIMENTS = (*transfers.EXPERIMENTS, *endless.EXPERIMENTS, *OFTEN)


def time_read_as(reading: str, load: int):
    """Capacity with the time in a reading, over print."""

    def of_runs(runs: Runs) -> Values:
        measured = runs.values(f"bp-9.67-{load}", "las", f"capacity_{reading}_mbps")
        return measured / TABLE_1["bp-9.67"][load - 1]

    return of_runs


def sum_of_delays() -> Claim:
    """Table 1 with T as the text defines it, and with packets that overlap counted once."""
    rows = [
        within(f"capacity over print, {load} Mb/s, T a sum over packets", time_read_as("groups", load), 1.12)
        for load in LOADS
    ]
    rows += [
        at_least(f"the same, {load} Mb/s, T while any packet is there", time_read_as("present", load), 1.15)
        for load in LOADS[:-1]
    ]
    # At the highest load there is hardly a time without a packet, and both readings are near the print.
    first, last = time_read_as("present", LOADS[0]), time_read_as("present", LOADS[-1])
    rows.append(below("the same, 7 Mb/s, T while any packet is there", last, first, direction="below that at 1 Mb/s"))
    says = (
        "T is the sum of one-way delays less the wire of each group: every printed capacity comes out within 12 %; "
        "with T while any packet is there all but the last are 15 % too high or more"
    )
    settings = "`wlan-b`, downloads, bounded Pareto of mean 9.67 MSS, LAS, 50 kB, 1000 s"
    return Claim("sum-of-delays", "Urvoy-Keller 2007, 6.1.1", says, settings, tuple(rows))


def less_overload() -> Claim:
    """The mix at 5 Mb/s where the cell carries less."""

    def slower(discipline: str, variant: str = ""):
        return ratio(*(quantity(f"mix-bp-6.67-{load}{variant}", discipline, "down_smallest_s") for load in (5, 2)))

    rows = (
        at_most("3 MSS, downloads, 5 over 2 Mb/s, LASACK", slower("lasack"), 2),
        at_most("3 MSS, downloads, 5 over 2 Mb/s, FIFO", slower("fifo", "-often"), 20),
        at_least("3 MSS, downloads, 5 over 2 Mb/s, FIFO, long preambles", slower("fifo", OTHER), 100),
    )
    says = (
        "with long preambles 5 Mb/s of the mix is more than the cell carries, with short ones it is near its capacity"
    )
    settings = "`wlan-b`, downloads to uploads 2:1, bounded Pareto of mean 6.67 MSS, 50 kB, 1000 s"
    return Claim("less-overload", "Urvoy-Keller 2007, 7", says, settings, rows)


def depth_of_overload() -> Claim:
    """What FIFO leaves over what LAS leaves, by preamble."""

    def over(load: int, variant: str = ""):
        return ratio(*(quantity(f"bp-9.67-{load}{variant}", d, "unfinished") for d in ("fifo", "las")))

    rows = (
        at_least("active after 1000 s, FIFO over LAS, 6 Mb/s", over(6), 2),
        below("the same, 7 Mb/s", over(7), over(6), direction="below that at 6 Mb/s"),
        at_least("the same, 5 Mb/s, long preambles", over(5, OTHER), 2),
        at_most("the same, 7 Mb/s, long preambles", over(7, OTHER), 1.6),
    )
    says = "the ratio is largest where overload begins and falls through the printed range as it deepens"
    settings = "`wlan-b`, downloads, bounded Pareto of mean 9.67 MSS, 50 kB, 1000 s"
    return Claim("depth-of-overload", "Urvoy-Keller 2007, 6", says, settings, rows)


def waiting_for_timeouts() -> Claim:
    """Throughput over windows by buffer."""

    def over(packets: int):
        own = f"endless-{packets}"
        return ratio(quantity(own, "fifo", "ratio"), quantity(own, "fifo", "window_ratio"))

    rows = (
        at_least("throughputs over windows, FIFO, 5 MSS", over(5), 5),
        at_most("throughputs over windows, FIFO, 100 MSS", over(100), 1.25),
        below("throughputs over windows, FIFO, 100 MSS", over(100), over(10), direction="below that of 10 MSS"),
    )
    says = "the ratio of throughputs is that of windows where downloads seldom wait for a timeout"
    return Claim("waiting-for-timeouts", "Urvoy-Keller 2007, 4", says, "`wlan-5v5` over 802.11b, 100 s", rows)


TESTS = (sum_of_delays(), less_overload(), depth_of_overload(), waiting_for_timeouts())
