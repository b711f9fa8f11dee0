"""Zhao 2004, Table III and chapter IV (Tables VIII to X, Fig. 29): DropTail, RED and RED-ECN under mixed loads.

Printed values and the declarations that hold ours beside them. Table V, VI and VII are the settings, the other
figures of chapter IV are in `zhao2004_delays`, the estimator of chapter II is in `zhao2004_ponrt`.
"""

from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Claim, Printed, Row, Runs, Values
from mayfly_papers.declare.rows import at_least, at_most, below, greater_by, printed_beside, ratio, within
from mayfly_papers.zhao2004.aqm.scenarios import (
    ACCESS,
    BUFFERS,
    LINKS,
    LOADS,
    NAMES,
    PHASE,
    PHASES,
    QUEUES,
    name_of,
    of,
)

DIFFERENCES = data.reasons(__package__)

PRINTED = data.printed(__package__)

TABLE_III = PRINTED["table_iii"]
"""Shares of TCP and CBR, drop rate in per cent."""

TABLE_VIII = data.numbered(PRINTED["table_viii"])
"""Utilisation under RED, RED-ECN and DropTail at 30 % STF load."""

TABLE_IX = data.numbered(PRINTED["table_ix"])
"""Drop rates of LTRF and LTNRF at 30 % STF load."""

MARKS_IX = data.numbered(PRINTED["marks_ix"])
"""Marking rate of LTRF under RED-ECN there."""

ALIKE = 1.3
"""Largest ratio of two rates of Table IX that the text calls no significant difference: .05352 over .04123."""

TABLE_X = data.numbered(PRINTED["table_x"])
"""What LTRF and LTNRF get of the link at 100 Mb/s by short-term sources at 35 Mb/s."""

FIGURE_29 = PRINTED["figure_29"]
"""Queueing delay over the round trip by multiple, DropTail and RED, "around" in the text."""


def _claim(identity: str, source: str, says: str, settings: str, rows: tuple[Row, ...], note: str = "") -> Claim:
    return Claim(identity, f"Zhao 2004, {source}", says, settings, rows, DIFFERENCES.get(identity), note)


def _above(name: str, greater, lesser, printed: float, direction: str, unit: str = "") -> Row:
    """Row with a printed number and the direction ``greater > lesser`` of quantities that may be 0."""

    def margin(runs: Runs) -> Values:
        return greater(runs) - lesser(runs)

    return Row(name, greater, unit, Printed(printed), margin, direction)


def table_3_shares(phase: str, suffix: str) -> Claim:
    """Who protects TCP."""
    tcp, other = (
        {queue: of(f"table-3-{queue}-{phase}{suffix}", f"{name}_share") for queue in TABLE_III}
        for name in ("ltrf", "ltnrf")
    )
    rows = []
    for queue in ("dt", "flat"):
        printed, others, _ = TABLE_III[queue]
        rows.append(_above(f"share of TCP, {NAMES[queue]}", tcp[queue], tcp["red"], printed, "above RED"))
        rows.append(
            below(f"share of CBR, {NAMES[queue]}", other[queue], other["red"], "", "below RED", printed=Printed(others))
        )
    says = "DropTail, and RED with both thresholds at the buffer, protect TCP from CBR flows better than RED (15/45)"
    return _claim(f"table-3-shares-{phase}{suffix}", "II.D, Table III", says, _at(phase, suffix), tuple(rows))


def table_3_numbers(phase: str, suffix: str) -> Claim:
    """The numbers without a direction."""
    rows = [
        printed_beside(
            f"drop rate, {NAMES[queue]}", of(f"table-3-{queue}-{phase}{suffix}", "drops"), Printed(value), "%"
        )
        for queue, (_, _, value) in TABLE_III.items()
    ]
    rows += [
        printed_beside(f"share of {name}, RED", of(f"table-3-red-{phase}{suffix}", measure), Printed(value))
        for name, measure, value in zip(("TCP", "CBR"), ("ltrf_share", "ltnrf_share"), TABLE_III["red"], strict=False)
    ]
    says = "drop rates, and the shares under RED"
    return _claim(f"table-3-numbers-{phase}{suffix}", "Table III", says, _at(phase, suffix), tuple(rows))


def _at(phase: str, suffix: str) -> str:
    return f"`red-ns2`, CBR sources {phase.replace('-', ' ')}, access links of {ACCESS[suffix]}"


def _link(mbps: int, phase: str, load: str = "30 %") -> str:
    return f"{mbps} Mb/s, {BUFFERS[mbps]['1']} packets, {load} STF, LTNRF {phase.replace('-', ' ')}"


