"""What to use: one discipline chosen by the rule of docs/recommendation.md, or why none is worth it.

The rule is in Rust (crate ``metrics``, module ``recommendation``), for the commands and for the page of
``mayfly explore``. Here a summary becomes its question, and its answer gets the commands of tc.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mayfly import _native
from mayfly.comparison.links import WAYS
from mayfly.comparison.unanswered import udp_share_of
from mayfly.comparison.user_metrics import MEASURES, measured
from mayfly.discipline_registry import Discipline
from mayfly.discipline_registry.commands import SwitchOn, Way, switch_on
from mayfly.discipline_registry.shapers import link_layer
from mayfly.discipline_registry.tc_options import leaves

if TYPE_CHECKING:
    from mayfly.summary_types import (
        AsLoaded,
        Capture,
        Commands,
        Direction,
        DisciplineRow,
        LinkDirection,
        Recommendation,
        Summary,
    )

RULE = "recommendation"
"""Page of the documentation that states the rule."""


Row = TypeVar("Row", bound=Mapping[str, Any])
"""A row of a summary, or what the rule reads of one."""

_READ = ("flows_completed", "flows_unfinished", "flows_endless", "users", "links", "udp", "resampled", "replicated")
"""Keys of a row that the rule reads, next to its name."""


@dataclass(frozen=True)
class Loaded:
    """A discipline where the command puts it.

    Parameters
    ----------
    row : mapping
        What the rule of the recommendation reads of a row of the summary.
    packets_per_s : mapping of float
        Packets per second that the box forwards at the rates of the shapers, ``down`` and ``up``.
    hours : int
        Resampled hours that ran so, whose values are ``resampled`` of the row.
    there : mapping of sequence of float or None, optional
        Values of the criteria under what is there, at the link, in the same hours; None without hours.
    """

    row: DisciplineRow
    packets_per_s: Mapping[str, float]
    hours: int = 0
    there: Mapping[str, Sequence[float | None]] | None = None

    def document(self) -> AsLoaded:
        """A row of the key ``as_loaded`` of the recommendation."""
        found = {measure.id: own for measure in MEASURES if (own := measured(self.row, measure)) is not None}
        return {
            "discipline": self.row["label"],
            "figures": {id: own.value for id, own in found.items()},
            "hours": self.hours,
            "ci95": {id: list(own.ci95) for id, own in found.items() if own.ci95 is not None} if self.hours else {},
            "packets_per_s": dict(self.packets_per_s),
        }


class Loader(Protocol):
    """Runs disciplines where the command puts them: :class:`mayfly.comparison.as_loaded.Loading`."""

    def run(self, labels: Sequence[str], rates_bps: Mapping[str, int]) -> list[Loaded]:
        """The capture alone under each of the disciplines, shaped to these rates."""

    def resampled(self, one: Loaded, there: str, rates_bps: Mapping[str, int]) -> Loaded | None:
        """The same discipline with hours, and the values of what is there in them; None where they were stopped."""


def recommendation(summary: Summary, loading: Loader | None = None) -> Recommendation | None:
    """What to use on this link.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``: rows with ``users``, ``links`` and, where hours were resampled, ``resampled``.
    loading : Loader, optional
        Runs what the rule asks for: disciplines where the command puts them, then hours of the chosen one there. The
        answer is of the link itself when not given.

    Returns
    -------
    dict or None
        As docs/tables.md has it: ``kind``, ``discipline``, ``equal``, ``runs_on``, ``gives``, ``costs``, ``command``,
        ``commands``, ``as_loaded``, ``at_the_link``, ``doubt``, ``sentence`` and ``rule``. None
        with fewer than two disciplines that can be switched on, without what users feel, or for a network that is not
        one link.
    """
    found, loaded = _answered_with(summary, loading)
    if found is None:
        return None
    row = next((row for row in summary["disciplines"] if row["label"] == found["discipline"]), None)
    load, shapes = found["load"], found["shapes"]
    commands = None if row is None else _commands(row, load, shapes, summary.get("capture"))
    lines = commands and [*commands["up"], *commands["down"]]
    return {
        "kind": found["kind"],
        "discipline": found["discipline"],
        "equal": found["equal"],
        "runs_on": found["runs_on"],
        "gives": found["gives"],
        "costs": found["costs"],
        # Without `mayfly qdisc load` it takes the lines of both directions.
        "command": load or ("\n".join(lines) if lines else None),
        "commands": commands,
        "as_loaded": [
            one.document() for one in sorted(loaded, key=lambda one: one.row["label"] != found["discipline"])
        ],
        "at_the_link": found["at_the_link"],
        "doubt": found["doubt"],
        "sentence": found["sentence"],
        "rule": RULE,
    }


def _answered_with(summary: Summary, loading: Loader | None) -> tuple[dict[str, Any] | None, list[Loaded]]:
    """The answer of the rule, which says what it lacks until nothing is left to run, and those runs."""
    found = _answered(summary, ())
    if loading is None or found is None or not found["to_load"]:
        return found, []
    rates: dict[str, int] = {way: found["shapes"][way]["rate_bps"] for way in WAYS}
    if not (loaded := loading.run(found["to_load"], rates)):
        return found, []
    found = _answered(summary, loaded)
    if found is not None and (pair := found["to_resample"]):
        at = next(at for at, one in enumerate(loaded) if one.row["label"] == pair["discipline"])
        if (whole := loading.resampled(loaded[at], pair["reference"], rates)) is not None:
            loaded[at] = whole
            found = _answered(summary, loaded)
    return found, loaded


def _answered(summary: Summary, loaded: Sequence[Loaded]) -> dict[str, Any] | None:
    """The answer of the rule."""
    links = summary.get("links")
    if not links:
        return None
    ways = {way: Way(0, int(links[way]["buffer"][0]), links[way]["buffer"][1]) for way in WAYS}
    rows = [_asked(row) | {"in_kernel": _in_kernel(row, ways)} for row in summary["disciplines"]]
    question = {
        "command": summary.get("command") or "",
        "links": {way: _link(links[way]) for way in ways},
        "hours": resampling["hours"] if (resampling := summary.get("resampling")) else 0,
        "replications": summary.get("replications") or 1,
        "guessed": summary.get("guess") is not None,
        "unknown": unknown(summary.get("capture")),
        "framing": _framing(summary.get("capture")),
        "disciplines": rows,
        "loaded": [_asked(one.row) | {"there": one.there} for one in loaded],
    }
    found: dict[str, Any] | None = json.loads(_native.recommendation(json.dumps(question)))
    return found


def _framing(capture: Capture | None) -> dict[str, Any] | None:
    """What a capture shows of its link; None of what is no capture, and of a summary of before."""
    if capture is None or "overhead_bytes" not in capture:
        return None
    return {name: capture[name] for name in ("overhead_bytes", "translated")}


def unknown(capture: Capture | None) -> dict[str, Any] | None:
    """What the replay of a capture cannot say, as the rule is asked.

    Parameters
    ----------
    capture : mapping
        As in the summary.

    Returns
    -------
    dict or None
        None of what is no capture.
    """
    share = udp_share_of(capture)
    if capture is None or share is None:
        return None
    left_out = capture.get("left_out_share", 0.0)
    texts = {"udp_text": share.text()}
    return {"left_out_share": left_out, "udp_share": share.doubtful, **texts, "opaque_share": share.opaque}


def chosen(rows: Sequence[Row]) -> tuple[Row, list[Row]]:
    """The discipline that the rule takes of rows, each of one run, and those that do not differ from it.

    Parameters
    ----------
    rows : sequence of mapping
        Of disciplines that can be switched on, with ``users``.

    Returns
    -------
    mapping, list of mapping
    """
    found = _native.chosen(json.dumps([_asked(row) for row in rows]))
    assert found is not None  # can be switched on
    return rows[found[0]], [rows[place] for place in found[1]]


def resampled_values(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    """Values of each criterion in each of many runs, as the summary stores them.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of one discipline, one of each run.

    Returns
    -------
    dict of list
        By id of the criterion; null where it is infinite. A criterion that some run does not have is left out.
    """
    found = criteria_values(rows)
    return {
        id: [values[id] if math.isfinite(values[id]) else None for values in found]
        for id in (found[0] if found else ())
        if all(id in values for values in found)
    }


def criteria_values(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """Values of the criteria of the rule.

    Parameters
    ----------
    rows : sequence of mapping
        Each of one run.

    Returns
    -------
    list of dict of float
        Of each row, by id of the criterion; without those that it does not have.
    """
    return [dict(values) for values in _native.criteria(json.dumps([_asked(row) for row in rows]))]


def is_settled(rows: Sequence[Row], hours: Sequence[Sequence[Mapping[str, float]]], most: int, seed: int) -> bool:
    """Whether more resampled hours would leave the choice as it is.

    Parameters
    ----------
    rows : sequence of mapping
        Of the capture's own run, one of each discipline.
    hours : sequence of sequence of mapping
        Values of the criteria in the hours that ran, by row and hour (:func:`criteria_values`).
    most : int
        Hours that would run.
    seed : int
        Of the futures that are looked at.

    Returns
    -------
    bool
        False where there is nothing to choose.
    """
    return _native.settled(json.dumps([_asked(row) for row in rows]), hours, most, seed) is True


def _asked(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the rule reads of a row."""
    options = {name: str(value) for name, value in (row.get("options") or {}).items()}
    named = {"id": row["id"], "label": row.get("label") or row["id"], "options": options}
    return named | {key: row[key] for key in _READ if row.get(key) is not None}


