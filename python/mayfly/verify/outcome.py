"""What users had under one discipline, measured or predicted: one shape for both, so that they are compared alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.metrics.users import LONG_BYTES, SHORT_BYTES, percentile
from mayfly.metrics.voice import call_row

Key = tuple[str, int]
"""A user and the place of a step among those that the user took."""

NOT_TIMED = frozenset({"ping", "call", "dns", "video", "iperf3"})
"""Programs whose time from start to end tells nothing of the link, or whose figures are others."""


@dataclass(frozen=True)
class Outcome:
    """What users had.

    Parameters
    ----------
    discipline : str
    steps_s : dict of float
        By user and step, how long it took, s; a step that did not end is not there.
    first_s : dict of float
        Of pages, the time of their text.
    segments_s : dict of list of float
        By user, how long each segment of a film took, s.
    pings_s : ndarray
        Round-trip times under load, less the least, s.
    calls : dict of dict
        By user, a call as :func:`mayfly.metrics.voice.call_row` has it.
    losses : dict of float
        By user of a stream of UDP, the share that was lost.
    drops : dict of int
        Packets that the disciplines dropped, ``down`` and ``up``.
    """

    discipline: str
    steps_s: dict[Key, float]
    first_s: dict[Key, float]
    segments_s: dict[str, list[float]]
    pings_s: Floats
    calls: dict[str, dict[str, Any]]
    losses: dict[str, float]
    drops: dict[str, int]


@dataclass(frozen=True)
class Asked:
    """What users asked for, the same under every discipline.

    Parameters
    ----------
    bytes : dict of int
        By user and step.
    programs : dict of str
        By user and step.
    """

    bytes: dict[Key, int] = field(default_factory=dict)
    programs: dict[Key, str] = field(default_factory=dict)


def asked_of(steps: Iterable[Mapping[str, Any]]) -> Asked:
    """What was asked for in steps that ended.

    Parameters
    ----------
    steps : iterable of mapping
        As the guest tells them.

    Returns
    -------
    Asked
    """
    ended = [step for step in steps if "end_s" in step and "failed" not in step]
    return Asked({key_of(step): step["bytes"] for step in ended}, {key_of(step): step["program"] for step in ended})


def key_of(step: Mapping[str, Any]) -> Key:
    """User and place of a step."""
    return step["actor"], step["step"]


def measured(discipline: str, steps: list[dict[str, Any]], drops: dict[str, int]) -> Outcome:
    """What programs told of themselves.

    Parameters
    ----------
    discipline : str
    steps : list of dict
        As the guest tells them.
    drops : dict of int

    Returns
    -------
    Outcome
    """
    ended = [step for step in steps if "end_s" in step and "failed" not in step]
    timed = [step for step in ended if step["program"] not in NOT_TIMED]
    pings = [np.array(step["rtts_s"]) for step in ended if step["program"] == "ping"]
    whole = np.concatenate(pings) if pings else np.empty(0)
    return Outcome(
        discipline,
        {key_of(step): step["end_s"] - step["start_s"] for step in timed},
        {key_of(step): step["transfers"][0]["time_s"] for step in timed if step["program"] == "page"},
        {step["actor"]: step["segments_s"] for step in steps if step["program"] == "video" and step.get("segments_s")},
        whole - whole.min() if whole.size else whole,
        {
            step["actor"]: row
            for step in ended
            if step["program"] == "call" and (row := _call(step["ways"])) is not None
        },
        {step["actor"]: step["loss"] for step in ended if "loss" in step},
        drops,
    )


def _call(ways: Mapping[str, Mapping[str, list[float | None]]]) -> dict[str, Any] | None:
    kinds = {"sent_s": pl.Float64, "received_s": pl.Float64}
    frames = {way: pl.DataFrame({name: rows[name] for name in kinds}, schema=kinds) for way, rows in ways.items()}
    return call_row(frames["down"], frames["up"])


@dataclass(frozen=True)
class Figure:
    """One figure of a workload under a discipline.

    Parameters
    ----------
    name : str
        ``pages p50`` and the like.
    kind : str
        What bound is asked for: one of :data:`BOUNDS`.
    real, predicted : float
        Seconds, a share, or a number of packets.
    n : int
        Of how many it is.
    """

    name: str
    kind: str
    real: float
    predicted: float
    n: int

    @property
    def error(self) -> float:
        """By how much the prediction is off, as a share of what is real."""
        if self.real == self.predicted:
            return 0.0
        return self.predicted / self.real - 1 if self.real else float("inf")

    @property
    def is_in(self) -> bool:
        """Whether it is within what is asked for."""
        share, least = BOUNDS[self.kind]
        return abs(self.predicted - self.real) <= max(share * abs(self.real), least)


BOUNDS = {
    "p50": (0.05, 0.0),
    "p95": (0.15, 0.0),
    "p99": (0.15, 0.0),
    "felt": (0.2, 1e-3),
    "share": (0.2, 5e-3),
    "count": (0.2, 5.0),
}
"""What is asked for, by kind: as a share of what is real, and at least, in the figure's unit."""

