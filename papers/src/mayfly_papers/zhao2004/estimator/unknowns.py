"""What Zhao 2004, II, does not tell of the published estimator; nothing of it needs a run of its own but TCP."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Experiment, Measures
from mayfly_papers.declare.unknowns import Calibration, Setting, Unknown
from mayfly_papers.zhao2004.estimator.claims import CLAIMS
from mayfly_papers.zhao2004.estimator.measures import Known, said, samples_of, scored
from mayfly_papers.zhao2004.estimator.scenarios import EXPERIMENTS, SACK

UNKNOWNS = (
    Unknown(
        "drop-scale",
        "a drop probability of 1 in the regressor",
        (1, 3, 5, 7, 10, 14, 20, 50, 100),
        "not told; the step of Eq. 2.16 depends on it: 1 a share, 100 per cent, about 115 drops in 33 ms",
    ),
    Unknown("zero-intervals", "PZTHD, sampling intervals without a drop", (1, 2, 3), "not told"),
    Unknown("start-share", "share that does not respond at the start", (0.3, 0.5, 0.7, 0.9), "not told"),
    Unknown(
        "tcp",
        "TCP and its minimum timeout",
        ("Reno 1 s", "SACK 0.2 s"),
        "not told in II; chapter IV has SACK, ns-2's default was 1 s until autumn 2004",
    ),
)
"""The gains and filters are printed, and are not searched."""

_TUNING = ("drop-scale", "zero-intervals", "start-share")
_TRIED = ("cbr-16", "cbr-22", "vbr-slow", "vbr-fast", "iiad-50", "iiad-100", "sqrt-50", "sqrt-100")
"""Runs with a printed error."""


def _name(values: tuple) -> str:
    return "p0-" + "-".join(f"{value:g}" for value in values)


def tried(run: RunResult) -> Measures:
    """Errors of `p0` with every tuning."""
    samples, known = samples_of(run), Known()
    found: Measures = {}
    for values in product(*(unknown.values for unknown in UNKNOWNS if unknown.id in _TUNING)):
        options = {name.replace("-", "_"): float(value) for name, value in zip(_TUNING, values, strict=True)}
        found |= scored(_name(values), said(samples, "p0", known, **options))
    return found


def experiments(setting: Setting) -> Sequence[Experiment]:
    """The runs with a printed error, with the TCP of the setting."""
    sack = SACK if setting["tcp"] == "SACK 0.2 s" else {}
    declared = {own.id: own for own in EXPERIMENTS}
    return [replace(declared[name], overrides={**declared[name].overrides, **sack}, measure=tried) for name in _TRIED]


def measures(setting: Setting) -> Mapping[str, str]:
    """The errors of a tuning in place of those that the page has."""
    name = _name(tuple(setting[unknown] for unknown in _TUNING))
    return {f"p0-tuned_{measure}": f"{name}_{measure}" for measure in ("mse", "error", "mean")}


CALIBRATION = Calibration(
    UNKNOWNS,
    experiments,
    tuple(claim for claim in CLAIMS if claim.id in ("figure-9", "table-1-iiad", "table-1-sqrt")),
    {"drop-scale": 1, "zero-intervals": 3, "start-share": 0.5, "tcp": "Reno 1 s"},
    measures,
)
