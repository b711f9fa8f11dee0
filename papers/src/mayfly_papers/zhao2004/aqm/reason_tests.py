"""Runs that show why claims of Zhao 2004, IV, do not come out as printed."""

from dataclasses import replace

from mayfly_papers.declare.declaration import Claim, Experiment
from mayfly_papers.declare.rows import Quantity, at_least, at_most, below, quantity, ratio, within
from mayfly_papers.zhao2004.aqm import scenarios
from mayfly_papers.zhao2004.aqm.rates import CLOSE
from mayfly_papers.zhao2004.aqm.scenarios import BUFFERS, ROUND_TRIP_S, SETTING, chapter_4, name_of, of

SIXTH, TENTH = 1 / 6, 0.1
"""Lower thresholds of RED over the buffer, in place of the 1/4 of the page."""
STEADY = [(mbps, mice) for mbps in (5, 35) for mice in (0, 1300)]
SEEDS = 2


def _with(
    ending: str, min_th: float, mbps: int, mice: int, phase: str, multiple: str = "1", on_off: bool = False
) -> Experiment:
    """A run of RED with other thresholds, under its own id and ``ending``."""
    found = chapter_4("red", mbps, mice, phase, multiple, on_off, setting={**SETTING, "min-th": min_th})
    return replace(found, id=f"{found.id}-{ending}", replications=SEEDS)


LOWER = {cell: _with("sixth", SIXTH, *cell, "in-step") for cell in STEADY}
# As many runs as the cell beside it: two do not decide.
SWINGING = replace(_with("tenth", TENTH, 35, 1300, "staggered", "3", True), replications=scenarios.SEEDS)

EXPERIMENTS = (*scenarios.EXPERIMENTS, *LOWER.values(), SWINGING)


def _lower(cell: tuple[int, int], measure: str) -> Quantity:
    return quantity(LOWER[cell].id, LOWER[cell].disciplines[0], measure)


def _swing(queue: str, multiple: str, measure: str) -> Quantity:
    return of(name_of(queue, 35, 1300, "staggered", multiple, True), measure)


def lower_thresholds() -> Claim:
    """RED's thresholds decide its delay."""
    rows = []
    for cell in STEADY:
        mbps, mice = cell
        droptail, where = of(name_of("dt", mbps, mice, "in-step"), "delay"), f"{mbps} Mb/s, {mice} sources of STF"
        over = ratio(droptail, _lower(cell, "delay"))
        rows += [
            at_least(f"DropTail over RED at 1/6 and 1/2 of the buffer, {where}", over, 2),
            at_most(f"the same, {where}", over, 3),
            below(
                f"drop rate of RED, {where}",
                of(name_of("red", mbps, mice, "in-step"), "drops"),
                _lower(cell, "drops"),
                "%",
                "below that with the lower thresholds",
            ),
        ]
    says = (
        "with thresholds at 1/6 and 1/2 of the buffer the factor of 2 to 3 comes out at 5 and 35 Mb/s, with more drops"
    )
    return _claim("lower-thresholds", says, "5 and 35 Mb/s, 1 BWDP, in step, RED at 1/6 and 1/2", rows)


def full_queue() -> Claim:
    """DropTail's queue does not drain."""
    full = BUFFERS[35]["1"] * 8000 / 35e6 / ROUND_TRIP_S
    mean = _swing("dt", "1", "delay")
    rows = [
        within("mean delay of DropTail over that of a full buffer, 1 BWDP", lambda runs: mean(runs) / full, CLOSE),
        at_least(
            "deviation of RED over DropTail, 1 BWDP",
            ratio(_swing("red", "1", "deviation_ms"), _swing("dt", "1", "deviation_ms")),
            2,
        ),
        at_most(
            "deviation of RED over DropTail, 3 BWDP",
            ratio(_swing("red", "3", "deviation_ms"), _swing("dt", "3", "deviation_ms")),
            1,
        ),
        at_most(
            "the same with thresholds at 1/10 and 3/10 of the buffer",
            ratio(
                quantity(SWINGING.id, SWINGING.disciplines[0], "deviation_ms"),
                _swing("dt", "3", "deviation_ms"),
            ),
            0.5,
        ),
    ]
    says = (
        "with 1 BWDP the queue of DropTail stays full while LTNRF are off, and hardly varies; with 3 it drains, and "
        "RED varies less"
    )
    return _claim("full-queue", says, "35 Mb/s, 30 % STF, LTNRF on and off", rows)


def _claim(name: str, says: str, settings: str, rows) -> Claim:
    return Claim(name, "Zhao 2004, IV", says, settings, tuple(rows))


TESTS = (lower_thresholds(), full_queue())
