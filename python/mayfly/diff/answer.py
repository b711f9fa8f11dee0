"""What ``mayfly diff`` answers: a table, a sentence for each change beyond chance, and a small report."""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any

from mayfly.diff.figure import changes_figure
from mayfly.diff.measures import FEWEST_SESSIONS, RESAMPLES, Change, changes, sessions_of
from mayfly.diff.samples import Side, sides_of
from mayfly.errors import MayflyError
from mayfly.show.notebook import Result
from mayfly.show.table import Cell, Row, Table, html
from mayfly.text.folder import filled
from mayfly.text.readable import MISSING, digits, rate_text, time_text

FILES = ("report.html", "diff.json")
"""What is written."""

_HIGHER_IS_WORSE = ("s", "share")

_TIMES = 3.0
"""From here on a ratio is told as such, and not in per cent."""

_NO_CHANGE = "\u2248: no change that is more than chance."


@dataclass(frozen=True, repr=False)
class Diff(Result):
    """Two sides and what changed from the first to the second.

    Parameters
    ----------
    before, after : str
        What was given.
    pairs : list of (str, Side, Side, list of Change)
        What is compared with what, a discipline each of runs.
    """

    before: str
    after: str
    pairs: list[tuple[str, Side, Side, list[Change]]]

    def document(self) -> dict[str, Any]:
        """All of it for JSON.

        Returns
        -------
        dict
            ``before``, ``after``; ``compared``: ``label``, ``transfers`` of both, ``changes`` with ``name``, ``unit``,
            ``before``, ``after``, ``ratio``, ``ci95``, ``p``, ``beyond_chance``; ``account``, a row for each capture;
            ``sentences``.
        """
        return {
            "schema": 1,
            "command": "diff",
            "before": self.before,
            "after": self.after,
            "compared": [
                {
                    "label": label,
                    "transfers": [before.frame.height, after.frame.height],
                    "changes": [_finite(asdict(change)) for change in found],
                }
                for label, before, after, found in self.pairs
            ],
            "account": [side.account for side in self.pairs[0][1:3] if side.account is not None],
            "sentences": self.sentences(),
        }

    def tables(self) -> list[Table]:
        """A table for each pair, changes beyond chance marked as better or worse; of several, a board of all first."""
        each = [_table(label, found) for label, _, _, found in self.pairs]
        return each if len(each) == 1 else [_board(self.pairs), *(replace(table, page_only=True) for table in each)]

    def headlines(self) -> list[str]:
        """How much changed beyond chance, a sentence for each pair."""
        told = [_headline(pair) for pair in self.pairs]
        if len(told) == 1:
            return [f"Beyond chance: {told[0]}", *self._notes()]
        return [_NO_CHANGE, "Beyond chance:", *told, *self._notes()]

    def _notes(self) -> list[str]:
        """What has to be known of the sides."""
        notes = {side.source: side.note for _, before, after, _ in self.pairs for side in (before, after)}
        return [f"note: {source}: {note}" for source, note in notes.items() if note]

    def sentences(self) -> list[str]:
        """A sentence for each change beyond chance, and one for all that is not."""
        said = []
        for label, before, after, found in self.pairs:
            named = f"{label}: " if label else ""
            kept = [change for change in found if change.beyond_chance]
            said += [f"{named}{_sentence(change)}" for change in kept]
            rest = [change.name for change in found if change.p is not None and not change.beyond_chance]
            few = min(map(sessions_of, (before, after)))
            if few < FEWEST_SESSIONS:
                said.append(
                    f"{named}a side has {few} sessions: too few to tell change from chance (from {FEWEST_SESSIONS})"
                )
            elif not kept:
                said.append(f"{named}nothing changed beyond chance ({len(rest)} measures)")
            elif rest:
                said.append(f"{named}no measurable change in {len(rest)} more: {'; '.join(rest)}")
        return said + self._notes()

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Write :data:`FILES`; they appear together or not at all.

        Parameters
        ----------
        folder : path
            Created when absent.

        Returns
        -------
        dict of str
            Paths by name without ending.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        from mayfly.show import page

        names = [os.path.basename(os.path.normpath(side)) for side in (self.before, self.after)]
        if names[0] == names[1]:
            names = [self.before, self.after]
        figure = changes_figure({label: found for label, _, _, found in self.pairs})
        body = [
            f"<h1>What changed from {escape(names[0])} to {escape(names[1])}</h1>",
            page.answer(
                ["Beyond chance: " + "; ".join(map(_headline, self.pairs))],
                self.sentences(),
                more="Every change in words",
            ),
            page.place_of(figure, leads=True) if figure else "",
            *map(html, self.tables()),
            '<footer class="soft">Made by Mayfly.</footer>',
        ]
        with filled(folder, FILES) as partial:
            plots = [page.for_script(figure)] if figure else []
            page.write(partial / FILES[0], page.document(" and ".join(names), body, plots))
            text = json.dumps(self.document(), indent=1, allow_nan=False)
            (partial / FILES[1]).write_text(text + "\n", encoding="utf-8")
        return {name.partition(".")[0]: os.path.join(folder, name) for name in FILES}


