"""Calls, films and games as their users have them.

- Calls: speech by the E-model (:mod:`mayfly.metrics.voice`); a video stands still when the next frame that is whole
  comes later than 3 times the usual distance, and 150 ms more than that (the definition of ``freezeCount`` in the
  statistics of WebRTC, W3C).
- Films: from the buffer of the player, which says when the film would stand still without the next segment.
- Games: a frame is late when its last packet comes more than `FRAME_DEADLINE_S` after it was made, and lost when one of
  its packets never comes.

What may be on its way at the end of the run does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.metrics.deadlines import FRAME_DEADLINE_S
from mayfly.metrics.voice import call_direction

if TYPE_CHECKING:
    from mayfly.summary_types import CallGroup, FilmGroup, GameGroup

FREEZE_S, FREEZE_RATIO = 0.15, 3.0
"""A video stands still when it is later than its usual distance by so much, s, and by this factor."""

UNDER_WAY_S = 1.0
"""What was sent so shortly before the end, s, and did not come, may be on its way."""


def is_of(name: str) -> pl.Expr:
    """Whether a flow has an application of this name, ``call``, ``gaming`` or ``video``; false without one."""
    return pl.col("application").str.starts_with(f"{name}(").fill_null(False)


def _of(name: str, records: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the flows of an application, with the group, direction and end points of their flow."""
    if "application" not in records.columns or rows.height == 0:
        return pl.DataFrame()
    keys = [key for key in ("replication", "flow_id") if key in rows.columns]
    own = records.filter(is_of(name))
    kept = own.select(*keys, "group", "direction", "src", "dst", begun_s="start_s")
    return rows.join(kept, on=keys, how="inner", maintain_order="left")


def _flows(rows: pl.DataFrame) -> list[pl.DataFrame]:
    keys = [key for key in ("replication", "flow_id") if key in rows.columns]
    return rows.partition_by(keys, maintain_order=True)


def _settled(frames: pl.DataFrame, end_s: float) -> pl.DataFrame:
    """Frames of which it is known whether they came."""
    known = pl.col("received_s").is_not_null() | (pl.col("lost") > 0) | (pl.col("sent_s") < end_s - UNDER_WAY_S)
    return frames.filter(known)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def frozen_share(received_s: pl.Series, span_s: float) -> float | None:
    """Share of the time for which a video stands still.

    Parameters
    ----------
    received_s : polars.Series, shape (n_frames,)
        Arrival of each whole frame, s, in order of making; null where it is not whole.
    span_s : float
        Length of what was made, s.

    Returns
    -------
    float or None
        None with fewer than two frames.

    Examples
    --------
    >>> round(frozen_share(pl.Series([0.0, 0.1, 0.2, None, None, None, None, None, None, 0.9, 1.0]), 1.1), 3)
    0.636
    """
    if len(received_s) < 2 or span_s <= 0:
        return None
    usual_s = span_s / len(received_s)
    came = received_s.drop_nulls().sort().to_numpy()
    gaps = np.diff(came)
    long = gaps > max(FREEZE_RATIO * usual_s, usual_s + FREEZE_S)
    return float(gaps[long].sum()) / span_s if came.size else 1.0


def _call(frames: pl.DataFrame) -> dict[str, float | None]:
    """One way of one call; nothing is known of one that began just before the end of the run."""
    if frames.height == 0:
        return dict.fromkeys(("rate_mbps", "loss", "delay_p50_ms", "delay_p95_ms", "jitter_ms", "mos", "frozen"))
    sent, received = frames["sent_s"].to_numpy(), frames["received_s"].fill_null(np.nan).to_numpy()
    span_s = max(float(sent[-1] - sent[0]), 1e-9)
    delays_ms = 1e3 * (received - sent)
    came = delays_ms[~np.isnan(delays_ms)]
    packets = max(float(frames["packets"].sum()), 1.0)
    words = frames.filter(medium="audio")
    heard = (call_direction(words) if words.height > 1 else None) or {}
    video = frames.filter(medium="video")
    return {
        "rate_mbps": float(frames.filter(pl.col("received_s").is_not_null())["size_bytes"].sum()) * 8e-6 / span_s,
        "loss": float(frames["lost"].sum()) / packets,
        "delay_p50_ms": float(np.percentile(came, 50)) if came.size else None,
        "delay_p95_ms": float(np.percentile(came, 95)) if came.size else None,
        "jitter_ms": heard.get("jitter_ms"),
        "mos": heard.get("mos"),
        "frozen": frozen_share(video["received_s"], span_s) if video.height else None,
    }


