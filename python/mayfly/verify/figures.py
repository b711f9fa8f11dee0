"""Figures of a prediction beside what was: percentiles of what users waited for, ping, calls, drops."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from mayfly.arrays import Floats
from mayfly.metrics.users import LONG_BYTES, SHORT_BYTES, percentile
from mayfly.verify.outcome import Asked, Key, Outcome

BOUNDS = {
    "p50": (0.05, 0.0),
    "p95": (0.15, 0.0),
    "p99": (0.15, 0.0),
    "felt": (0.2, 1e-3),
    "mos": (0.0, 0.2),
    "share": (0.2, 5e-3),
    "count": (0.2, 5.0),
}
"""What is asked for, by kind: as a share of what is real, or so much in the figure's unit where that is more."""

KINDS = {
    "p50": "medians",
    "p95": "95th percentiles",
    "p99": "99th percentiles",
    "felt": "ping and jitter",
    "mos": "call quality",
    "share": "losses of calls and streams",
    "count": "drops",
}
"""Names of the kinds, for tables."""

LEAST_STEPS = 8
"""Steps from which on a percentile is told."""

PERCENTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class Figure:
    """One figure of a workload under a discipline.

    Parameters
    ----------
    name : str
        ``pages p50`` and the like.
    kind : str
        One of :data:`BOUNDS`.
    real, predicted : float
        Seconds, a share, a score or a number of packets; the prediction is the mean over its seeds.
    half : float
        Half the 95 % interval of the difference between one more run and that mean: what chance alone makes.
    n : int
        Of how many it is.
    """

    name: str
    kind: str
    real: float
    predicted: float
    half: float
    n: int

    @property
    def error(self) -> float:
        """By how much the prediction is off, as a share of what is real."""
        if self.real == self.predicted:
            return 0.0
        return self.predicted / self.real - 1 if self.real else math.inf

    @property
    def room(self) -> float:
        """By how much it may be off."""
        share, least = BOUNDS[self.kind]
        return max(share * abs(self.real), least)

    @property
    def state(self) -> str:
        """``in`` within what is asked for, ``?`` outside but within reach of chance, else ``out``."""
        off = abs(self.predicted - self.real)
        if off <= self.room:
            return "in"
        return "?" if off - self.half <= self.room else "out"


def figures(real: Outcome, predicted: Sequence[Outcome], asked: Asked) -> list[Figure]:
    """Figures of a prediction beside what was.

    Parameters
    ----------
    real : Outcome
    predicted : sequence of Outcome
        Under the same discipline, one for each seed of the replay.
    asked : Asked
        In the captured run.

    Returns
    -------
    list of Figure
        Over the steps that ended in all runs.
    """
    runs = [real, *predicted]
    both = [key for key in real.steps_s if key in asked.bytes and all(key in run.steps_s for run in predicted)]
    found: list[Figure] = []
    for name, of in classes(asked).items():
        found += _percentiles(name, [[run.steps_s[key] for key in both if key in of] for run in runs])
    first = [key for key in both if all(key in run.first_s for run in runs)]
    found += _percentiles("text of pages", [[run.first_s[key] for key in first] for run in runs])
    films = [user for user in real.segments_s if all(user in run.segments_s for run in predicted)]
    counts = {user: min(len(run.segments_s[user]) for run in runs) for user in films}
    found += _percentiles(
        "film segments", [[time for user in films for time in run.segments_s[user][: counts[user]]] for run in runs]
    )
    if all(run.pings_s.size for run in runs):
        for share in PERCENTILES[:2]:
            values = [float(np.quantile(run.pings_s, share)) for run in runs]
            found.append(figure(f"ping p{round(100 * share)}", "felt", values, real.pings_s.size))
    calls = [user for user in real.calls if all(user in run.calls for run in predicted)]
    for name, kind, read in _CALL:
        if calls:
            values = [float(np.mean([read(run.calls[user]) for user in calls])) for run in runs]
            found.append(figure(name, kind, values, len(calls)))
    for user in real.losses:
        if all(user in run.losses for run in predicted):
            found.append(figure("stream loss", "share", [run.losses[user] for run in runs], 1))
    return found + [figure(f"drops {way}", "count", [run.drops[way] for run in runs], 1) for way in ("down", "up")]


