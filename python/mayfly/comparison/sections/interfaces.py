"""What each interface of a network of several links did, under each discipline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mayfly.comparison.sections.section import Section
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, count_text, digits, rate_text, share_text

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRow, DisciplineRowPart, Summary

MOST = 12
"""Interfaces in a table; the busiest, when there are more."""

HEADS = ("speed", "link use", "arrivals", "drops", "share\ndropped", "mean queue\npackets", "marks", "lost")


def busiest(rows: Sequence[DisciplineRow]) -> list[int]:
    """Positions of the interfaces to show, in order.

    Parameters
    ----------
    rows : sequence of mapping
        ``disciplines`` of the summary, with ``interfaces``.

    Returns
    -------
    list of int
        At most `MOST`, those most used under any discipline; without such that nothing crosses.
    """
    used = [max(each["utilisation"] for each in own) for own in zip(*(row["interfaces"] for row in rows), strict=True)]
    order = sorted((at for at, use in enumerate(used) if use > 0), key=lambda at: -used[at])
    return sorted(order[:MOST])


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``interfaces``, of networks with several links."""
    from mayfly.simulate.network.interfaces import over_replications

    return {"interfaces": over_replications([run.interfaces for run in of.runs])} if of.runs[0].interfaces else {}


def tables(summary: Summary) -> tuple[Table, ...]:
    """A row per interface and discipline; none for a dumbbell."""
    rows = summary["disciplines"]
    if not all("interfaces" in row for row in rows):
        return ()
    few = len(busiest(rows)) < len(rows[0]["interfaces"])
    notes = (f"The busiest {len(busiest(rows))} of {len(rows[0]['interfaces'])}.",) if few else ()
    heads = ("discipline", "interface", *_heads(rows))
    return (Table("Interfaces", heads, tuple(_lines(rows)), names=2, notes=notes),)


def _heads(rows: Sequence[DisciplineRow]) -> list[str]:
    return [head for head, shown in zip(HEADS, _shown(rows), strict=True) if shown]


def _shown(rows: Sequence[DisciplineRow]) -> list[bool]:
    """Which columns there are: marks and losses only where there were any."""
    any_of = {key: any(own[key] for row in rows for own in row["interfaces"]) for key in ("marks", "lost")}
    return [True] * (len(HEADS) - 2) + [any_of["marks"], any_of["lost"]]


def _queue_text(packets: float | None) -> str:
    """Mean queue; what is next to nothing says so."""
    if packets is None:
        return MISSING
    return "< 0.01" if 0 < packets < 0.01 else digits(packets)


def _lines(rows: Sequence[DisciplineRow]) -> list[tuple[str, ...]]:
    """Label, interface and cells, all interfaces of a discipline together."""
    shown, chosen = _shown(rows), busiest(rows)
    lines = []
    for row in rows:
        for position, at in enumerate(chosen):
            own = row["interfaces"][at]
            cells = (
                rate_text(own["rate_bps"]),
                share_text(own["utilisation"]),
                count_text(own["arrivals"]),
                count_text(own["drops"]),
                share_text(own["drops"] / own["arrivals"] if own["arrivals"] else 0.0),
                _queue_text(own["queue_mean_packets"]),
                count_text(own["marks"]),
                count_text(own["lost"]),
            )
            kept = [cell for cell, keep in zip(cells, shown, strict=True) if keep]
            lines.append((row["label"] if position == 0 else "", own["name"], *kept))
    return lines


SECTION = Section(measure, tables)
