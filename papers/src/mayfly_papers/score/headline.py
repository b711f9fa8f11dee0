"""Headline claims: what abstracts and conclusions say, each with the rows that decide it.

A headline is declared once, in ``headlines.toml``. Its verdict, its numbers and what other readings give follow from
the claims of a reproduction.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mayfly.errors import MayflyError
from mayfly_papers.declare.agreement import RowDocument, factor_of
from mayfly_papers.declare.declaration import Difference, Verdict
from mayfly_papers.declare.exhibits import PAPERS
from mayfly_papers.declare.markdown import interval, number
from mayfly_papers.declare.readings import by_reading, readings
from mayfly_papers.pages import PAGES, Kind
from mayfly_papers.score.outcome import STANDS, Judged, Outcome, holds, judged, leniently

FILE = "headlines.toml"

FEW = 3
"""Numbers that are told one by one; more are told as a range."""

ClaimDocument = Mapping[str, Any]
"""A claim of ``summary.json``."""


class Rests(BaseModel):
    """Rows of claims of one page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    page: str = Field(description="page that declares the claims")
    claim: str = Field(description="id without the suffix of its reading; may be a pattern, as `figure-3-*`")
    rows: tuple[str, ...] = Field(("*",), description="patterns of the names of rows; all of them when absent")
    claimed: tuple[str, ...] = Field(("*",), description="patterns of the directions of rows; all when absent")

    def takes(self, row: RowDocument) -> bool:
        """Whether a row of such a claim decides."""
        return matches(row["name"], self.rows) and matches(row["claimed"], self.claimed)


class Print(Rests):
    """Printed numbers that are the paper's own evidence for its words."""

    at_most: float = Field(description="what the words allow")


