"""Zhao 2004, chapter IV: Figures 26 to 28, 30 and 31, queueing delays and what TCP gets of the link.

The figures print no numbers beyond those of Tables VIII to X; what is declared is what the text reads from them.
"""

from collections.abc import Iterable

import numpy as np

from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Claim, Printed, Row, Runs, Values
from mayfly_papers.declare.rows import (
    Quantity,
    at_least,
    at_most,
    greater_by,
    one_run_deviation,
    paired,
    printed_beside,
    ratio,
    within,
)
from mayfly_papers.zhao2004.aqm.rates import CLOSE, TABLE_X
from mayfly_papers.zhao2004.aqm.scenarios import BUFFERS, LINKS, LOADS, MULTIPLES, NAMES, PHASES, QUEUES, name_of, of

DIFFERENCES = data.reasons(__package__)

PRINTED = data.printed(__package__)

SIMILAR = CLOSE
"""Largest ratio of what the text calls similar, linear, or without impact too."""
COMPARABLE = 2.0
"""Ratio of standard deviations that divides "comparable" from "much smaller"."""
TRIPLE = 3.0
"""Delay of DropTail over that of RED with large buffers (IV.A.2), and its bounds at 1 BWDP (IV.A.4)."""
DOUBLE = 2.0
MINOR = TABLE_X[1300]["dt"][0] - TABLE_X[1300]["red"][0]
"""Lead of DropTail at 100 Mb/s and 30 % STF load: what differs by less differs little."""


def claim(identity: str, source: str, says: str, settings: str, rows: Iterable[Row], note: str = "") -> Claim:
    """A claim with its reason, where it has one."""
    return Claim(identity, f"Zhao 2004, {source}", says, settings, tuple(rows), DIFFERENCES.get(identity), note)


def minus(greater: Quantity, lesser: Quantity) -> Quantity:
    """A quantity less another, in the replications that both have."""

    def difference(runs: Runs) -> Values:
        more, less = paired(runs, greater, lesser)
        return more - less

    return difference


def no_more(name: str, ours: Quantity, other: Quantity, direction: str) -> Row:
    """Row that holds when ours exceeds the other by less than single runs of the other spread, or is below it."""

    def margin(runs: Runs) -> Values:
        own, theirs = paired(runs, ours, other)
        return theirs + one_run_deviation(theirs) - own

    return Row(name, ours, margin=margin, direction=direction)


def lead(measure: str, queue: str, mbps: int, mice: int, phase: str, multiple: str = "1") -> Quantity:
    """What DropTail has more than a queue."""
    return minus(*(of(name_of(name, mbps, mice, phase, multiple), measure) for name in ("dt", queue)))


def settings_of(phase: str, rest: str) -> str:
    """Settings in words."""
    return f"{rest}, LTNRF {phase.replace('-', ' ')}"


def figure_26(phase: str) -> Claim:
    """Queueing delay by buffer."""
    sizes = [BUFFERS[35][multiple] for multiple in MULTIPLES]
    weight = (sizes[1] - sizes[0]) / (sizes[2] - sizes[0])
    rows = []
    for queue in QUEUES:
        small, middle, large = (of(name_of(queue, 35, 1300, phase, multiple), "delay_ms") for multiple in MULTIPLES)

        def line(runs: Runs, small: Quantity = small, large: Quantity = large) -> Values:
            return (1 - weight) * small(runs) + weight * large(runs)

        name = NAMES[queue]
        rows += [
            greater_by(f"delay, {name}, 1 BWDP", middle, small, "ms", "above that at 1/3"),
            greater_by(f"delay, {name}, 3 BWDP", large, middle, "ms", "above that at 1"),
            within(f"delay at 1 BWDP over the line from 1/3 to 3, {name}", ratio(middle, line), SIMILAR),
        ]
    says = "the mean queueing delay grows linearly with the buffer"
    settings = settings_of(phase, f"35 Mb/s, 30 % STF, {', '.join(map(str, sizes[:2]))} and {sizes[2]} packets")
    return claim(f"figure-26-{phase}", "IV.A.2, Fig. 26", says, settings, rows)


def figure_27_order(phase: str) -> Claim:
    """DropTail gives TCP more."""
    rows = []
    for mbps in LINKS:
        for multiple in MULTIPLES:
            tcp = {queue: of(name_of(queue, mbps, 1300, phase, multiple), "ltrf_of_link") for queue in QUEUES}
            where = f"{mbps} Mb/s, {multiple} BWDP"
            rows += [
                greater_by(f"LTRF, DropTail, {where}", tcp["dt"], tcp[queue], direction=f"above {NAMES[queue]}")
                for queue in ("red", "ecn")
            ]
    says = "long TCP flows get more of the link under DropTail than under RED or RED-ECN, always"
    return claim(f"figure-27-order-{phase}", "IV.A.2, Fig. 27", says, settings_of(phase, "30 % STF"), rows)


