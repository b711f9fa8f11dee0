"""Zhao 2004, II: Figures 1, 3 to 10, 12, 13 and Tables I, II, the estimator of non-responsive traffic.

Each statement three times: of the published method with one setting of what is not printed (`TUNED`), of the same
without any, ``-untuned``, and of Mayfly's default method on the same samples, `OWN`, which are a page of their own.
"""

from collections.abc import Callable, Iterable

import numpy as np

from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Claim, Printed, Row, Runs, Values
from mayfly_papers.declare.rows import Quantity, at_least, at_most, below, printed_beside, quantity, ratio, within
from mayfly_papers.zhao2004.estimator.measures import SETTLED_S
from mayfly_papers.zhao2004.estimator.scenarios import (
    BRANCHES,
    CBR_LOADS,
    EXPERIMENTS,
    MIN_THRESHOLDS,
    MIXES,
    PERIODS,
    RTTS_MS,
)

DIFFERENCES = data.reasons(__package__)

PRINTED = data.printed(__package__)

LARGEST = PRINTED["largest_error"]
"""Largest MSE that the text prints: Figure 9, [1 20] s."""
WITHIN = 0.10
"""Relative errors that the text calls accurate (II.C.5)."""
STEP_ERROR = 0.05
"""What the default may be off 10 s after a step."""

MSE_CBR_16, MSE_VBR = 0.003353, {"slow": 0.003534, "fast": 0.002445}
"""II.C.6."""

AS_ACCURATE = 1.5
"""Factor between errors that the text says compare well: the printed ones are 1.45 apart."""

TABLE_I = PRINTED["table_i"]
"""MSE by per cent of binomial flows."""

TABLE_II = PRINTED["table_ii"]
"""Drop rates of links 1, 2 and 3 in per cent by CBR flows of set B."""

_LABEL = {experiment.id: experiment.disciplines[0] for experiment in EXPERIMENTS}
_HOW = {"right": "started at the truth", "tuned": "tuned"}
_NAMES = {"told": "default, told the true round-trip times"}


def of(experiment: str, measure: str) -> Quantity:
    """A measure of an experiment."""
    return quantity(experiment, _LABEL[experiment], measure)


def name_of(method: str) -> str:
    """A method in words; ``-right`` after it is a start at the truth, ``-tuned`` the one setting of the page."""
    plain, _, how = method.partition("-")
    return _NAMES.get(method, f"{plain}, {_HOW[how]}" if how else plain)


def accurate(experiment: str, methods: Iterable[str], printed: float | None = None, label: str = "") -> list[Row]:
    """MSE of each method, beside a printed one or below the largest."""
    before = f"{label}, " if label else ""
    return [
        at_most(
            f"MSE, {before}{name_of(method)}",
            of(experiment, f"{method}_mse"),
            LARGEST,
            printed=Printed(printed) if printed and index == 0 else None,
        )
        for index, method in enumerate(methods)
    ]


def near(experiment: str, methods: Iterable[str], label: str = "") -> list[Row]:
    """Relative error of each method within 10 %."""
    before = f"{label}, " if label else ""
    text = f"within {WITHIN:.0%}"
    rows = []
    for method in methods:
        error = of(experiment, f"{method}_error")

        def margin(runs: Runs, error: Quantity = error) -> Values:
            return WITHIN - np.abs(error(runs))

        rows.append(Row(f"relative error, {before}{name_of(method)}", error, margin=margin, direction=text))
    return rows


def claim(identity: str, source: str, says: str, settings: str, rows: Iterable[Row], note: str = "") -> Claim:
    """A claim with its reason, where it has one."""
    return Claim(identity, f"Zhao 2004, {source}", says, settings, tuple(rows), DIFFERENCES.get(identity), note)


Way = tuple[str, ...]
"""Endings of the names of a method: how it is set."""
TUNED: Way = ("-tuned",)
UNTUNED: Way = ("", "-right")


def both(
    identity: str, source: str, says: str, settings: str, published: Callable[[Way], Iterable[Row]], own: Iterable[Row]
) -> tuple[Claim, ...]:
    """A statement of the published methods, tuned and not, then of the default."""
    return (
        *ways(identity, source, says, settings, published),
        claim(f"{identity}-default", source, f"the same of the default method: {says}", settings, own),
    )


