"""Applications in the loop: the column ``application`` of a flow list.

What such a flow sends depends on what the network did to what it sent before, so that it has no size beforehand: one
way of a call (``call``), the video of a game that runs elsewhere (``gaming``), a film in segments (``video``).
Written as a name with all of its settings, lists with slashes::

    gaming(duration_s=60, rate_bps=15000000, fps=60, variation=0.15, spread=0.5)

The settings are those of ``crates/netsim/src/app``, which checks them; times are seconds here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly import _native
from mayfly.arrays import Integers
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES

if TYPE_CHECKING:
    import polars as pl

EXPECTED = "an application such as `gaming(duration_s=60, rate_bps=15000000, fps=60, variation=0.15, spread=0.5)`"

MOST_RTP_BYTES = 1200
"""Longest packet of a stream, without IP and UDP headers, bytes."""

MOST_APPLICATIONS = 65_535
"""Applications of different settings in a run."""

_WHOLE = re.compile(r"\s*([a-z_]+)\s*\(([^()]*)\)\s*", re.ASCII)
_SETTING = re.compile(r"\s*([a-z_]+)\s*=\s*([\w.+/-]+)\s*", re.ASCII)

Value = int | float | str | Sequence[int]


def written(name: str, settings: Mapping[str, Value]) -> str:
    """An application as text.

    Parameters
    ----------
    name : str
        ``call``, ``gaming`` or ``video``.
    settings : mapping
        By name.

    Returns
    -------
    str
        As :func:`parsed` reads it.

    Examples
    --------
    >>> written("video", {"ladder_bps": [400000, 800000], "segment_s": 4.0})
    'video(ladder_bps=400000/800000, segment_s=4.0)'
    """
    told = (f"{key}={_text(value)}" for key, value in settings.items())
    return f"{name}({', '.join(told)})"


def _text(value: Value) -> str:
    if isinstance(value, int | float | str):
        return str(value)
    # One value is a list all the same.
    return "/".join(map(str, value)) + ("/" if len(value) == 1 else "")


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Read an application.

    Parameters
    ----------
    text : str
        As above.

    Returns
    -------
    name, settings : str, dict
        Numbers are numbers, lists are lists.

    Raises
    ------
    MayflyError
        It is none.

    Examples
    --------
    >>> parsed("video(ladder_bps=400000/800000, segment_s=4.0)")
    ('video', {'ladder_bps': [400000, 800000], 'segment_s': 4.0})
    >>> parsed("film")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: 'film': must be `NAME(SETTING=VALUE, ...)`
    """
    whole = _WHOLE.fullmatch(text)
    settings: dict[str, Any] = {}
    for part in whole[2].split(",") if whole else ():
        setting = _SETTING.fullmatch(part)
        if setting is None or setting[1] in settings:
            raise MayflyError(f"{_short(text)}: `{part.strip()[:40]}` must be SETTING=VALUE, each setting once")
        settings[setting[1]] = _value(setting[2])
    if whole is None:
        raise MayflyError(f"{_short(text)}: must be `NAME(SETTING=VALUE, ...)`")
    return whole[1], settings


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _value(text: str) -> Any:
    if "/" in text:
        return [_value(part) for part in text.split("/") if part]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def settings_of(text: str) -> dict[str, Any]:
    """An application as the native module takes it: times in nanoseconds, with names that say so."""
    name, settings = parsed(text)
    given: dict[str, Any] = {}
    for key, value in settings.items():
        seconds = key.endswith("_s") and isinstance(value, int | float)
        # Beyond any bound the value itself is told.
        given[f"{key[:-2]}_ns" if seconds else key] = round(min(max(value, 0), 1e10) * 1e9) if seconds else value
    return {name: given}


def is_datagrams(text: str) -> bool:
    """Whether an application sends datagrams; else it asks and answers over TCP.

    Parameters
    ----------
    text : str
        As above.

    Raises
    ------
    MayflyError
        It is none, or a setting is missing, unknown or out of its bounds.
    """
    try:
        return _native.check_application(json.dumps(settings_of(text)))
    except ValueError as error:
        raise MayflyError(f"{_short(text)}: {error}") from None


def described(texts: pl.Series) -> pl.DataFrame:
    """What a flow list says of its applications.

    Parameters
    ----------
    texts : polars.Series of str, shape (n_flows,)
        Null for a flow without one.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 3)
        ``protocol``, ``rate_bps`` (the largest, of datagrams), ``packet_bytes`` (the longest, of datagrams); null
        without application.

    Raises
    ------
    MayflyError
        The first text that is none, with its row, from 1.
    """
    import polars as pl

    known: dict[str, tuple[str, float | None, int | None]] = {}
    for text in texts.unique(maintain_order=True).drop_nulls():
        try:
            if is_datagrams(text):
                settings = parsed(text)[1]
                rate = float(settings["max_bps"] if "max_bps" in settings else settings["rate_bps"])
                known[text] = "udp", rate, MOST_RTP_BYTES + UDP_HEADER_BYTES
            else:
                known[text] = "tcp", None, None
        except MayflyError as error:
            row = (texts == text).arg_max() or 0
            raise MayflyError(f"row {row + 1}: application: {error}") from None
    if len(known) > MOST_APPLICATIONS:
        raise MayflyError(f"applications = {len(known)}: must be at most {MOST_APPLICATIONS} of different settings")
    kinds: tuple[tuple[str, type[pl.DataType]], ...] = (
        ("protocol", pl.String),
        ("rate_bps", pl.Float64),
        ("packet_bytes", pl.Int64),
    )
    return pl.DataFrame(
        {
            name: texts.replace_strict(
                list(known), [row[place] for row in known.values()], default=None, return_dtype=dtype
            )
            for place, (name, dtype) in enumerate(kinds)
        }
    )


def native(flows: pl.DataFrame) -> tuple[list[dict[str, Any]], Integers]:
    """The applications of a flow list as the native module takes them.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.

    Returns
    -------
    settings : list of dict
        Of each application.
    numbers : ndarray, shape (n_flows,), uint16
        Of each flow: 0 for none, else 1 + place in ``settings``.
    """
    import polars as pl

    if "application" not in flows.columns:
        return [], np.zeros(flows.height, dtype=np.uint16)
    texts = flows["application"].unique(maintain_order=True).drop_nulls().to_list()
    places = list(range(1, len(texts) + 1))
    numbers = flows["application"].replace_strict(texts, places, default=0, return_dtype=pl.UInt16)
    return [settings_of(text) for text in texts], numbers.to_numpy()


def units(flows: pl.DataFrame, duration_s: float) -> float:
    """Frames and packets of speech that the calls and games of a flow list make.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.
    duration_s : float
        Of the run, s.

    Returns
    -------
    float

    Examples
    --------
    >>> import polars as pl
    >>> game = "gaming(duration_s=60, rate_bps=15000000, fps=60, variation=0.15, spread=0.5)"
    >>> units(pl.DataFrame({"start_s": [0.0, 8.0], "application": [game, game]}), 10.0)
    720.0
    """
    if "application" not in flows.columns:
        return 0.0
    sum_units = 0.0
    for text, starts in flows.drop_nulls("application").group_by("application").agg("start_s").iter_rows():
        settings = parsed(text)[1]
        per_s = settings.get("fps", 0) + (50 if settings.get("audio_bytes", 0) else 0)
        lasts = np.minimum(duration_s - np.array(starts), settings.get("duration_s", 0.0))
        sum_units += per_s * float(lasts.clip(0).sum())
    return sum_units
