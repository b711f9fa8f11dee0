"""Runs that show why claims of Zhao 2004, II, about the published estimator do not come out as printed."""

from itertools import pairwise

from mayfly_papers.declare.declaration import Claim
from mayfly_papers.declare.rows import at_least, at_most, below, ratio, within
from mayfly_papers.zhao2004.estimator.claims import LARGEST, of
from mayfly_papers.zhao2004.estimator.measures import STARTS
from mayfly_papers.zhao2004.estimator.scenarios import EXPERIMENTS, PERIODS

__all__ = ["EXPERIMENTS", "TESTS"]

MIXED = ("iiad-50", "iiad-100", "sqrt-50", "sqrt-100")


def start_decides() -> Claim:
    """The estimate stays where it starts."""
    rows = [
        below(
            f"mean estimate, p0, started at {low:g}",
            of("cbr-22", f"p0-{low:g}_mean"),
            of("cbr-22", f"p0-{high:g}_mean"),
            direction=f"below that started at {high:g}",
        )
        for low, high in pairwise(STARTS)
    ]
    rows += [
        at_most(f"MSE, basic, started at the truth, {run}", of(run, "basic-right_mse"), LARGEST, direction="as printed")
        for run in ("cbr-22", "cbr-25")
    ]
    rows += [
        at_most(f"MSE, p0, started at the truth, {run}", of(run, "p0-right_mse"), LARGEST, direction="as printed")
        for run in MIXED
    ]
    says = "each start ends elsewhere, and started at the truth the errors are those printed, whatever responds"
    return _claim("start-decides", says, "35 TCP or binomial flows, 22 or 25 CBR flows", rows)


def empty_queue() -> Claim:
    """At 16 flows no tuning is a help."""
    rows = [
        at_least(f"MSE, basic, tuned, {run}", of(run, "basic-tuned_mse"), LARGEST, direction="above")
        for run in ("cbr-16", "sack-16")
    ]
    rows += [
        at_least(f"MSE, p0, tuned, {run}", of(run, "p0-tuned_mse"), LARGEST, direction="above")
        for run in ("cbr-16", "vbr-slow", "vbr-fast")
    ]
    rows += [
        at_most(f"MSE, p0, tuned, {run}", of(run, "p0-tuned_mse"), 4 * LARGEST, direction="below 4 times the largest")
        for run in ("cbr-16", "vbr-slow", "vbr-fast")
    ]
    rows += [
        below("mean queue, 16 CBR", of("cbr-16", "queue"), of("cbr-22", "queue"), "packets", "below that of 22"),
    ]
    says = (
        "with 16 flows that do not respond the error is above the largest printed, by less than a factor of 4 with p0, "
        "where the queue is short"
    )
    return _claim("empty-queue", says, "35 TCP flows, 16 CBR or VBR flows", rows)


def against_the_truth() -> Claim:
    """A load that steps drives the estimate down."""
    rows = [
        at_most(
            f"mean estimate over the truth, p0, {period} s",
            ratio(of(f"on-off-{period}", "p0_mean"), of(f"on-off-{period}", "share")),
            0.5,
        )
        for period in PERIODS
        if period > 5
    ]
    rows.append(
        at_least("MSE, p0, started at the truth, 5 s", of("on-off-5", "p0-right_mse"), LARGEST, direction="above")
    )
    says = "a load that steps every 20 or 100 s drives the estimate below half of the truth; one of 5 s is not followed"
    return _claim("against-the-truth", says, "35 TCP, 20 CBR and 6 on/off flows", rows)


def one_scale() -> Claim:
    """A scale of p frees the estimate from its start; which is best goes by the load."""

    def apart(low: float, high: float):
        return lambda runs: of("cbr-22", f"p0-tuned-{high:g}_mean")(runs) - of("cbr-22", f"p0-tuned-{low:g}_mean")(runs)

    rows = [
        at_most(
            f"mean estimate started at {STARTS[-1]:g} less that started at {low:g}, p0, tuned, 22 CBR",
            apart(low, STARTS[-1]),
            0.05,
        )
        for low in STARTS[:-1]
    ]
    rows += [
        at_least("MSE, basic, tuned, 25 CBR", of("cbr-25", "basic-tuned_mse"), LARGEST, direction="above"),
        at_most("MSE, basic, twice the scale, 25 CBR", of("cbr-25", "basic-doubled_mse"), LARGEST),
        at_least("MSE, basic, twice the scale, 22 CBR", of("cbr-22", "basic-doubled_mse"), LARGEST, direction="above"),
        at_most("MSE, basic, tuned, 22 CBR", of("cbr-22", "basic-tuned_mse"), LARGEST),
    ]
    says = (
        "with p times 10 the estimate forgets its start; 25 CBR flows ask for twice that scale, with which 22 are no "
        "longer accurate"
    )
    return _claim("one-scale", says, "35 TCP flows, 22 or 25 CBR flows", rows)


def follows() -> Claim:
    """Tuned it follows a load that steps."""
    rows = []
    for period in PERIODS:
        run = f"on-off-{period}"
        rows += [
            within(
                f"mean estimate over the truth, p0, tuned, {period} s",
                ratio(of(run, "p0-tuned_mean"), of(run, "share")),
                1.1,
            ),
            at_most(
                f"MSE, p0, tuned, {period} s",
                of(run, "p0-tuned_mse"),
                2.5 * LARGEST,
                direction="below 2.5 times the largest",
            ),
        ]
    says = "tuned, the estimate follows a load that steps, with 1.3 to 2 times the largest printed error"
    return _claim("follows", says, "35 TCP, 20 CBR and 6 on/off flows", rows)


def two_hops() -> Claim:
    """Where link 1 drops as few as the others."""
    rows = [
        at_most(f"MSE, multihop, tuned, {run}", of(run, "multihop-tuned_mse"), LARGEST)
        for run in ("hops-22", "hops-uneven")
    ]
    rows += [
        at_most(
            "MSE, multihop, tuned, 25 CBR",
            of("hops-25", "multihop-tuned_mse"),
            2.5 * LARGEST,
            direction="below 2.5 times the largest",
        ),
        at_most("drop rate, link 1, 16 CBR", of("hops-16", "drops Link 1"), 0.01, "%"),
    ]
    says = "over two hops the tuned method is accurate with 22 CBR flows, and has no drops to learn from with 16"
    return _claim("two-hops", says, "Figure 11, 25, 22 and 16 CBR flows in set B", rows)


def collinear() -> Claim:
    """Over two hops the start decides too."""
    rows = [
        at_least(
            f"MSE, multihop, one half over the truth as a start, {run}",
            ratio(of(run, "multihop_mse"), of(run, "multihop-right_mse")),
            5,
        )
        for run in ("hops-25", "hops-22", "hops-uneven")
    ]
    rows += [
        at_most("drop rate, link 1, 16 CBR", of("hops-16", "drops Link 1"), 0.01, "%"),
        within(
            "mean estimate over the start of one half, 16 CBR",
            lambda runs: of("hops-16", "multihop_mean")(runs) / 0.5,
            1.05,
        ),
    ]
    says = (
        "over two hops the start decides as well; with 16 CBR flows link 1 drops nothing, and the estimate stays there"
    )
    return _claim("collinear", says, "Figure 11, 25, 22 and 16 CBR flows in set B", rows)


def _claim(name: str, says: str, settings: str, rows) -> Claim:
    return Claim(name, "Zhao 2004, II", says, settings, tuple(rows))


TESTS = (
    start_decides(),
    one_scale(),
    empty_queue(),
    against_the_truth(),
    follows(),
    two_hops(),
    collinear(),
)