LEAST_STEPS = 8
"""Steps from which on a percentile is told."""


def figures(real: Outcome, predicted: Outcome, asked: Asked) -> list[Figure]:
    """Figures of a prediction beside what was.

    Parameters
    ----------
    real, predicted : Outcome
        Under the same discipline.
    asked : Asked
        In the captured run.

    Returns
    -------
    list of Figure
        Over the steps that ended in all three runs.
    """
    both = [key for key in real.steps_s if key in predicted.steps_s and key in asked.bytes]
    found: list[Figure] = []
    for name, of in classes(asked).items():
        keys = [key for key in both if key in of]
        found += _percentiles(name, *([times.steps_s[key] for key in keys] for times in (real, predicted)))
    first = [key for key in both if key in real.first_s and key in predicted.first_s]
    found += _percentiles("text of pages", *([times.first_s[key] for key in first] for times in (real, predicted)))
    films = [user for user in real.segments_s if user in predicted.segments_s]
    pairs = [pair for user in films for pair in zip(real.segments_s[user], predicted.segments_s[user], strict=False)]
    found += _percentiles("film segments", [one for one, _ in pairs], [other for _, other in pairs])
    if real.pings_s.size and predicted.pings_s.size:
        for share in (0.5, 0.95):
            one, other = (float(np.quantile(times.pings_s, share)) for times in (real, predicted))
            found.append(Figure(f"ping p{round(100 * share)}", "felt", one, other, real.pings_s.size))
    for name, kind, read in _CALL:
        values = [
            (read(real.calls[user]), read(predicted.calls[user])) for user in real.calls if user in predicted.calls
        ]
        if values:
            one, other = (float(np.mean(column)) for column in zip(*values, strict=True))
            found.append(Figure(name, kind, one, other, len(values)))
    for user, loss in real.losses.items():
        if user in predicted.losses:
            found.append(Figure("stream loss", "share", loss, predicted.losses[user], 1))
    for way in ("down", "up"):
        found.append(Figure(f"drops {way}", "count", real.drops[way], predicted.drops[way], 1))
    return found


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


def _percentiles(name: str, real: list[float], predicted: list[float]) -> list[Figure]:
    if len(real) < LEAST_STEPS:
        return []
    found = []
    # A percentile of a few is one of them: those that are told have as many beyond it as make one.
    for share in (0.5, 0.95, 0.99):
        if len(real) * (1 - share) < 1:
            continue
        one, other = (percentile(np.sort(np.array(times)), share) for times in (real, predicted))
        assert one is not None and other is not None  # all ended
        found.append(Figure(f"{name} p{round(100 * share)}", f"p{round(100 * share)}", one, other, len(real)))
    return found


def _worst(name: str, of: Mapping[str, Any]) -> float:
    return float(max(of[way][name] or 0.0 for way in ("down", "up")))


_CALL = (
    ("call jitter", "felt", lambda row: _worst("jitter_ms", row) / 1e3),
    ("call loss", "share", lambda row: _worst("loss", row)),
    ("call MOS", "felt", lambda row: float(row["mos"])),
)
