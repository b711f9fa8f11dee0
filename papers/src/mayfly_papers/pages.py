"""Pages of claims: every folder of this package with a ``claims.py`` is one.

Of such a folder count

- ``__init__.py``: ``ID``, ``TITLE``, ``ORDER``, ``INTRODUCTION`` (Markdown), and ``KIND`` where it is not that of a
  paper (:class:`Kind`);
- ``claims.py``: ``CLAIMS``, and ``EXPERIMENTS`` that they name;
- ``tables.py``, where there is one: ``SECTIONS``, functions of the runs to Markdown that follows the claims;
- ``figures.py``, where there is one: ``FIGURES``;
- ``reason_tests.py``, where there is one: ``TESTS``, claims whose rows hold where a reason is right, and
  ``EXPERIMENTS`` that they name;
- ``unknowns.py``, where there is one: ``CALIBRATION``, what the paper does not tell of its settings;
- ``printed.toml`` and ``reasons.toml``: see :mod:`mayfly_papers.declare.data`.

``python -m mayfly_papers`` runs what is declared and writes its page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from mayfly_papers.declare.accuracy import accuracy
from mayfly_papers.declare.declaration import Claim, Experiment, Finding, Runs
from mayfly_papers.declare.figure import Drawn, figures_page
from mayfly_papers.declare.markdown import markdown as page_markdown
from mayfly_papers.declare.readings import counting
from mayfly_papers.declare.unknowns import Calibration


class Kind(StrEnum):
    """What a page's verdicts say of the papers."""

    PAPER = "paper"
    """A paper's claims on the paper's own terms: its score."""

    OTHER_CAPTURES = "other captures"
    """A paper's claims about a trace that is not public, on other captures."""

    OWN = "own"
    """Ours: questions that no paper asks, or our own method in place of the published one."""


HEADS = {
    Kind.PAPER: "",
    Kind.OTHER_CAPTURES: (
        "**Method shown, finding not testable.** The paper measured a trace that is not public. What comes out on "
        "other captures neither confirms nor refutes it: the verdicts below are of these captures, and the score of "
        "the papers leaves them out."
    ),
    Kind.OWN: "**Not the papers' score.** The verdicts below are of a question or a method of our own.",
}
"""What stands above the introduction of a page."""


@dataclass(frozen=True)
class Page:
    """One page of claims.

    Parameters
    ----------
    id : str
        Name of the page.
    title, introduction : str
        Its head, Markdown.
    claims : tuple of Claim
        In order.
    experiments : tuple of Experiment
        That the claims name.
    sections : tuple of callable
        Runs to Markdown that follows the claims: what has no printed number beside it.
    figures : tuple of Drawn
        Each runs what it needs and gives some of the figures.
    kind : Kind
        What its verdicts say of the papers.
    reason_tests : tuple of Claim
        Runs that show why claims do not come out as printed: where all rows hold, the reason is right.
    reason_experiments : tuple of Experiment
        That these name.
    calibration : Calibration, optional
        What ``mayfly reproduce calibrate`` searches.
    """

    id: str
    title: str
    introduction: str
    claims: tuple[Claim, ...]
    experiments: tuple[Experiment, ...]
    sections: tuple[Callable[[Runs], str], ...] = ()
    figures: tuple[Drawn, ...] = ()
    kind: Kind = Kind.PAPER
    reason_tests: tuple[Claim, ...] = ()
    reason_experiments: tuple[Experiment, ...] = ()
    calibration: Calibration | None = None


def _page(folder: Path) -> tuple[int, Page]:
    """The page that a folder holds, behind its place among the others."""
    package = ".".join((__package__, *folder.relative_to(Path(__file__).parent).parts))
    head, claims = import_module(package), import_module(f"{package}.claims")

    def beside(module: str, name: str) -> tuple[Any, ...]:
        found = (folder / f"{module}.py").exists()
        return tuple(getattr(import_module(f"{package}.{module}"), name, ())) if found else ()

    return head.ORDER, Page(
        head.ID,
        head.TITLE,
        head.INTRODUCTION,
        tuple(claims.CLAIMS),
        tuple(getattr(claims, "EXPERIMENTS", ())),
        beside("tables", "SECTIONS"),
        beside("figures", "FIGURES"),
        Kind(getattr(head, "KIND", Kind.PAPER)),
        beside("reason_tests", "TESTS"),
        beside("reason_tests", "EXPERIMENTS"),
        calibration=import_module(f"{package}.unknowns").CALIBRATION if (folder / "unknowns.py").exists() else None,
    )


def _found() -> tuple[Page, ...]:
    folders = sorted(file.parent for file in Path(__file__).parent.rglob("claims.py"))
    return tuple(page for _, page in sorted(map(_page, folders), key=lambda placed: placed[0]))


PAGES = _found()
"""What is declared, in the order of the pages."""


def findings(item: Page, runs: Runs) -> list[Finding]:
    """Checks every claim of an item.

    Parameters
    ----------
    item : Page
        One of `PAGES`.
    runs : Runs
        Of its experiments.

    Returns
    -------
    list of Finding
        By claim.
    """
    return [claim.check(runs) for claim in item.claims]


def markdown(item: Page) -> str:
    """Runs an item and renders its page.

    Parameters
    ----------
    item : Page
        One of `PAGES`.

    Returns
    -------
    str
        Markdown.
    """
    runs = Runs(item.experiments)
    return rendered(item, findings(item, runs), runs)


def rendered(item: Page, found: Sequence[Finding], runs: Runs) -> str:
    """The page of an item that has run.

    Parameters
    ----------
    item : Page
        One of `PAGES`.
    found : sequence of Finding
        By claim.
    runs : Runs
        That they come from.

    Returns
    -------
    str
        Markdown.
    """
    head = "\n\n".join(text for text in (HEADS[item.kind], item.introduction, _accuracy(item, found)) if text)
    page = page_markdown(item.title, head, found, item.experiments, runs)
    return "\n".join([page, *(section(runs) for section in item.sections)])


def _accuracy(item: Page, found: Sequence[Finding]) -> str:
    """How near the numbers of a page are, over the reading that counts; empty where nothing above 0 is printed."""
    kept = counting(item.id, (finding.claim.id for finding in found))
    rows = [
        {"printed": row.row.printed.value if row.row.printed else None, "ours": row.mean, "one_run": row.one_run}
        for finding in found
        if finding.claim.id in kept
        for row in finding.rows
    ]
    own = accuracy(rows)
    return f"Of the printed numbers above 0: {own}." if own.cells else ""


def figures(item: Page) -> str:
    """Draws the figures of an item.

    Parameters
    ----------
    item : Page
        One with figures.

    Returns
    -------
    str
        HTML that opens without a network.
    """
    return figures_page(item.title, [figure for drawn in item.figures for figure in drawn()])