def table_8_gaps() -> Claim:
    """DropTail against RED."""

    def gap(mbps: int, multiple: str):
        droptail, red = (of(name_of(q, mbps, 1300, PHASE, multiple), "utilisation") for q in ("dt", "red"))
        return lambda runs: droptail(runs) - red(runs)

    rows = []
    for mbps, printed in TABLE_VIII.items():
        low, high = gap(mbps, "1/3"), gap(mbps, "3")
        name = f"DropTail minus RED, {mbps} Mb/s, 1/3"
        value = Printed(printed["1/3"][2] - printed["1/3"][0])
        rows.append(Row(name, low, "", value, low, "above 0"))
        if mbps == 5:  # The others are full with any buffer.
            rows.append(greater_by(name, low, high, direction="above that at 3"))
    for mbps in (35, 100):
        name = "DropTail minus RED, 5 Mb/s, 1/3"
        rows.append(greater_by(name, gap(5, "1/3"), gap(mbps, "1/3"), direction=f"above that at {mbps} Mb/s"))
    says = "with little buffer DropTail uses more of the link than RED, most at 5 Mb/s; with much buffer less so"
    return _claim(
        "table-8-gaps",
        "Table VIII",
        says,
        f"30 % STF, buffers of 1/3 and 3 BWDP, {PHASE.replace('-', ' ')}",
        tuple(rows),
    )


def table_8(mbps: int) -> Claim:
    """Utilisation as printed."""
    rows = tuple(
        printed_beside(
            f"{NAMES[queue]}, {multiple} BWDP",
            of(name_of(queue, mbps, 1300, PHASE, multiple), "utilisation"),
            Printed(value),
        )
        for multiple, printed in TABLE_VIII[mbps].items()
        for queue, value in zip(QUEUES, printed, strict=True)
    )
    return _claim(f"table-8-{mbps}", "Table VIII", "utilisation", _link(mbps, PHASE), rows)


def table_9_order(mbps: int, phase: str) -> Claim:
    """What the text reads from Table IX."""

    def rate(queue: str, measure: str):
        return of(name_of(queue, mbps, 1300, phase), measure)

    printed, marks = TABLE_IX[mbps], rate("ecn", "ltrf_marks")
    tcp, other = rate("dt", "ltrf_drops"), rate("dt", "ltnrf_drops")
    rows = (
        below("LTRF drops, DropTail", tcp, other, "", "below LTNRF", printed=Printed(printed["dt"][0])),
        _above("LTNRF drops, DropTail", other, tcp, printed["dt"][1], "above LTRF"),
        at_most("LTNRF over LTRF drops, RED", ratio(rate("red", "ltnrf_drops"), rate("red", "ltrf_drops")), ALIKE),
        at_most("LTNRF drops over LTRF marks, RED-ECN", ratio(rate("ecn", "ltnrf_drops"), marks), ALIKE),
        _above("LTRF marks, RED-ECN", marks, rate("red", "ltrf_drops"), MARKS_IX[mbps], "above drops under RED"),
        greater_by("LTRF drops, RED", rate("red", "ltrf_drops"), rate("ecn", "ltrf_drops"), direction="above RED-ECN"),
        _above(
            "LTNRF drops, RED-ECN",
            rate("ecn", "ltnrf_drops"),
            rate("red", "ltnrf_drops"),
            printed["ecn"][1],
            "above RED",
        ),
    )
    says = "DropTail drops LTNRF more than LTRF, RED both alike; RED-ECN marks LTRF more than RED drops them"
    return _claim(f"table-9-order-{mbps}-{phase}", "Table IX", says, _link(mbps, phase), rows)


def table_9_red(mbps: int, phase: str) -> Claim:
    """The numbers without a direction."""
    rows = tuple(
        printed_beside(f"{label} drops, {NAMES[queue]}", of(name_of(queue, mbps, 1300, phase), measure), Printed(value))
        for queue, label, measure, value in (
            ("red", "LTRF", "ltrf_drops", TABLE_IX[mbps]["red"][0]),
            ("red", "LTNRF", "ltnrf_drops", TABLE_IX[mbps]["red"][1]),
            ("ecn", "LTRF", "ltrf_drops", TABLE_IX[mbps]["ecn"][0]),
        )
    )
    return _claim(f"table-9-red-{mbps}-{phase}", "Table IX", "drop rates under RED", _link(mbps, phase), rows)