def call_rows(records: pl.DataFrame, frames: pl.DataFrame, end_s: float) -> list[CallGroup]:
    """Calls by group and direction.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.
    frames : polars.DataFrame, shape (n_frames, ...)
        Table ``frames`` of the same runs.
    end_s : float
        End of the run, s.

    Returns
    -------
    list of dict
        ``group``, ``direction``, ``calls``, and the means over them of ``rate_mbps`` (units that came whole, without IP
        and UDP headers), ``loss`` (packets), ``delay_p50_ms`` and ``delay_p95_ms`` (from making to last packet),
        ``jitter_ms`` and ``mos`` of speech, ``frozen`` (share of the time); None where there is none.
    """
    own = _of("call", records, frames)
    return cast(
        "list[CallGroup]", _rows(own, ["group", "direction"], "calls", lambda flow: _call(_settled(flow, end_s)))
    )


def _rows(own: pl.DataFrame, keys: list[str], count: str, measure: Any) -> list[dict[str, Any]]:
    if own.height == 0:
        return []
    rows = []
    for part in own.sort(*keys, nulls_last=True, maintain_order=True).partition_by(keys, maintain_order=True):
        measured = [measure(flow) for flow in _flows(part)]
        means = {name: _mean([one[name] for one in measured]) for name in measured[0]}
        rows.append({**{key: part[key][0] for key in keys}, count: len(measured), **means})
    return rows


def _film(segments: pl.DataFrame, end_s: float) -> dict[str, float | None]:
    came = segments.filter(pl.col("received_s").is_not_null())
    plays = came.filter(pl.col("dry_s").is_not_null())
    received, dry = (segments[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("received_s", "dry_s"))
    stalls, stalled_s, watched_s = _native.film_watched(received, dry, segments["last"][-1], end_s)
    startup_s = float(plays["received_s"][0]) - segments["begun_s"][0] if plays.height else None
    return {
        "rate_mbps": float(came["rate_bps"].mean()) / 1e6 if came.height else None,  # type: ignore[arg-type]
        "switches": float((came["level"].diff().drop_nulls() != 0).sum()),
        "startup_s": startup_s,
        "stalls": float(stalls),
        "stalled_s": stalled_s,
        "watched_s": watched_s,
    }


def film_rows(records: pl.DataFrame, segments: pl.DataFrame, end_s: float) -> list[FilmGroup]:
    """Films by group.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.
    segments : polars.DataFrame, shape (n_segments, ...)
        Table ``segments`` of the same runs.
    end_s : float
        End of the run, s.

    Returns
    -------
    list of dict
        ``group``, ``films``, and the means over them of ``rate_mbps`` (of the segments that came), ``switches`` of the
        rate, ``startup_s`` (from the start of the flow until it plays), ``stalls`` and ``stalled_s`` after that,
        ``watched_s`` (from its beginning to its end or that of the run, with stalls), and ``stalled_share``: time that
        they stood still over the time that they were watched.
    """
    rows = _rows(_of("video", records, segments), ["group"], "films", lambda film: _film(film, end_s))
    for row in rows:
        row["stalled_share"] = row["stalled_s"] / row["watched_s"] if row["watched_s"] else None
    return cast("list[FilmGroup]", rows)


def _game(frames: pl.DataFrame) -> dict[str, float | None]:
    delays_s = (frames["received_s"] - frames["sent_s"]).drop_nulls().to_numpy()
    percentiles = (50, 95, 99)
    return {
        "frames": float(frames.height),
        "late": float((delays_s > FRAME_DEADLINE_S).sum()) / max(frames.height, 1),
        "lost": float(frames["received_s"].null_count()) / max(frames.height, 1),
        **{f"delay_p{p}_ms": 1e3 * float(np.percentile(delays_s, p)) if delays_s.size else None for p in percentiles},
    }


def gaming_rows(records: pl.DataFrame, frames: pl.DataFrame, end_s: float) -> list[GameGroup]:
    """Games by group.

    Parameters
    ----------
    records : polars.DataFrame, shape (n_flows, ...)
        Flow records of one discipline.
    frames : polars.DataFrame, shape (n_frames, ...)
        Table ``frames`` of the same runs.
    end_s : float
        End of the run, s.

    Returns
    -------
    list of dict
        ``group``, ``streams``, and the means over them of ``frames``, ``late`` and ``lost`` (shares of the frames),
        ``delay_p50_ms``, ``delay_p95_ms``, ``delay_p99_ms`` (from making to last packet).
    """
    own = _of("gaming", records, frames)
    return cast("list[GameGroup]", _rows(own, ["group"], "streams", lambda flow: _game(_settled(flow, end_s))))