def figure_27_closer(phase: str) -> Claim:
    """Less so with more buffer."""
    rows = []
    for mbps in LINKS:
        for queue in ("red", "ecn"):
            leads = [lead("ltrf_of_link", queue, mbps, 1300, phase, multiple) for multiple in MULTIPLES]
            name = f"LTRF, DropTail minus {NAMES[queue]}, {mbps} Mb/s"
            rows += [
                greater_by(f"{name}, 1/3 BWDP", leads[0], leads[1], direction="above that at 1"),
                greater_by(f"{name}, 1 BWDP", leads[1], leads[2], direction="above that at 3"),
            ]
    says = "the lead of DropTail shrinks as the buffer grows"
    return claim(f"figure-27-closer-{phase}", "IV.A.2, Fig. 27", says, settings_of(phase, "30 % STF"), rows)


def figure_27_delay(phase: str) -> Claim:
    """At the price of delay."""
    rows = []
    for mbps in LINKS:
        delays = [of(name_of(queue, mbps, 1300, phase, "3"), "delay_ms") for queue in ("dt", "red")]
        rows.append(at_least(f"delay of DropTail over RED, {mbps} Mb/s", ratio(*delays), TRIPLE))
    says = "with a large buffer the mean queueing delay under DropTail is more than 3 times that under RED"
    return claim(f"figure-27-delay-{phase}", "IV.A.2, Fig. 27", says, settings_of(phase, "30 % STF, 3 BWDP"), rows)


def figure_27_ecn(phase: str) -> Claim:
    """What marks bring."""
    rows = []
    for mbps in LINKS:
        for multiple in MULTIPLES:
            ecn, red = (of(name_of(queue, mbps, 1300, phase, multiple), "ltrf_of_link") for queue in ("ecn", "red"))
            where = f"{mbps} Mb/s, {multiple} BWDP"
            gain = minus(ecn, red)
            rows.append(Row(f"LTRF, RED-ECN minus RED, {where}", gain, margin=gain, direction="above 0"))
    says = "long TCP flows get marginally more under RED-ECN than under RED"
    return claim(f"figure-27-ecn-{phase}", "IV.A.2, Fig. 27", says, settings_of(phase, "30 % STF"), rows)


def figure_27_links(phase: str) -> Claim:
    """What the capacity of the link does."""
    rows = []
    for multiple in MULTIPLES:
        leads = [lead("ltrf_of_link", "red", mbps, 1300, phase, multiple) for mbps in LINKS]

        def spread(runs: Runs, leads: list[Quantity] = leads) -> Values:
            values = np.stack(paired(runs, *leads))
            return values.max(axis=0) - values.min(axis=0)

        name = f"lead of DropTail over RED, largest minus smallest of the links, {multiple} BWDP"
        rows.append(at_most(name, spread, MINOR))
        for queue in QUEUES:
            tcp = {mbps: of(name_of(queue, mbps, 1300, phase, multiple), "ltrf_of_link") for mbps in LINKS}
            rows += [
                greater_by(
                    f"LTRF, {NAMES[queue]}, 100 Mb/s, {multiple} BWDP", tcp[100], tcp[mbps], "", f"above {mbps} Mb/s"
                )
                for mbps in (5, 35)
            ]
    says = "the capacity has little impact on the lead of DropTail; long TCP flows get most of the link at 100 Mb/s"
    note = f'"Little" is taken for less than the lead that Table X prints at 100 Mb/s, {MINOR:.3f}.'
    return claim(f"figure-27-links-{phase}", "IV.A.3, Fig. 27", says, settings_of(phase, "30 % STF"), rows, note)


_SWING = (
    "All LTNRF are on for 20 s and off for 20 s at the same times, begun within 2 s; as many as of constant rate in "
    f"Table VII. A factor of {COMPARABLE:g} divides comparable from much smaller here: the text gives none."
)


def _deviations(mbps: int, multiple: str) -> dict[str, Quantity]:
    return {queue: of(name_of(queue, mbps, 1300, "staggered", multiple, True), "deviation_ms") for queue in QUEUES}


def figure_28_slow() -> Claim:
    """At 5 Mb/s."""
    rows = []
    for multiple in MULTIPLES:
        swing = _deviations(5, multiple)
        for queue in ("red", "ecn"):
            name = f"deviation of DropTail over {NAMES[queue]}, {multiple} BWDP"
            rows.append(within(name, ratio(swing["dt"], swing[queue]), COMPARABLE))
    says = "at 5 Mb/s standard deviations of the queueing delay are comparable"
    return claim("figure-28-5", "IV.A.2, Fig. 28", says, "5 Mb/s, 30 % STF, LTNRF on and off", rows, _SWING)


