"""What users had under one discipline, measured or predicted: one shape for both, so that they are compared alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
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