def figure(name: str, kind: str, values: Sequence[float], n: int) -> Figure:
    """A figure of what was, first, and of each seed of a prediction."""
    real, *predicted = (float(value) for value in values)
    count = len(predicted)
    spread = float(np.std(predicted, ddof=1)) if count > 1 else 0.0
    half = float(student.ppf(0.975, count - 1)) * spread * math.sqrt(1 + 1 / count) if count > 1 else 0.0
    return Figure(name, kind, real, float(np.mean(predicted)), half, n)


def classes(asked: Asked) -> dict[str, set[Key]]:
    """Steps by what they are: pages, and transfers by size."""
    pages = {key for key, program in asked.programs.items() if program == "page"}
    others = asked.bytes.keys() - pages
    return {
        "pages": pages,
        "transfers to 100 kB": {key for key in others if asked.bytes[key] <= SHORT_BYTES},
        "transfers to 1 MB": {key for key in others if SHORT_BYTES < asked.bytes[key] <= LONG_BYTES},
        "transfers above 1 MB": {key for key in others if asked.bytes[key] > LONG_BYTES},
    }


def _percentiles(name: str, runs: Sequence[list[float]]) -> list[Figure]:
    count = len(runs[0])
    if count < LEAST_STEPS:
        return []
    # A percentile of which less than one value is beyond it would be the largest of all.
    told = [share for share in PERCENTILES if count * (1 - share) >= 1]
    return [
        figure(
            f"{name} p{round(100 * share)}", f"p{round(100 * share)}", [_quantile(run, share) for run in runs], count
        )
        for share in told
    ]


def _quantile(times: Iterable[float], share: float) -> float:
    found = percentile(np.sort(np.array(list(times))), share)
    return math.nan if found is None else found


def _worst(name: str) -> Callable[[Mapping[str, Any]], float]:
    return lambda row: float(max(row[way][name] or 0.0 for way in ("down", "up")))


_CALL: tuple[tuple[str, str, Callable[[Mapping[str, Any]], float]], ...] = (
    ("call jitter", "felt", lambda row: _worst("jitter_ms")(row) / 1e3),
    ("call loss", "share", _worst("loss")),
    ("call MOS", "mos", lambda row: float(row["mos"])),
)


def felt_row(discipline: str, runs: Sequence[Outcome], asked: Asked, keys: set[Key]) -> dict[str, Any]:
    """What users feel as a row of a summary, for the rule of the recommendation.

    Parameters
    ----------
    discipline : str
    runs : sequence of Outcome
        One of reality, or one for each seed of a prediction: figures are means over them.
    asked : Asked
    keys : set
        Steps that count: those that ended in all runs that are compared.

    Returns
    -------
    dict
        ``id``, ``label``, ``options``, ``users``.
    """
    of = classes(asked)

    def times(run: Outcome, *names: str) -> Floats:
        return np.sort([run.steps_s[key] for name in names for key in of[name] if key in keys and key in run.steps_s])

    def mean(read: Callable[[Outcome], float | None]) -> float | None:
        values = [value for run in runs if (value := read(run)) is not None]
        return float(np.mean(values)) if values else None

    def short(run: Outcome) -> Floats:
        texts = [time for key, time in run.first_s.items() if key in keys]
        return np.sort(np.concatenate([times(run, "transfers to 100 kB"), texts]))

    users: dict[str, Any] = {}
    users["short"] = {"flows": 1, "p95_s": mean(lambda run: percentile(short(run), 0.95))}
    users["pages"] = {"pages": 1, "p95_s": mean(lambda run: percentile(times(run, "pages"), 0.95))}
    long = {f"p{place}_s": mean(_quantile_of(times, place / 100)) for place in (50, 95)}
    users["long"] = {"flows": 1, **long}
    users["ping"] = {
        "probes": 1,
        "idle_ms": 0.0,
        "p95_ms": mean(lambda run: 1e3 * float(np.quantile(run.pings_s, 0.95)) if run.pings_s.size else None),
    }
    users["call"] = {"mos": mean(lambda run: min((row["mos"] for row in run.calls.values()), default=None))}
    known = {name: block for name, block in users.items() if any(value is not None for value in _values(block))}
    return {"id": discipline, "label": discipline, "options": {}, "users": known}


def _quantile_of(times: Callable[..., Floats], share: float) -> Callable[[Outcome], float | None]:
    return lambda run: percentile(times(run, "transfers above 1 MB"), share)


def _values(block: Mapping[str, Any]) -> list[Any]:
    return [value for name, value in block.items() if name not in ("flows", "pages", "probes", "idle_ms")]
