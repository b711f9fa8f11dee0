"""What users feel, as the summary holds it under ``users``: which figures there are, and how each is read and shown.

The list is in Rust (``crates/metrics/src/measures.rs``), next to the figures. Terminal, report, first figure, notebook
and the second run with other hosts read it here as :data:`MEASURES`; the rule of the recommendation reads it there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from mayfly import _native
from mayfly.comparison.ordering import baseline
from mayfly.text.readable import interval_text, share_text

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow, Recommendation, Summary


_SECONDS = {"s": 1.0, "ms": 1e-3}


@dataclass(frozen=True)
class Measure:
    """A figure of what users feel.

    Parameters
    ----------
    id : str
        One word, unique in :data:`MEASURES`.
    part : str
        Key of the mapping in ``users``.
    field, interval : str
        Keys of the figure and of its 95 % interval in that mapping; the second is empty without one.
    unit : str
        Of both in the summary: ``s``, ``ms``, ``mos``, ``share`` or ``mbps``.
    better : str
        ``less`` or ``more``.
    what : str
        What is measured, in a sentence.
    statistic : str
        Which figure of it: ``95th percentile``.
    head : str
        Of its column in the terminal, a line each; empty where the terminal leaves it out.
    in_report : bool
        Whether the report has a column of it.
    pictured : bool
        Whether the first figure of the report and the notebook draw it.
    none : str
        What a share of 0 means, in words; the terminal has these in place of a column where all are 0.
    """

    id: str
    part: str
    field: str
    interval: str
    unit: str
    better: str
    what: str
    statistic: str
    head: str
    in_report: bool
    pictured: bool
    none: str

    @property
    def is_time(self) -> bool:
        """Whether it is a time, which can be without bound."""
        return self.unit in _SECONDS

    @property
    def title(self) -> str:
        """Head of a column or panel, without a unit.

        Examples
        --------
        >>> MEASURES[0].title
        'short transfers, p95'
        """
        return f"{self.what}, {self._short}"

    @property
    def phrase(self) -> str:
        """The figure within a sentence: ``p95 of short transfers``."""
        return f"{self._short} of {self.what}"

    @property
    def _short(self) -> str:
        return "p95" if self.statistic == "95th percentile" else self.statistic


def _listed() -> tuple[Measure, ...]:
    names = {one.name for one in fields(Measure)}
    rows = json.loads(_native.measures())
    return tuple(Measure(**{name: row[name] for name in names}) for row in rows if row["part"])


MEASURES = _listed()
"""In the order of columns and panels."""

BY_ID = {measure.id: measure for measure in MEASURES}


@dataclass(frozen=True)
class Felt:
    """One figure of one discipline.

    Parameters
    ----------
    value : float or None
        Seconds where it is a time, else the unit of the measure; None where a time falls on what never ended.
    ci95 : sequence of float or None
        Its interval, in the same unit.
    """

    value: float | None
    ci95: Sequence[float] | None

    @property
    def unfinished(self) -> bool:
        """Whether it falls on what never ended."""
        return self.value is None


def measured(row: DisciplineRow, measure: Measure) -> Felt | None:
    """A figure of a row of the summary.

    Parameters
    ----------
    row : mapping
        Of ``disciplines``.
    measure : Measure

    Returns
    -------
    Felt or None
        None where the run had no traffic for it.

    Examples
    --------
    >>> row = {"users": {"ping": {"probes": 9, "p95_ms": 11.0, "p95_ci95": [10.0, 12.0]}}}
    >>> measured(row, BY_ID["ping_p95"])
    Felt(value=0.011, ci95=[0.01, 0.012])
    """
    parts: Mapping[str, Any] = row.get("users") or {}
    block: Mapping[str, Any] = parts.get(measure.part) or {}
    value = block.get(measure.field)
    if value is None:
        counted = any(block.get(count) for count in ("probes", "flows", "pages"))
        return Felt(None, None) if measure.is_time and counted else None
    scale = _SECONDS.get(measure.unit, 1.0)
    ends = block.get(measure.interval)
    return Felt(value * scale, None if ends is None or None in ends else [end * scale for end in ends])


def loaded_figures(advice: Recommendation, label: str) -> dict[str, Felt]:
    """Figures of a discipline where the command puts it.

    Parameters
    ----------
    advice : mapping
        ``recommendation`` of the summary.
    label : str
        Of the discipline.

    Returns
    -------
    dict of Felt
        By id of the measure; empty where it was not run so.
    """
    own = next((one for one in advice.get("as_loaded") or () if one["discipline"] == label), None)
    return {} if own is None else {id: Felt(value, own["ci95"].get(id)) for id, value in own["figures"].items()}


def place_sentence(summary: Summary) -> str:
    """Where the disciplines of tables and figures are, which the first sentence of the answer is not about.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    str
        Empty where nothing was run where the command puts it.

    Examples
    --------
    >>> place_sentence({"recommendation": None})
    ''
    """
    advice = summary.get("recommendation")
    return (
        "Each discipline is at the link itself here; the first sentence is of the command."
        if (advice and advice.get("at_the_link"))
        else ""
    )


def ends_text(felt: Felt, measure: Measure) -> str:
    """The interval of a figure in the unit in which the figure is shown, in brackets.

    Parameters
    ----------
    felt : Felt
    measure : Measure
        Of which it is.

    Returns
    -------
    str
        Two digits of each end, as it is not known better, and whole per cent of shares from 1 % on, without a blank:
        the table fits 80 columns. Empty without an interval.

    Examples
    --------
    >>> ends_text(Felt(0.147, [0.0312, 0.2]), BY_ID["stream_missing"]), ends_text(Felt(4.2, None), BY_ID["call_mos"])
    ('[3,20]', '')
    >>> ends_text(Felt(3.57, [2.62, 6.04]), BY_ID["long_p50"]), ends_text(Felt(3.7, [3.3, 4.28]), BY_ID["call_mos"])
    ('[2.6, 6]', '[3.3, 4.3]')
    """
    if felt.ci95 is None or felt.value is None:
        return ""
    if measure.is_time:
        return interval_text(felt.value, felt.ci95, _end)
    if measure.unit == "mos":
        return f"[{felt.ci95[0]:.1f}, {felt.ci95[1]:.1f}]"
    if measure.unit == "share":
        return f"[{','.join(_percent(end) for end in felt.ci95)}]"
    return f"[{', '.join(_end(end) for end in felt.ci95)}]"


def _percent(share: float) -> str:
    """An end of an interval of a share, in per cent.

    Examples
    --------
    >>> _percent(0.0), _percent(0.0061), _percent(0.0312), _percent(0.447)
    ('0', '0.6', '3', '45')
    """
    percent = round(100.0 * share, 1)
    return f"{percent:.1f}" if 0.0 < percent < 1.0 else f"{percent:.0f}"


def _end(value: float) -> str:
    """An end of an interval, two digits.

    Examples
    --------
    >>> _end(0.5963), _end(12.74), _end(1647.0)
    ('0.6', '13', '1,600')
    """
    return f"{float(f'{value:.2g}'):,g}"


def think_times(summary: Summary) -> bool:
    """Whether the flows of a summary are whole connections, whose times hold the think times of users and servers.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    bool
        True for a capture whose connections were replayed as scripts.

    Examples
    --------
    >>> think_times({"capture": {"replay": "users"}}), think_times({"capture": None})
    (True, False)
    """
    capture = summary.get("capture")
    return capture is not None and capture["replay"] in ("users", "trains")


def is_none(rows: Sequence[DisciplineRow], measure: Measure) -> bool:
    """Whether a share is 0 under every discipline.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.
    measure : Measure

    Returns
    -------
    bool
        False of what is no share, and where some discipline has no such figure.
    """
    return bool(measure.none) and all((own := measured(row, measure)) and own.value == 0 for row in rows)


def none_sentence(rows: Sequence[DisciplineRow]) -> str | None:
    """The shares that are 0 under every discipline, in words; None where there are none.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    str or None

    Examples
    --------
    >>> none_sentence([{"users": {"video": {"stalled_share": 0.0}}}])
    'Under this discipline no video stalls.'
    """
    none = [measure.none for measure in MEASURES if is_none(rows, measure)]
    return f"Under {'every' if len(rows) > 1 else 'this'} discipline {' and '.join(none)}." if none else None


def streams_sentence(rows: Sequence[DisciplineRow]) -> str | None:
    """What the UDP streams of a capture look like, in words; None without any.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary. What a stream is depends on what it sends, so the first row says it.

    Returns
    -------
    str or None

    Examples
    --------
    >>> streams_sentence([{"users": {"streams": {"count": 6, "calls": 2, "videos": 1, "games": 2}}}])
    'UDP streams of 10 s or more, by direction: 2 of calls, 1 of video calls, 2 of games, 1 other.'
    """
    found = next((users["streams"] for row in rows if (users := row.get("users")) and users.get("streams")), None)
    if not found:
        return None
    kinds = {"of calls": found["calls"], "of video calls": found["videos"], "of games": found["games"]}
    kinds["other"] = found["count"] - sum(kinds.values())
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return f"UDP streams of 10 s or more, by direction: {said}."


def series_sentence(rows: Sequence[DisciplineRow]) -> str | None:
    """What of a capture looks like pages and is none, in words; None where there is nothing.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary. It depends on the capture alone, so the first row says it.

    Returns
    -------
    str or None

    Examples
    --------
    >>> series_sentence([{"users": {"pages": {"pages": 70, "series": 2}}}])
    '2 series of connections, one after the other or over more than 30 s, are no pages.'
    >>> series_sentence([{"users": {"pages": None}}])
    """
    found = next((users["pages"] for row in rows if (users := row.get("users")) and users.get("pages")), None)
    if not found or not (count := found.get("series")):
        return None
    return (
        f"{count:,} series of connections, one after the other or over more than 30 s, "
        f"{'is no page' if count == 1 else 'are no pages'}."
    )


def load_sentence(rows: Sequence[DisciplineRow]) -> str | None:
    """Over which time ping and call were taken.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary.

    Returns
    -------
    str or None
        One sentence; the share of the time is that under the baseline. None without a ping, or where nothing is known
        of the link.
    """
    row = baseline([row for row in rows if (users := row.get("users")) and users.get("ping")])
    if row is None or (ping := row["users"]["ping"]) is None:
        return None
    call = row["users"].get("call")
    if (share := ping.get("busy_share")) is None:
        return None
    both = "The ping and the call are" if call and call.get("from") == "synthetic" else "The ping is"
    if ping["while_busy"]:
        return (
            f"{both} taken while the link is busy, {share_text(share)} of the time under {row['label']}: in seconds of "
            f"which it sends for {100 * BUSY:.0f} % or more, in either direction."
        )
    none = "The link is" if share == 0 else "Under some of the disciplines the link is"
    over = f"{both[0].lower()}{both[1:]} taken over the whole time."
    return f"{none} in no second busy for {100 * BUSY:.0f} % of it: {over}"


BUSY = 0.8
"""Share of a second for which a link sends from which on it is busy in that second, in either direction."""