def _link(link: LinkDirection) -> dict[str, Any]:
    known = {key: link.get(key) for key in ("rate_bps", "buffer", "load")}
    shaper = link.get("shaper")
    shaped_bps = shaper["rate_bps"] if shaper else None
    varies = link.get("trace") is not None or (shaper is not None and shaped_bps is None)
    return known | {"varies": varies, "shaped_bps": shaped_bps}


def _discipline(row: DisciplineRow) -> Discipline:
    return Discipline(row["id"], {name: str(value) for name, value in (row.get("options") or {}).items()})


def _in_kernel(row: DisciplineRow, ways: Mapping[Direction, Way]) -> bool:
    """Whether the kernel's discipline has the options of this one."""
    shaped: dict[str, Way] = {side: Way(10**6, way.limit, way.unit) for side, way in ways.items()}
    return row["id"] not in leaves() or switch_on(_discipline(row), shaped) is not None


def _commands(
    row: DisciplineRow, load: str | None, shapes: Mapping[str, Any] | None, capture: Capture | None
) -> Commands | None:
    """How to switch it on in front of this link; the options are those of the run."""
    ways = {side: Way(shape["rate_bps"], *shape["buffer"]) for side, shape in (shapes or {}).items()}
    seen = _framing(capture)
    overhead = seen["overhead_bytes"] if seen else 0
    layer = link_layer(str(overhead) if overhead else None)
    nat = seen is None or seen["translated"]
    found: SwitchOn | None = switch_on(_discipline(row), ways, layer, nat) if ways else None
    if found is None:
        return None
    up, down = list(found.up), list(found.down)
    return {
        "line": found.line,
        "load": load,
        "down_bps": ways["down"].rate_bps,
        "up_bps": ways["up"].rate_bps,
        "up": up,
        "down": down,
        "shaped": up,
        "arriving": down,
    }