def table_10(mice: int, phase: str) -> Claim:
    """DropTail and RED-ECN against RED."""
    tcp, other = (
        {queue: of(name_of(queue, 100, mice, phase), f"{name}_of_link") for queue in QUEUES}
        for name in ("ltrf", "ltnrf")
    )
    printed = TABLE_X[mice]
    rows = [
        _above("LTRF, DropTail", tcp["dt"], tcp["red"], printed["dt"][0], "above RED"),
        below("LTNRF, DropTail", other["dt"], other["red"], "", "below RED", printed=Printed(printed["dt"][1])),
        _above("LTRF, RED-ECN", tcp["ecn"], tcp["red"], printed["ecn"][0], "above RED"),
    ]
    if mice:
        load = {250: 0.05, 1300: 0.30}[mice]
        stf = of(name_of("red", 100, mice, phase), "stf_of_link")
        rows.append(at_least("STF, RED", stf, load, direction="its load at least", printed=Printed(load)))
    says = f"LTRF get more under DropTail and a little more under RED-ECN than under RED, at {LOADS[mice]} STF load"
    return _claim(f"table-10-order-{mice}-{phase}", "Table X", says, _link(100, phase, LOADS[mice]), tuple(rows))


def table_10_red(mice: int, phase: str) -> Claim:
    """The numbers without a direction."""
    rows = tuple(
        printed_beside(f"{label}, {NAMES[queue]}", of(name_of(queue, 100, mice, phase), measure), Printed(value))
        for queue, label, measure, value in (
            ("red", "LTRF", "ltrf_of_link", TABLE_X[mice]["red"][0]),
            ("red", "LTNRF", "ltnrf_of_link", TABLE_X[mice]["red"][1]),
            ("ecn", "LTNRF", "ltnrf_of_link", TABLE_X[mice]["ecn"][1]),
        )
    )
    says = f"shares under RED and RED-ECN at {LOADS[mice]} STF load"
    return _claim(f"table-10-red-{mice}-{phase}", "Table X", says, _link(100, phase, LOADS[mice]), rows)


CLOSE = 1.1
"""Ratio of what the text calls close: 10 %, as in II.C.5."""


def closer(phase: str) -> Claim:
    """The advantage of DropTail goes with STF load."""

    def gap(mice: int):
        droptail, red = (of(name_of(queue, 100, mice, phase), "ltrf_of_link") for queue in ("dt", "red"))
        return lambda runs: droptail(runs) - red(runs)

    name = "LTRF under DropTail minus RED, 0 % STF"
    rows = (
        greater_by(name, gap(0), gap(1300), direction="above that at 30 %"),
        Row(
            "the same at 30 %",
            gap(1300),
            "",
            Printed(PRINTED["throughput_gap"]["droptail"] - PRINTED["throughput_gap"]["red"]),
        ),
        within(
            "LTRF under RED over DropTail, 30 % STF",
            ratio(*(of(name_of(queue, 100, 1300, phase), "ltrf_of_link") for queue in ("red", "dt"))),
            CLOSE,
            direction="very close: within 10 %",
            printed=Printed(PRINTED["throughput_gap"]["red"] / PRINTED["throughput_gap"]["droptail"]),
        ),
    )
    says = "at 30 % STF load the throughput of LTRF under RED comes very close to that under DropTail"
    return _claim(f"table-10-closer-{phase}", "IV.A.4, Table X", says, f"100 Mb/s, {phase.replace('-', ' ')}", rows)


def figure_29(mbps: int) -> Claim:
    """Queueing delay over the round-trip propagation delay."""
    rows = []
    for multiple, printed in FIGURE_29.items():
        droptail, red = (of(name_of(queue, mbps, 1300, PHASE, multiple), "delay") for queue in ("dt", "red"))
        name = f"DropTail, {multiple} BWDP"
        rows.append(_above(name, droptail, lambda runs, red=red: 2 * red(runs), printed[0], "above twice RED"))
        rows.append(printed_beside(f"RED, {multiple} BWDP", red, Printed(printed[1])))
    says = "mean queueing delay of DropTail is close to the buffer, that of RED about a third of it"
    return _claim(f"figure-29-{mbps}", "IV.A.3, Fig. 29", says, _link(mbps, PHASE), tuple(rows))


CLAIMS = (
    *(claim(phase, suffix) for phase in PHASES for suffix in ACCESS for claim in (table_3_shares, table_3_numbers)),
    table_8_gaps(),
    *map(table_8, LINKS),
    *map(figure_29, LINKS),
    *(claim(mbps, phase) for mbps in LINKS for phase in PHASES for claim in (table_9_order, table_9_red)),
    *(claim(mice, phase) for mice in TABLE_X for phase in PHASES for claim in (table_10, table_10_red)),
    *map(closer, PHASES),
)
"""Claims of Table III and chapter IV in both phases."""