def diff(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    *,
    internal: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> Diff:
    """Compare two runs or two captures.

    Parameters
    ----------
    before, after : path
        Folders that ``compare``, ``whatif`` or ``simulate`` wrote, or captures of a link before and after a change.
    internal : str or sequence of str, optional
        CIDRs of the site, for captures.
    resamples : int
        Draws of the bootstrap, from 20.
    seed : int
        Of these draws.

    Returns
    -------
    Diff

    Raises
    ------
    MayflyError
        A side cannot be read, or the two have no discipline in common.

    Notes
    -----
    How change is told from chance: :mod:`mayfly.diff.measures`.
    """
    if resamples < 20:
        raise MayflyError(f"resamples = {resamples}: must be at least 20")
    first, second = sides_of(before, internal), sides_of(after, internal)
    if len(first) == len(second) == 1:
        labels = list(dict.fromkeys([first[0].label, second[0].label]))
        pairs = [(" to ".join(filter(None, labels)), first[0], second[0])]
    else:
        by_label = {side.label: side for side in second}
        pairs = [(side.label, side, by_label[side.label]) for side in first if side.label in by_label]
    if not pairs:
        names = [", ".join(side.label or "a capture" for side in sides) for sides in (first, second)]
        raise MayflyError(f"{before} has {names[0]} and {after} {names[1]}: nothing is on both sides")
    return Diff(
        str(before),
        str(after),
        [(label, one, two, changes(one, two, resamples=resamples, seed=seed)) for label, one, two in pairs],
    )


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """What JSON has no number for is null."""
    return {name: None if isinstance(value, float) and math.isinf(value) else value for name, value in row.items()}


def _headline(pair: tuple[str, Side, Side, list[Change]]) -> str:
    """How much changed beyond chance, and for the worse or the better."""
    label, before, after, found = pair
    name = f"{label}: " if label else ""
    if min(map(sessions_of, (before, after))) < FEWEST_SESSIONS:
        return f"{name}too few sessions to tell change from chance"
    kept = [change for change in found if change.beyond_chance and change.unit in _HIGHER_IS_WORSE]
    worse = sum(change.ratio is not None and change.ratio > 1 for change in kept)
    tested = sum(change.p is not None for change in found)
    if not any(change.beyond_chance for change in found):
        return f"{name}nothing of {tested} measures changed"
    return f"{name}{worse} of {tested} measures got worse, {len(kept) - worse} better"


def _value(change: Change, value: float | None) -> str:
    if value is None:
        return MISSING
    if math.isinf(value):
        return "never"
    if change.unit == "s":
        return time_text(value)
    return rate_text(value) if change.unit == "bit/s" else f"{digits(100 * value)} %"


def _percent(ratio: float) -> str:
    if ratio >= _TIMES:
        return f"{digits(ratio)} times"
    if 0 < ratio < 0.05:
        return f"-{100 * (1 - ratio):.1f} %" if ratio >= 0.001 else "<-99.9 %"
    return f"{100 * (ratio - 1):+.1f} %" if abs(ratio - 1) < 0.1 else f"{100 * (ratio - 1):+.0f} %"


def _interval(ends: tuple[float, float]) -> str:
    if max(ends) >= _TIMES:
        return f"[{digits(ends[0])}, {digits(ends[1])}] times"
    return f"[{', '.join(map(_percent, ends))}]"


def _told(change: Change) -> Cell:
    """The change, marked as better or worse where it is beyond chance."""
    good = None
    if change.beyond_chance and change.ratio is not None and change.unit in _HIGHER_IS_WORSE:
        good = change.ratio < 1
    return Cell(MISSING if change.ratio is None else _percent(change.ratio), good)


def _board(pairs: Sequence[tuple[str, Side, Side, list[Change]]]) -> Table:
    """What changed, a measure a row and a pair a column."""
    names = list(dict.fromkeys(change.name for *_, found in pairs for change in found if change.ratio is not None))
    by_pair = [{change.name: change for change in found} for *_, found in pairs]
    rows: list[Row] = []
    for name in names:
        shown = []
        for found in by_pair:
            change = found.get(name)
            if change is None or change.ratio is None:
                shown.append(Cell(MISSING))
            else:
                shown.append(_told(change) if change.beyond_chance or change.p is None else Cell("\u2248"))
        rows.append((name, *shown))
    return Table("What changed", ("", *(label for label, *_ in pairs)), tuple(rows), notes=(_NO_CHANGE,), narrow="fold")


def _table(label: str, found: list[Change]) -> Table:
    rows = []
    for change in found:
        if change.before is None and change.after is None:
            continue
        interval = "" if change.ci95 is None else _interval(change.ci95)
        rows.append((change.name, _value(change, change.before), _value(change, change.after), _told(change), interval))
    heads = ("", "before", "after", "change", "95 % interval")
    return Table(f"Change {label}".strip(), heads, tuple(rows), narrow="fold")


def _sentence(change: Change) -> str:
    assert change.ratio is not None and change.ci95 is not None
    values = f"{_value(change, change.before)} -> {_value(change, change.after)}"
    interval = f"{_percent(change.ratio)} {_interval(change.ci95)}"
    return f"{change.name}: {values}, {interval}"
