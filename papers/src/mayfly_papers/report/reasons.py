"""Reasons by name: why claims do not come out as printed, and the runs that show it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mayfly.errors import MayflyError
from mayfly.text.nearest import hint
from mayfly_papers.declare.declaration import Claim, Finding, Verdict
from mayfly_papers.pages import PAGES, Page

REASON = "reason"
"""The word before the names of reasons on the command line."""


def reason_ids() -> dict[str, tuple[Page, str]]:
    """Every reason under the page and the id of each claim that it explains, with the test that shows it.

    Returns
    -------
    dict
        By ``PAGE/CLAIM``, the page and the id of the test; the id is empty where the reason is argued.
    """
    return {
        f"{page.id}/{claim.id}": (page, claim.difference.test)
        for page in PAGES
        for claim in page.claims
        if claim.difference is not None
    }


def chosen_reasons(names: Sequence[str]) -> list[tuple[Page, list[Claim]]]:
    """The tests of reasons, by page.

    Parameters
    ----------
    names : sequence of str
        Claims with their page, ``PAGE/CLAIM``, tests, ``PAGE/TEST``, or ``all``.

    Returns
    -------
    list of tuple
        Pages that have these tests for claims, with the tests asked for.

    Raises
    ------
    MayflyError
        No name, no such reason, or one without a test.
    """
    if not names:
        raise MayflyError(
            "reason: ID is missing: PAGE/CLAIM of a claim with a reason, such as zhao-2004-ponrt/figure-9; or all"
        )
    known = reason_ids()
    tests = {f"{page.id}/{test.id}": (page.id, test.id) for page in PAGES for test in page.reason_tests}
    wanted: set[tuple[str, str]] = set()
    for name in names:
        if name == "all":
            wanted |= set(tests.values())
        elif name in tests:
            wanted.add(tests[name])
        elif name not in known:
            raise MayflyError(f"reason {name}: no such reason{hint(name, [*known, *tests])}")
        elif not known[name][1]:
            raise MayflyError(f"reason {name}: is argued, without a run: docs/papers/{known[name][0].id}.md has it")
        else:
            wanted.add((known[name][0].id, known[name][1]))
    taken = ((page, [test for test in page.reason_tests if (page.id, test.id) in wanted]) for page in PAGES)
    return [(tested(page), own) for page, own in taken if own]


def tested(page: Page) -> Page:
    """A page whose claims are the tests of its reasons, without figures."""
    return replace(page, claims=page.reason_tests, experiments=page.reason_experiments, figures=(), sections=())


def told_reasons(found: Mapping[str, Finding | None]) -> list[str]:
    """What became of tests, in words.

    Parameters
    ----------
    found : mapping
        By ``PAGE/TEST``; None where a test could not be measured.

    Returns
    -------
    list of str
        One sentence for each.
    """
    return [_told(name, finding) for name, finding in found.items()]


def _told(name: str, finding: Finding | None) -> str:
    if finding is None:
        return f"{name}: not measured"
    holding = sum(row.verdict in (Verdict.AGREES, Verdict.DIRECTION) for row in finding.rows)
    explains = ", ".join(of for of, (page, test) in reason_ids().items() if name == f"{page.id}/{test}")
    verdict = "the reason stands" if stands(finding) else "the reason does not stand"
    return f"{name}: {verdict}, {holding} of {len(finding.rows)} rows hold; it explains {explains}"


def reason_sentence() -> str:
    """How many claims have a reason, and how many of these a run shows."""
    known = reason_ids()
    shown = sum(bool(test) for _, test in known.values())
    return f"Of {len(known)} claims with a reason {shown} have one that a run shows, {len(known) - shown} an argued one"


def stands(finding: Finding) -> bool:
    """Whether a test shows its reason: every row holds."""
    return finding.verdict in (Verdict.AGREES, Verdict.DIRECTION)