def ways(
    identity: str, source: str, says: str, settings: str, published: Callable[[Way], Iterable[Row]]
) -> tuple[Claim, Claim]:
    """A statement of the published methods with the one setting of the page, and with nothing but what is printed."""
    untuned = f"{settings}; p as a share, a start of one half, or of the truth"
    return (
        claim(identity, source, says, settings, published(TUNED)),
        claim(f"{identity}-untuned", source, says, untuned, published(UNTUNED)),
    )


def each(method: str, way: Way) -> list[str]:
    """A method in each form of a way."""
    return [f"{method}{how}" for how in way]


def figure_1() -> Claim:
    """The round trip of the equilibrium."""
    rows = []
    for flows in (16, 22, 25):
        run, label = f"cbr-{flows}", f"{flows} CBR"
        rows += [
            at_most(f"deviation of R(t) over its mean, {label}", of(run, "rtt_deviation"), WITHIN),
            at_most(f"deviation from R_0 of the model over R_0, {label}", of(run, "rtt_from_rest"), WITHIN),
            within(f"mean R(t), last 110 s over those before, {label}", of(run, "rtt_drift"), 1 + WITHIN),
            within(f"mean that TCP measured over that of R(t), {label}", of(run, "rtt_tcp"), 1 + WITHIN),
        ]
    says = (
        "measured round-trip times deviate little enough from the equilibrium that X_u R(t) may be taken for constant"
    )
    settings = "35 TCP flows and 16, 22 or 25 CBR flows as in Figure 3; R(t) = q(t)/C + T_p every 33 ms from 100 s on"
    note = (
        "The figure's settings and numbers are not told, nor how small is small enough: 10 % is what II.C.5 calls "
        "accurate. A buffer of 60 packets is 17 ms of 100: R(t) could not leave 100 to 117 ms whatever came. Standard "
        "deviation; from R_0, root of the mean square."
    )
    return claim("figure-1", "II.A, Fig. 1", says, settings, rows, note)


def figure_3(tcp: str, flows: int) -> tuple[Claim, ...]:
    """High loads."""
    experiment = f"{tcp}-{flows}"
    identity = f"figure-3-{flows}" + ("-sack" if tcp == "sack" else "")
    says = "estimates stay in a very small band around the truth"
    settings = f"35 TCP ({'SACK' if tcp == 'sack' else 'Reno'}) and {flows} CBR flows"
    own = accurate(experiment, ("default",)) + near(experiment, ("default",))
    return both(identity, "II.C.1, Fig. 3", says, settings, lambda way: accurate(experiment, each("basic", way)), own)


def figure_4() -> tuple[Claim, ...]:
    """Basic against modified."""
    low = [flows for flows in CBR_LOADS if flows <= 16]

    def published(way: Way) -> list[Row]:
        return [
            below(
                f"MSE, {name_of('p0' + how)}, {flows} CBR",
                of(f"cbr-{flows}", f"p0{how}_mse"),
                of(f"cbr-{flows}", f"basic{how}_mse"),
                direction="below basic",
            )
            for how in way
            for flows in low
        ]

    own = [
        below(
            f"MSE, default, {flows} CBR",
            of(f"cbr-{flows}", "default_mse"),
            of(f"cbr-{flows}", "p0_mse"),
            direction="below p0",
        )
        for flows in CBR_LOADS
    ]
    says = "below 60 % of non-responsive load the method that accounts for times without a drop (p0) has less error"
    settings = "35 TCP flows and 10, 13 or 16 CBR flows, 38 to 58 % of the packets"
    every = "35 TCP flows and 10 to 28 CBR flows"
    return (
        *ways("figure-4", "II.C.2, Fig. 4", says, settings, published),
        claim("figure-4-default", "II.C.2, Fig. 4", "the default has less error than p0", every, own),
    )


def figure_5(period: int) -> tuple[Claim, ...]:
    """On/off load."""
    experiment = f"on-off-{period}"
    says = "the estimate follows a load that changes in time"
    settings = f"35 TCP, 20 CBR and 6 on/off flows, {period} s each"
    own = accurate(experiment, ("default",)) + near(experiment, ("default",))
    if period > SETTLED_S:
        text = f"off by less, {SETTLED_S:g} s after a step"
        own.append(at_most("largest mean error, default", of(experiment, "default_late"), STEP_ERROR, direction=text))
    return both(
        f"figure-5-{period}",
        "II.C.3, Fig. 5",
        says,
        settings,
        lambda way: accurate(experiment, each("p0", way)),
        own,
    )


