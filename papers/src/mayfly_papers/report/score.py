"""The score of the papers as tables: headline claims, statements, accuracy; Markdown."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mayfly_papers.declare.accuracy import by_page, overall
from mayfly_papers.declare.exhibits import PAPERS
from mayfly_papers.declare.markdown import anchor, table
from mayfly_papers.declare.readings import readings
from mayfly_papers.pages import PAGES, Kind
from mayfly_papers.score.headline import Told, summed, told
from mayfly_papers.score.outcome import Outcome
from mayfly_papers.score.statements import statements

PAPER_PAGES = tuple(page.id for page in PAGES if page.kind is Kind.PAPER)
"""Pages whose verdicts are the score of the papers."""


def headline_rows(found: Sequence[Told], *, whole: bool) -> list[list[str]]:
    """A row for each headline.

    Parameters
    ----------
    found : sequence of Told
    whole : bool
        With what other readings give, and why one does not stand.

    Returns
    -------
    list of list of str
        In order of the papers, each paper's first row with its name.
    """
    rows: list[list[str]] = []
    paper = ""
    for one in found:
        name = PAPERS[one.headline.paper] if one.headline.paper != paper else ""
        paper = one.headline.paper
        said = one.document()
        cells = [
            name,
            said["says"],
            said["print"],
            said["ours"],
            said["factor"],
            f"{said['holding']} of {said['rows']}",
        ]
        rows.append([*cells, str(one.judged) if one.stands else f"**{one.judged}**"])
        if whole:
            others = said["other_readings"] | ({"at twice the thresholds": said["at_twice"]} if one.at_twice else {})
            rows[-1] += ["; ".join(f"{name}: {text}" for name, text in others.items()), reasons_of(one)]
    return rows


HEADS = ["", "the paper says", "print", "ours [95 %]", "factor", "rows", "verdict"]
WHOLE_HEADS = [*HEADS, "other readings", "reason"]


def reasons_of(one: Told) -> str:
    """Why a headline does not stand, with links as seen from ``docs/papers``."""
    if one.judged.outcome is Outcome.PRINT:
        return "the paper's own numbers"
    if one.judged.outcome is Outcome.ELSEWHERE:
        kinds = {page.kind for page in PAGES for part in one.headline.rests_on if page.id == part.page}
        return "shown with our own method only" if Kind.OWN in kinds else "the trace is not public"
    texts = []
    for reason in one.reasons:
        page, _, claim = reason.id.partition("/")
        kind = f"tested: `mayfly reproduce reason {reason.id}`" if reason.tested else "argued"
        texts.append(f"[{claim}]({page}.md#{anchor(claim)}), {kind}")
    texts += [f"{identity.partition('/')[2]}: undecided, no reason" for identity in one.unexplained]
    return "; ".join(texts)


def headline_table(document: Mapping[str, Any], *, whole: bool = False) -> str:
    """Headline claims as Markdown."""
    return table(WHOLE_HEADS if whole else HEADS, headline_rows(told(document), whole=whole))


def headline_sentences(document: Mapping[str, Any]) -> str:
    """How many headlines stand, and how accurate the numbers are."""
    accurate = overall(document, PAPER_PAGES)
    return f"{summed(told(document))} Over the printed numbers above 0: {accurate}."


def paper_table(document: Mapping[str, Any]) -> str:
    """Headlines by paper and outcome."""
    found = told(document)
    body = []
    for paper, name in PAPERS.items():
        own = [one for one in found if one.headline.paper == paper]
        counts = [str(sum(one.judged.outcome is outcome for one in own) or "") for outcome in Outcome]
        body.append([name, str(len(own)), str(sum(one.stands for one in own)), *counts])
    total = [str(sum(one.judged.outcome is outcome for one in found) or "") for outcome in Outcome]
    body.append(["**all**", str(len(found)), str(sum(one.stands for one in found)), *total])
    return table(["", "headline claims", "stand", *map(str, Outcome)], body)


def accuracy_table(document: Mapping[str, Any]) -> str:
    """Accuracy by page, by the reading that counts and over all readings."""
    counting, every = by_page(document), by_page(document, every=True)
    body = []
    for page in PAGES:
        own = counting.get(page.id)
        if own is None or own.median is None or page.kind is Kind.OWN:
            continue
        other = every[page.id]
        beside = "" if other.cells == own.cells else f"{other.median:.2f} over {other.cells}"
        body.append([f"[{page.title}]({page.id}.md)", str(own.cells), str(own.reproduced), f"{own.median:.2f}", beside])
    accurate, every_reading = overall(document, PAPER_PAGES), overall(document, PAPER_PAGES, every=True)
    total = [str(accurate.cells), str(accurate.reproduced), f"{accurate.median or 0:.2f}"]
    body.append(["**papers**", *total, f"{every_reading.median or 0:.2f} over {every_reading.cells}"])
    return table(["page", "printed numbers", "reproduced", "median factor", "all readings"], body)


def statement_table(document: Mapping[str, Any]) -> str:
    """Statements by page and outcome, without those of our own."""
    outcomes = list(Outcome)
    body = []
    total = dict.fromkeys(outcomes, 0)
    found = statements(document)
    for page in PAGES:
        own = [one.judged.outcome for one in found if one.page == page.id]
        if not own or page.kind is Kind.OWN:
            continue
        counts = {outcome: own.count(outcome) for outcome in outcomes}
        for outcome, count in counts.items():
            total[outcome] += count
        body.append([f"[{page.title}]({page.id}.md)", str(len(own)), *(str(count or "") for count in counts.values())])
    body.append(["**papers**", str(sum(total.values())), *(str(count or "") for count in total.values())])
    return table(["page", "statements", *map(str, outcomes)], body)


def reading_table() -> str:
    """The reading of each page that counts, with its evidence."""
    titles = {page.id: f"[{page.title}]({page.id}.md)" for page in PAGES}
    body = [
        [titles[page], found[0].name, found[0].evidence, ", ".join(other.name for other in found[1:])]
        for page, found in readings().items()
    ]
    return table(["page", "the reading that counts", "evidence", "sensitivity column"], body)


def scored(document: Mapping[str, Any]) -> dict[str, Any]:
    """What ``summary.json`` has of the score, from its own claims.

    Returns
    -------
    dict
        ``headlines``, ``statements`` and ``accuracy``; an accuracy without a cell has no median.
    """
    return {
        "headlines": [one.document() for one in told(document)],
        "statements": [one.document() for one in statements(document)],
        "accuracy": {
            page: {"cells": own.cells, "reproduced": own.reproduced, "median_factor": finite(own.median)}
            for page, own in by_page(document).items()
        },
    }


def finite(value: float | None) -> float | None:
    """A median that JSON has; null where half of ours are 0."""
    return value if value is not None and math.isfinite(value) else None
