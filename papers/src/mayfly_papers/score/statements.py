"""Distinct statements: what several claims check under other loads, cells or readings is one sentence of a paper."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mayfly_papers.declare.agreement import RowDocument
from mayfly_papers.declare.readings import readings, split
from mayfly_papers.pages import Kind
from mayfly_papers.score.headline import kinds
from mayfly_papers.score.outcome import Judged, judged


@dataclass(frozen=True)
class Statement:
    """A sentence of a paper with what became of it.

    Parameters
    ----------
    page, source, says : str
        As its claims have them.
    claims : tuple of str
        Ids of the claims of the reading that counts.
    judged : Judged
        By that reading.
    others : dict
        What other readings give, by their names.
    """

    page: str
    source: str
    says: str
    claims: tuple[str, ...]
    judged: Judged
    others: dict[str, Judged]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "page": self.page,
            "source": self.source,
            "says": self.says,
            "claims": list(self.claims),
            "verdict": str(self.judged),
            "outcome": str(self.judged.outcome),
            "holding": self.judged.holding,
            "rows": self.judged.rows,
            "other_readings": {name: str(other) for name, other in self.others.items()},
        }


def statements(document: Mapping[str, Any]) -> list[Statement]:
    """Statements of a reproduction, in its order.

    Parameters
    ----------
    document : mapping
        With ``claims``, as ``summary.json`` has them; those that were not measured do not count.

    Returns
    -------
    list of Statement
    """
    of: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for claim in document["claims"]:
        if claim["rows"]:
            of.setdefault((claim["page"], claim["says"]), []).append(claim)
    return [_statement(page, says, claims) for (page, says), claims in of.items()]


def _statement(page: str, says: str, claims: list[Mapping[str, Any]]) -> Statement:
    places: dict[int, list[Mapping[str, Any]]] = {}
    for claim in claims:
        places.setdefault(split(page, claim["id"])[1] or 0, []).append(claim)
    counting = min(places)
    testable = kinds()[page] is not Kind.OTHER_CAPTURES
    names = [reading.name for reading in readings().get(page, ())]

    def outcome(place: int) -> Judged:
        rows: list[RowDocument] = [row for claim in places[place] for row in claim["rows"]]
        return judged(rows, testable=testable)

    others = {names[place]: outcome(place) for place in sorted(places) if place != counting}
    ids = tuple(claim["id"] for claim in places[counting])
    return Statement(page, claims[0]["source"], says, ids, outcome(counting), others)