def figure_6() -> tuple[Claim, ...]:
    """Short TCP flows count as non-responsive."""

    def nearer(method: str) -> Row:
        mean, both_, rest = (of("short-flows", name) for name in (f"{method}_mean", "share", "cbr_share"))

        def margin(runs: Runs) -> Values:
            return np.abs(mean(runs) - rest(runs)) - np.abs(mean(runs) - both_(runs))

        name = f"mean estimate, {name_of(method)}"
        return Row(name, mean, margin=margin, direction="nearer to CBR and short flows than to CBR")

    says = "short TCP flows are estimated as part of the non-responsive load"
    settings = "35 TCP and 16 CBR flows, from 100 s on 300 sources of short TCP flows"

    def published(way: Way) -> list[Row]:
        return [nearer(method) for method in each("p0", way)] + accurate("short-flows", each("p0", way))

    own = [nearer("default"), *accurate("short-flows", ("default",)), *near("short-flows", ("default",))]
    return both("figure-6", "II.C.4, Fig. 6", says, settings, published, own)


def figure_7() -> tuple[Claim, ...]:
    """A range of round-trip times."""
    says = "with the mean for R_0 the estimate is still effective, a small amount too high"
    settings = "35 TCP flows with 24.4 to 175.5 ms, 22 CBR flows, R_0 of 90 ms"

    def published(way: Way) -> list[Row]:
        too_high = [
            at_least(f"relative error, {name_of(method)}", of("rtt-range", f"{method}_error"), 0.0)
            for method in each("p0", way)
        ]
        return too_high + near("rtt-range", each("p0", way))

    own = near("rtt-range", ("default", "told")) + accurate("rtt-range", ("default", "told"))
    return both("figure-7", "II.C.5, Fig. 7", says, settings, published, own)


def figure_8(rtt: int) -> tuple[Claim, ...]:
    """R_0 that is not that of the flows."""
    experiment = f"rtt-{rtt}"

    def published(way: Way) -> list[Row]:
        rows = []
        if rtt != 120:
            side, told = (at_least, "too high") if rtt < 120 else (at_most, "too low")
            rows = [
                side(f"relative error, {name_of(method)}", of(experiment, f"{method}_error"), 0.0, direction=told)
                for method in each("p0", way)
            ]
        return rows + near(experiment, each("p0", way))

    says = "too high where the flows' time is below R_0, too low where it is above, relative errors within 10 %"
    settings = f"35 TCP flows with {rtt} ms, 22 CBR flows, R_0 of 120 ms"
    own = near(experiment, ("default", "told"))
    return both(f"figure-8-{rtt}", "II.C.5, Fig. 8", says, settings, published, own)


def figure_9() -> tuple[Claim, ...]:
    """Variable rates."""
    runs = {"16 CBR": ("cbr-16", MSE_CBR_16)}
    runs |= {f"VBR, {name}": (f"vbr-{name}", printed) for name, printed in MSE_VBR.items()}

    def published(way: Way) -> list[Row]:
        rows = [
            row for label, (name, printed) in runs.items() for row in accurate(name, each("p0", way), printed, label)
        ]
        if way == TUNED:
            rows += [
                within(
                    f"MSE, VBR, {name}, over 16 CBR, {name_of('p0-tuned')}",
                    ratio(of(f"vbr-{name}", "p0-tuned_mse"), of("cbr-16", "p0-tuned_mse")),
                    AS_ACCURATE,
                    direction=f"compares well: within a factor of {AS_ACCURATE}",
                    printed=Printed(printed / MSE_CBR_16),
                )
                for name, printed in MSE_VBR.items()
            ]
        return rows

    own = []
    for label, (experiment, printed) in runs.items():
        own += accurate(experiment, ("default",), printed, label) + near(experiment, ("default",), label)
    says = "rates that change at random leave the estimate as accurate as constant ones"
    settings = "35 TCP flows and 16 of 0.5 to 1.5 Mb/s, each rate kept for 1 to 20 s (slow) or 0.1 to 1 s (fast)"
    return both("figure-9", "II.C.6, Fig. 9", says, settings, published, own)