class Headline(BaseModel):
    """What an abstract or a conclusion says, with the rows that decide it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    paper: str = Field(description="beginning of the ids of its tables and figures")
    source: str = Field(description="where the paper says so")
    says: str = Field(description="the statement in our words")
    rests_on: tuple[Rests, ...] = Field(min_length=1)
    shows: tuple[str, ...] = Field((), description="patterns of rows whose numbers are told; those printed when absent")
    print_itself: Print | None = Field(None, alias="print", description="numbers of the paper that must say the same")


@cache
def headlines() -> tuple[Headline, ...]:
    """What is declared, in order of the papers.

    Raises
    ------
    MayflyError
        Not as :class:`Headline` describes, an id twice, or an unknown paper.
    """
    table = tomllib.loads((files(__package__) / FILE).read_text(encoding="utf-8"))
    found: list[Headline] = []
    for entry in table["headline"]:
        try:
            one = Headline(**entry)
        except ValidationError as error:
            first = error.errors()[0]
            raise MayflyError(f"{FILE}, {entry.get('id')}: {first['loc']}: {first['msg']}") from None
        if one.paper not in PAPERS:
            raise MayflyError(f"{FILE}, {one.id}: paper = {one.paper}: must be one of {', '.join(PAPERS)}")
        if one.id in {other.id for other in found}:
            raise MayflyError(f"{FILE}, {one.id}: declared twice")
        found.append(one)
    return tuple(sorted(found, key=lambda one: list(PAPERS).index(one.paper)))


@dataclass(frozen=True)
class Deciding:
    """A row with the claim it belongs to."""

    claim: ClaimDocument
    row: RowDocument


@dataclass(frozen=True)
class Reason:
    """Why a headline does not stand: the reason of one of its claims.

    Parameters
    ----------
    id : str
        Page and claim: what ``mayfly reproduce reason ID`` takes.
    tested : bool
        Whether a run shows it.
    """

    id: str
    tested: bool


@dataclass(frozen=True)
class Told:
    """A headline with what became of it.

    Parameters
    ----------
    headline : Headline
    judged : Judged
        By the reading that counts.
    deciding : tuple of Deciding
        The rows of that reading.
    others : dict
        What other readings give, by their names.
    reasons : tuple of Reason
        Of claims whose rows do not hold; empty where the headline stands.
    unexplained : tuple of str
        Claims, page and id, whose rows do not hold and which have no reason: undecided ones.
    at_twice : Judged, optional
        What twice the thresholds that stand for words would give; null where that changes nothing.
    """

    headline: Headline
    judged: Judged
    deciding: tuple[Deciding, ...]
    others: dict[str, Judged]
    reasons: tuple[Reason, ...] = ()
    unexplained: tuple[str, ...] = ()
    at_twice: Judged | None = None

    @property
    def stands(self) -> bool:
        """Whether it needs no reason."""
        return self.judged.outcome in STANDS

    @property
    def shown(self) -> list[RowDocument]:
        """Rows whose numbers are told."""
        rows = [one.row for one in self.deciding]
        if self.headline.shows:
            return [row for row in rows if matches(row["name"], self.headline.shows)]
        return [row for row in rows if row["printed"] is not None] or rows

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "id": self.headline.id,
            "paper": self.headline.paper,
            "source": self.headline.source,
            "says": self.headline.says,
            "print": told_print(self.shown),
            "ours": told_ours(self.shown),
            "factor": told_factors(self.shown),
            "holding": sum(holds(one.row) for one in self.deciding),
            "rows": len(self.deciding),
            "verdict": str(self.judged),
            "at_twice": str(self.at_twice) if self.at_twice else None,
            "other_readings": {name: str(other) for name, other in self.others.items()},
            "reasons": [{"id": reason.id, "tested": reason.tested} for reason in self.reasons],
            "unexplained": list(self.unexplained),
        }


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name fits one of some patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def kinds() -> dict[str, Kind]:
    """Kinds of the pages, by page."""
    return {page.id: page.kind for page in PAGES}


def told(document: Mapping[str, Any]) -> list[Told]:
    """Headlines whose claims are all in a reproduction and were measured.

    Parameters
    ----------
    document : mapping
        With ``claims``, as ``summary.json`` has them.

    Returns
    -------
    list of Told
        In order of the papers.
    """
    claims = {(claim["page"], claim["id"]): claim for claim in document["claims"] if claim["rows"]}
    return [one for one in (_told(headline, claims) for headline in headlines()) if one is not None]


Claims = Mapping[tuple[str, str], ClaimDocument]


def _told(headline: Headline, claims: Claims) -> Told | None:
    counting: list[Deciding] = []
    others: dict[str, list[Deciding]] = {}
    for part in headline.rests_on:
        found = _parts(part, claims)
        if not found:
            return None
        for place, rows in found.items():
            if place is None:
                counting += rows
            else:
                others.setdefault(place, []).extend(rows)
    if not counting:
        return None
    testable = all(kinds()[part.page] is Kind.PAPER for part in headline.rests_on)
    print_holds: list[bool] = []
    if headline.print_itself is not None:
        printed = _parts(headline.print_itself, claims).get(None, [])
        numbers = [one.row["printed"] for one in printed if one.row["printed"] is not None]
        print_holds = [value <= headline.print_itself.at_most for value in numbers]
    deciding = [one.row for one in counting]
    verdict = judged(deciding, testable=testable, print_holds=print_holds)
    twice = judged(leniently(deciding), testable=testable, print_holds=print_holds)
    reasons, unexplained = _reasons(counting) if verdict.outcome in (Outcome.MIXED, Outcome.CONTRADICTED) else ((), ())
    by_name = {name: judged([one.row for one in rows], testable=testable) for name, rows in others.items()}
    at_twice = None if twice == verdict or verdict.outcome in (Outcome.ELSEWHERE, Outcome.PRINT) else twice
    return Told(headline, verdict, tuple(counting), by_name, reasons, unexplained, at_twice)


def _parts(part: Rests, claims: Claims) -> dict[str | None, list[Deciding]]:
    """Rows by the name of their reading, None for the one that counts; empty where a claim is not there."""
    declared = next((page for page in PAGES if page.id == part.page), None)
    if declared is None:
        raise MayflyError(f"{FILE}: page = {part.page}: there is none")
    stems = {
        stem: of
        for stem, of in by_reading(part.page, (claim.id for claim in declared.claims)).items()
        if fnmatchcase(stem, part.claim)
    }
    if not stems:
        raise MayflyError(f"{FILE}: claim = {part.claim}: {part.page} declares none")
    names = [reading.name for reading in readings().get(part.page, ())]
    found: dict[str | None, list[Deciding]] = {}
    for of in stems.values():
        first = next(iter(of))
        for place, ids in of.items():
            name = None if place == first else names[place or 0]
            for identity in ids:
                claim = claims.get((part.page, identity))
                if claim is None and name is None:
                    return {}
                rows = [row for row in claim["rows"] if part.takes(row)] if claim else []
                found.setdefault(name, []).extend(Deciding(claim, row) for row in rows if claim)
    return {name: rows for name, rows in found.items() if rows}


def _reasons(deciding: Sequence[Deciding]) -> tuple[tuple[Reason, ...], tuple[str, ...]]:
    known = differences()
    failing = dict.fromkeys((one.claim["page"], one.claim["id"]) for one in deciding if not holds(one.row))
    reasons = [Reason("/".join(key), known[key].tested) for key in failing if key in known]
    return tuple(reasons), tuple("/".join(key) for key in failing if key not in known)


def differences() -> dict[tuple[str, str], Difference]:
    """Reasons by page and claim."""
    return {(page.id, claim.id): claim.difference for page in PAGES for claim in page.claims if claim.difference}


def told_print(rows: Sequence[RowDocument]) -> str:
    """What the paper has, in words: its numbers, or the direction it claims."""
    numbers = [row["printed"] for row in rows if row["printed"] is not None]
    if numbers:
        return _few([number(value) for value in numbers], numbers)
    texts = list(dict.fromkeys(row["claimed"] for row in rows))
    return "; ".join(texts[:2])


def told_ours(rows: Sequence[RowDocument]) -> str:
    """Our numbers: few with their intervals, more as a range; with the unit where it is one."""
    units = {row["unit"] for row in rows}
    unit = f" {units.pop()}" if len(units) == 1 and units != {""} else ""
    texts = [number(row["ours"]) + (f" {interval(row['ci95'])}" if row["ci95"] else "") for row in rows]
    return _few(texts, [row["ours"] for row in rows]) + unit


def told_factors(rows: Sequence[RowDocument]) -> str:
    """How far ours are from the print."""
    factors = [factor for row in rows if (factor := factor_of(row)) is not None]
    return _few([_two_digits(factor) for factor in factors], factors, _two_digits)


def _two_digits(value: float) -> str:
    return "ours is 0" if value == float("inf") else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _few(texts: Sequence[str], values: Sequence[float], shown=number) -> str:
    different = list(dict.fromkeys(texts))
    if len(different) <= FEW:
        return " / ".join(different)
    return f"{shown(min(values))} to {shown(max(values))}"


def counted(found: Sequence[Told]) -> dict[str, int]:
    """How many headlines came out how."""
    return {str(outcome): sum(one.judged.outcome is outcome for one in found) for outcome in Outcome}


def summed(found: Sequence[Told]) -> str:
    """One sentence about all of them.

    Returns
    -------
    str
        With what is left to explain: a reason counts as argued where one of its claims has an argued one or none.
    """
    testable = [one for one in found if one.judged.outcome is not Outcome.ELSEWHERE]
    standing = sum(one.stands for one in testable)
    rest = [one for one in testable if not one.stands]
    printed = sum(one.judged.outcome is Outcome.PRINT for one in rest)
    tested = sum(
        one.judged.outcome is not Outcome.PRINT and not one.unexplained and all(reason.tested for reason in one.reasons)
        for one in rest
    )
    counts = counted(found)
    left = len(rest) - printed - tested
    why = [f"{printed} are contradicted by the paper's own numbers", f"{tested} have a reason that a run shows"]
    if left:
        why.append(f"{left} have one that is argued, or none")
    return (
        f"Of {len(testable)} headline claims that can be tested here {standing} stand, {counts[Outcome.NUMBER]} of "
        f"them with their numbers. Of the other {len(rest)}, {', '.join(why[:-1])} and {why[-1]}. "
        f"{len(found) - len(testable)} more cannot be tested: the data, or the method as it was tuned, is not at hand."
    )


def undecided(row: RowDocument) -> bool:
    """Whether more runs would be needed to decide a row."""
    return not holds(row) and row["verdict"] == Verdict.UNDECIDED