def figure_28_fast() -> Claim:
    """At higher rates and with larger buffers."""
    rows = []
    for mbps in (35, 100):
        for multiple in ("1", "3"):
            swing = _deviations(mbps, multiple)
            rows += [
                at_most(
                    f"deviation of {NAMES[queue]} over DropTail, {mbps} Mb/s, {multiple} BWDP",
                    ratio(swing[queue], swing["dt"]),
                    1 / COMPARABLE,
                )
                for queue in ("red", "ecn")
            ]
    says = "at higher rates and with larger buffers the queueing delay deviates much less under RED and RED-ECN"
    return claim("figure-28-fast", "IV.A.2, Fig. 28", says, "35 and 100 Mb/s, 30 % STF, LTNRF on and off", rows, _SWING)


def figure_30(mbps: int, phase: str) -> Claim:
    """TCP of what long flows get, by load of short ones."""
    rows = []
    for queue in ("red", "ecn"):
        leads = {mice: lead("normalised", queue, mbps, mice, phase) for mice in LOADS}
        for less, more in zip(LOADS, list(LOADS)[1:], strict=False):
            name = f"DropTail minus {NAMES[queue]}, {LOADS[more]} STF"
            direction = f"below that at {LOADS[less]}, or above by less than single runs spread"
            rows.append(no_more(name, leads[more], leads[less], direction))
    says = "as short flows come, the lead of DropTail in normalised TCP throughput shrinks or stays"
    settings = settings_of(phase, f"{mbps} Mb/s, {BUFFERS[mbps]['1']} packets, 0, 5 and 30 % STF")
    note = "Normalised: bytes of LTRF over those of LTRF and LTNRF."
    return claim(f"figure-30-{mbps}-{phase}", "IV.A.4, Fig. 30", says, settings, rows, note)


def figure_30_numbers(phase: str) -> Claim:
    """The points that Table X tells."""
    rows = []
    for mice, printed in TABLE_X.items():
        for queue in QUEUES:
            tcp, other = printed[queue]
            ours = of(name_of(queue, 100, mice, phase), "normalised")
            rows.append(printed_beside(f"{NAMES[queue]}, {LOADS[mice]} STF", ours, Printed(tcp / (tcp + other))))
    says, settings = "normalised TCP throughput", settings_of(phase, "100 Mb/s, 1500 packets")
    note = "The figure prints no numbers: these follow from Table X."
    return claim(f"figure-30-numbers-{phase}", "IV.A.4, Fig. 30, Table X", says, settings, rows, note)


def figure_31_droptail(phase: str) -> Claim:
    """DropTail beside RED."""
    rows = []
    for mbps in LINKS:
        for mice, load in LOADS.items():
            droptail, red = (of(name_of(queue, mbps, mice, phase), "delay") for queue in ("dt", "red"))
            where = f"{mbps} Mb/s, {load} STF"
            rows += [
                within(
                    f"DropTail, {where}",
                    droptail,
                    SIMILAR,
                    direction="within 10 % of 1",
                    printed=Printed(PRINTED["figure_31_droptail"]["DropTail"]),
                ),
                at_least(f"DropTail over RED, {where}", ratio(droptail, red), DOUBLE),
                at_most(f"DropTail over RED, {where}", ratio(droptail, red), TRIPLE),
            ]
    says = "the mean queueing delay of DropTail is close to the round trip, 2 to 3 times that of RED"
    settings = settings_of(phase, "a buffer of 1 BWDP")
    return claim(f"figure-31-droptail-{phase}", "IV.A.4, Fig. 31", says, settings, rows)


def figure_31_alike(phase: str) -> Claim:
    """What has no impact."""
    rows = []
    for mbps in LINKS:
        for queue in QUEUES:
            delays = {mice: of(name_of(queue, mbps, mice, phase), "delay") for mice in LOADS}
            for mice in (250, 1300):
                name = f"{NAMES[queue]}, {mbps} Mb/s, {LOADS[mice]} STF over 0 %"
                rows.append(within(name, ratio(delays[mice], delays[0]), SIMILAR))
        for mice, load in LOADS.items():
            pair = (of(name_of(queue, mbps, mice, phase), "delay") for queue in ("ecn", "red"))
            rows.append(within(f"RED-ECN over RED, {mbps} Mb/s, {load} STF", ratio(*pair), SIMILAR))
    says = "the load of short flows hardly changes the mean queueing delay, nor do marks in place of drops"
    return claim(f"figure-31-alike-{phase}", "IV.A.4, Fig. 31", says, settings_of(phase, "a buffer of 1 BWDP"), rows)


def _all() -> Iterable[Claim]:
    of_phase = (figure_27_order, figure_27_closer, figure_27_delay, figure_27_ecn, figure_27_links)
    yield from map(figure_26, PHASES)
    for declared in of_phase:
        yield from map(declared, PHASES)
    yield figure_28_slow()
    yield figure_28_fast()
    for mbps in LINKS:
        for phase in PHASES:
            yield figure_30(mbps, phase)
    for declared in (figure_30_numbers, figure_31_droptail, figure_31_alike):
        yield from map(declared, PHASES)


CLAIMS = tuple(_all())
"""In the order of the dissertation."""