def table_1(rule: str) -> tuple[Claim, ...]:
    """Binomial flows."""
    mixes = [
        ("cbr-22" if share == "0" else f"{rule}-{share}", TABLE_I[rule][share], f"{share} % {rule.upper()}")
        for share in MIXES
    ]

    def published(way: Way) -> list[Row]:
        return [row for name, printed, label in mixes for row in accurate(name, each("p0", way), printed, label)]

    own = []
    for experiment, printed, label in mixes:
        own += accurate(experiment, ("default",), printed, label) + near(experiment, ("default",), label)
    says = "binomial flows in place of TCP make little difference"
    settings = "35 responsive flows, 22 CBR flows"
    return both(f"table-1-{rule}", "II.C.7, Table I", says, settings, published, own)


def figure_10() -> tuple[Claim, ...]:
    """High drop rates."""

    def above_that_at_15(low: int) -> Quantity:
        return lambda runs: of(f"min-th-{low}", "drops")(runs) - of("min-th-15", "drops")(runs)

    raised = MIN_THRESHOLDS[1:]
    runs = {f"min-th-{low}": f"minimum threshold {low}" for low in raised} | {"cbr-28": "28 CBR"}

    def published(way: Way) -> list[Row]:
        less = [
            below(
                f"MSE, {name_of('loss' + how)}, {label}",
                of(run, f"loss{how}_mse"),
                of(run, f"p0{how}_mse"),
                direction="below p0",
            )
            for how in way
            for run, label in runs.items()
        ]
        return less + [
            Row(
                f"drop rate, minimum threshold {low}",
                of(f"min-th-{low}", "drops"),
                "%",
                margin=above_that_at_15(low),
                direction="above that at 15",
            )
            for low in raised
        ]

    own = [row for low in MIN_THRESHOLDS for row in accurate(f"min-th-{low}", ("default",), label=f"threshold {low}")]
    says = "with more drops, from a higher minimum threshold of RED, the method that accounts for l(t) has less error"
    return both("figure-10", "II.C.8, Fig. 10", says, "35 TCP and 22 CBR flows, or 28", published, own)


def table_2(flows: str) -> Claim:
    """Drop rates of the links."""
    rows = [
        printed_beside(f"drop rate, link {link}", of(f"hops-{flows}", f"drops Link {link}"), Printed(printed), "%")
        for link, printed in enumerate(TABLE_II[flows], start=1)
    ]
    return claim(f"table-2-{flows}", "Table II", "drop rates", f"Figure 11, {flows} CBR flows in set B", rows)


def figure_12(name: str) -> tuple[Claim, ...]:
    """Several hops."""
    experiment, even = f"hops-{name}", name != "uneven"
    own = accurate(experiment, ("default",)) + near(experiment, ("default",))
    says = "on link 1 of two hops the extended method is accurate"
    says += "" if even else ", whatever the branches of the CBR flows"
    settings = f"Figure 11, {'22' if not even else name} CBR flows in set B, {' and '.join(map(str, BRANCHES[name]))}"
    return both(
        f"figure-12-{name}" if even else "figure-13",
        f"II.D, Fig. {12 if even else 13}",
        says,
        f"{settings} by branch",
        lambda way: accurate(experiment, each("multihop", way)),
        own,
    )


def _all() -> Iterable[Claim]:
    yield figure_1()
    for tcp in ("cbr", "sack"):
        for flows in (16, 22, 25):
            yield from figure_3(tcp, flows)
    yield from figure_4()
    for period in PERIODS:
        yield from figure_5(period)
    yield from figure_6()
    yield from figure_7()
    for rtt in RTTS_MS:
        yield from figure_8(rtt)
    yield from figure_9()
    for rule in TABLE_I:
        yield from table_1(rule)
    yield from figure_10()
    yield from map(table_2, TABLE_II)
    for name in BRANCHES:
        yield from figure_12(name)


_ALL = tuple(_all())

CLAIMS = tuple(claim for claim in _ALL if not claim.id.endswith("-default"))
"""Of the published methods, in the order of the dissertation."""

OWN = tuple(claim for claim in _ALL if claim.id.endswith("-default"))
"""Of the default method."""
