"""The papers, reproduced: items and exhibits by name, what became of each, and one report of all."""

import contextlib
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mayfly.errors import MayflyError
from mayfly.simulate.run import Progress
from mayfly.text.nearest import hint
from mayfly.version import described
from mayfly_papers.declare.ahead import ahead
from mayfly_papers.declare.capture_facts import AbsentCaptureError
from mayfly_papers.declare.declaration import Claim, Experiment, Finding, RowFinding, Runs, Verdict
from mayfly_papers.declare.exhibits import EXHIBITS, NOT_YET, Exhibit, cited
from mayfly_papers.declare.figure import Figure
from mayfly_papers.declare.measured import Kept
from mayfly_papers.pages import PAGES, Page
from mayfly_papers.report.reasons import REASON, chosen_reasons, reason_ids, reason_sentence, told_reasons
from mayfly_papers.report.score import HEADS, headline_rows, headline_sentences, scored
from mayfly_papers.score.headline import told as headlines

if TYPE_CHECKING:
    from rich.table import Table

QUICK_REPLICATIONS = 3
"""Replications of a quick reproduction, at most."""

QUICK_WHOLE = 2
"""The same of runs that are as long as declared."""

QUICK_SHARE = 0.2
"""Part of the declared duration that a quick reproduction simulates, of runs as long as `QUICK_FROM_S`."""

QUICK_FROM_S = 300.0

_VERDICTS = (*map(str, Verdict), "not measured")
_TOLD = {
    "agrees": ("agrees", "agree"),
    "same direction": ("has the direction of the paper", "have the direction of the paper"),
    "differs": ("differs", "differ"),
    "undecided": ("is undecided", "are undecided"),
    "not measured": ("was not measured", "were not measured"),
}
"""Of verdicts, what one claim does and what several do."""


@dataclass(frozen=True)
class Checked:
    """A claim with what became of it.

    Parameters
    ----------
    item : str
        Page that declares it.
    claim : Claim
    finding : Finding or None
        None where it could not be measured.
    failure : str
        Why not; empty otherwise.
    experiments : tuple of str
        Those of the page that its rows are measured in.
    """

    item: str
    claim: Claim
    finding: Finding | None
    failure: str = ""
    experiments: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """In words."""
        return str(self.finding.verdict) if self.finding else "not measured"

    @property
    def exhibits(self) -> list[str]:
        """Tables and figures that it is about."""
        return cited(self.claim.source)


@dataclass(frozen=True)
class Reproduction:
    """Claims checked.

    Parameters
    ----------
    asked : tuple of str
        Ids, as given.
    quick : bool
    replications : int or None
        In place of those declared.
    checked : tuple of Checked
        In the order of the pages.
    experiments : dict
        Those that ran, by page.
    runs : dict
        What they measured and what each took, by page.
    figures : dict
        Figures drawn, by page.
    took_s : float
        In all.
    date : str
        When it began, UTC.
    """

    asked: tuple[str, ...]
    quick: bool
    replications: int | None
    checked: tuple[Checked, ...]
    experiments: dict[str, list[Experiment]]
    runs: dict[str, Runs]
    figures: dict[str, list[Figure]]
    took_s: float
    date: str

    def exhibits(self) -> list[tuple[Exhibit, list[Checked]]]:
        """Each table and figure that a claim is about, with its claims, in the order of the papers."""
        of: dict[str, list[Checked]] = {}
        for checked in self.checked:
            for name in checked.exhibits:
                of.setdefault(name, []).append(checked)
        return [(exhibit, of[exhibit.id]) for exhibit in EXHIBITS if exhibit.id in of]

    def counts(self) -> dict[str, int]:
        """Claims by verdict, the worst row counting."""
        verdicts = [checked.verdict for checked in self.checked]
        return {name: verdicts.count(name) for name in _VERDICTS}

    def headline(self) -> list[dict[str, Any]]:
        """Claims and rows by verdict, for each page, in order."""
        found = []
        for item in PAGES:
            own = [checked for checked in self.checked if checked.item == item.id]
            if not own:
                continue
            rows = [str(row.verdict) for checked in own if checked.finding for row in checked.finding.rows]
            claims = [checked.verdict for checked in own]
            found.append(
                {
                    "page": item.id,
                    "title": item.title,
                    "claims": {name: claims.count(name) for name in _VERDICTS},
                    "rows": {name: rows.count(name) for name in _VERDICTS[:-1]},
                }
            )
        return found

    def document(self) -> dict[str, Any]:
        """The reproduction as JSON."""
        claims = self.claims_document()["claims"]
        return {
            "asked": list(self.asked),
            "quick": self.quick,
            "date": self.date,
            "took_s": self.took_s,
            "mayfly": described(),
            "machine": machine(),
            "verdicts": self.counts(),
            "headline": self.headline(),
            "exhibits": [
                {
                    "id": exhibit.id,
                    "label": exhibit.label,
                    "shows": exhibit.shows,
                    "verdicts": [checked.verdict for checked in claims],
                    "claims": [f"{checked.item}/{checked.claim.id}" for checked in claims],
                }
                for exhibit, claims in self.exhibits()
            ],
            **scored({"claims": claims}),
            "claims": claims,
            "experiments": [
                {
                    "page": page,
                    "id": experiment.id,
                    "scenario": experiment.scenario,
                    "disciplines": list(experiment.disciplines),
                    "seeds": seeds_of(experiment),
                    "took_s": self.runs[page].seconds.get(experiment.id),
                }
                for page, experiments in self.experiments.items()
                for experiment in experiments
            ],
        }

    def claims_document(self) -> dict[str, Any]:
        """Its claims as JSON: what the score follows from."""
        return {"claims": [_claim_document(checked) for checked in self.checked]}

    def tables(self) -> "list[Table]":
        """Headline claims, verdicts by table and figure, and the claims of pages that are about none."""
        from rich.table import Table

        found = []
        if rows := headline_rows(headlines(self.claims_document()), whole=False):
            table = Table(title="Headline claims", title_justify="left", box=None, pad_edge=False)
            for head in HEADS:
                table.add_column(head, no_wrap=head in ("rows", "factor"))
            for row in rows:
                table.add_row(*(cell.strip("*") for cell in row))
            found.append(table)
        if exhibits := self.exhibits():
            table = Table(title="Claims by table and figure", title_justify="left", box=None, pad_edge=False)
            table.add_column("", no_wrap=True)
            table.add_column("shows")
            table.add_column("claims that ...")
            for exhibit, claims in exhibits:
                verdicts = [checked.verdict for checked in claims]
                told = ", ".join(f"{verdicts.count(name)} {name}" for name in _VERDICTS if name in verdicts)
                table.add_row(exhibit.id, exhibit.shows, told)
            found.append(table)
        with_exhibits = {checked.item for checked in self.checked if checked.exhibits}
        if others := [checked for checked in self.checked if checked.item not in with_exhibits]:
            table = Table(title="Claims about no table or figure", title_justify="left", box=None, pad_edge=False)
            for head in ("", "claim", "verdict"):
                table.add_column(head, no_wrap=head != "claim")
            for checked in others:
                table.add_row(f"{checked.item}/{checked.claim.id}", checked.claim.says, checked.verdict)
            found.append(table)
        return found

    def sentences(self) -> list[str]:
        """What came out, in words."""
        if self.asked[0] == REASON:
            return told_reasons({f"{c.item}/{c.claim.id}": c.finding for c in self.checked})
        said = [_counted(len(self.checked), {name: count for name, count in self.counts().items() if count})]
        if "all" in self.asked:
            # First what became of the conclusions: rows do not count alike.
            said.insert(0, headline_sentences(self.claims_document()).rstrip("."))
        failed = [f"{c.item}/{c.claim.id} ({c.failure})" for c in self.checked if c.failure]
        if failed:
            more = f", and {len(failed) - 3} more in the report" if len(failed) > 3 else ""
            said.append(f"not measured: {', '.join(failed[:3])}{more}")
        unexplained = [c for c in self.checked if c.finding and not c.finding.expected]
        if unexplained and not self.quick and self.replications is None:
            names = ", ".join(f"{c.item}/{c.claim.id}" for c in unexplained[:5])
            said.append(f"{len(unexplained)} do not stand as declared: {names}")
        if self.quick:
            said.append(
                f"quick: at most {QUICK_REPLICATIONS} replications, a fifth of long runs: intervals are wide, and "
                "reasons for differences are those of the full runs"
            )
        return said


def machine() -> str:
    """What it ran on."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def seeds_of(experiment: Experiment) -> list[int]:
    """First and last seed of an experiment."""
    first = experiment.loaded().seed
    return [first, first + experiment.replications - 1]


def _claim_document(checked: Checked) -> dict[str, Any]:
    claim = checked.claim
    rows = [] if checked.finding is None else [_row_document(row) for row in checked.finding.rows]
    reason = claim.difference.reason if claim.difference else None
    return {
        "page": checked.item,
        "id": claim.id,
        "source": claim.source,
        "exhibits": checked.exhibits,
        "says": claim.says,
        "experiments": list(checked.experiments),
        "settings": claim.settings,
        "note": claim.note,
        "verdict": checked.verdict,
        "reason": reason,
        "reason_test": claim.difference.test or None if claim.difference else None,
        "failure": checked.failure or None,
        "rows": rows,
    }


def _row_document(found: RowFinding) -> dict[str, Any]:
    row = found.row
    return {
        "name": row.name,
        "unit": row.unit,
        "printed": row.printed.value if row.printed else None,
        "printed_ci95": list(row.printed.ci95) if row.printed and row.printed.ci95 else None,
        "ours": found.mean,
        "ci95": found.ci95,
        "one_run": list(found.one_run) if found.one_run else None,
        "claimed": row.direction,
        "verdict": str(found.verdict),
        "margin": list(found.margin) if found.margin else None,
        "at_twice": str(found.at_twice) if found.at_twice else None,
        "replications": found.replications,
    }


def chosen(asked: Sequence[str]) -> list[tuple[Page, list[Claim]]]:
    """Claims by page that ids ask for.

    Parameters
    ----------
    asked : sequence of str
        Pages, such as ``rai-2003``; tables and figures, such as ``chen-2012-table-4.2``; ``all``; or ``reason`` and
        what :func:`mayfly_papers.report.reasons.chosen_reasons` takes.

    Returns
    -------
    list of tuple
        Pages with their claims.

    Raises
    ------
    MayflyError
        No such id, or a table or figure that nothing is declared for, with the reason.
    """
    if asked and asked[0] == REASON:
        return chosen_reasons(asked[1:])
    pages, exhibits = {item.id: item for item in PAGES}, {exhibit.id: exhibit for exhibit in EXHIBITS}
    wanted: dict[str, set[str]] = {}
    for name in asked:
        found = {
            item.id: {claim.id for claim in item.claims if name in ("all", item.id) or name in cited(claim.source)}
            for item in PAGES
        }
        if not any(found.values()):
            raise MayflyError(f"ID = {name}: {_absent(name, pages, exhibits)}")
        for page, claims in found.items():
            wanted.setdefault(page, set()).update(claims)
    taken = ((item, [claim for claim in item.claims if claim.id in wanted.get(item.id, ())]) for item in PAGES)
    return [(item, claims) for item, claims in taken if claims]


def _absent(name: str, pages: dict[str, Page], exhibits: dict[str, Exhibit]) -> str:
    if name in exhibits:
        return f"nothing is declared for it: {exhibits[name].reason or NOT_YET}"
    near = hint(name, [*pages, *exhibits])
    return f"no such page, table or figure{near or '; --list shows all'}"


def changed(experiment: Experiment, quick: bool, replications: int | None) -> Experiment:
    """An experiment with fewer replications, or shorter.

    Parameters
    ----------
    experiment : Experiment
        As declared.
    quick : bool
        At most `QUICK_REPLICATIONS`, and `QUICK_SHARE` of a long duration and its warm-up.
    replications : int, optional
        In place of those declared.

    Returns
    -------
    Experiment
    """
    overrides, most = dict(experiment.overrides), QUICK_WHOLE
    scenario = experiment.loaded()
    if quick and not experiment.whole and scenario.duration >= QUICK_FROM_S:
        most = QUICK_REPLICATIONS
        overrides["duration"] = scenario.duration * QUICK_SHARE
        if scenario.warm_up:
            overrides["warm_up"] = scenario.warm_up * QUICK_SHARE
    count = replications or (min(experiment.replications, most) if quick else experiment.replications)
    return replace(experiment, replications=count, overrides=overrides)


def reproduce(
    asked: Sequence[str],
    *,
    quick: bool = False,
    replications: int | None = None,
    figures: bool = True,
    keep: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Checks the claims that ids ask for.

    Parameters
    ----------
    asked : sequence of str
        As :func:`chosen` takes them.
    quick : bool
        Fewer and shorter runs.
    replications : int, optional
        In place of those declared, at least 2.
    figures : bool
        Draw the figures that are asked for, which simulates more.
    keep : path, optional
        Folder for what is measured: the same call goes on from there after an interrupt. To be removed when all is
        done (:func:`mayfly_papers.declare.measured.forget`).
    progress : callable, optional
        Called with the fraction of the claims checked.

    Returns
    -------
    Reproduction

    Raises
    ------
    MayflyError
        An id or number that is refused.
    """
    if replications is not None and not 2 <= replications <= 10_000:
        raise MayflyError(f"--replications {replications}: must be from 2 to 10000: an interval needs two")
    lenient = quick or replications is not None
    parts, began, date = chosen(asked), time.perf_counter(), datetime.now(UTC)
    total, checked = sum(len(claims) for _, claims in parts), []
    ran: dict[str, list[Experiment]] = {}
    measured: dict[str, Runs] = {}
    drawn: dict[str, list[Figure]] = {}
    for item, _ in parts:
        experiments = [changed(experiment, quick, replications) for experiment in item.experiments]
        measured[item.id] = Runs(experiments, Kept(keep, item.id) if keep is not None else None)
    with ahead((claims, measured[item.id]) for item, claims in parts):
        for item, claims in parts:
            runs = measured[item.id]
            for claim in claims:
                checked.append(_checked(item, claim, runs, lenient))
                if progress is not None:
                    progress(len(checked) / total)
            if figures:
                drawn[item.id] = _figures(item, claims, runs)
            ran[item.id] = [experiment for experiment in runs.experiments if experiment.id in runs.seconds]
    took = time.perf_counter() - began
    when = date.strftime("%Y-%m-%d %H:%M UTC")
    return Reproduction(tuple(asked), quick, replications, tuple(checked), ran, measured, drawn, took, when)


_UNMEASURED = (MayflyError, ArithmeticError, ValueError, LookupError, TypeError)
"""What comes of runs that are too short for a measure."""


def _figures(item: Page, claims: Sequence[Claim], runs: Runs) -> list[Figure]:
    """Figures of what claims are about, or all of a whole page; none where short runs have nothing to draw."""
    whole = len(claims) == len(item.claims)
    wanted = {name for claim in claims for name in cited(claim.source)}
    figures: list[Figure] = []
    for draw in item.figures:
        if not whole and not wanted.intersection(draw.exhibits):
            continue
        with contextlib.suppress(*_UNMEASURED):
            figures += draw(runs)
    return figures if whole else [p for p in figures if wanted.intersection(p.exhibits)]


def _checked(item: Page, claim: Claim, runs: Runs, lenient: bool) -> Checked:
    """A claim; in shorter runs than declared there may be nothing to measure, or a capture is not there."""
    try:
        runs.asked()
        finding = claim.check(runs)
        return Checked(item.id, claim, finding, experiments=runs.asked())
    except _UNMEASURED as error:
        # One that fails does not take hours of others with it.
        needs = "needs the runs as declared: " if lenient and not isinstance(error, AbsentCaptureError) else ""
        return Checked(item.id, claim, None, f"{needs}{error}")


@dataclass(frozen=True)
class Listing:
    """Every table and figure, with its claims or the reason why there are none."""

    def rows(self) -> list[dict[str, Any]]:
        """In the order of the papers."""
        of: dict[str, list[str]] = {}
        for item in PAGES:
            for claim in item.claims:
                for name in cited(claim.source):
                    of.setdefault(name, []).append(f"{item.id}/{claim.id}")
        reasons = {e.id: e.reason or (None if e.id in of else NOT_YET) for e in EXHIBITS}
        return [{"id": e.id, "shows": e.shows, "claims": of.get(e.id, []), "reason": reasons[e.id]} for e in EXHIBITS]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        pages = [{"id": item.id, "title": item.title, "claims": len(item.claims)} for item in PAGES]
        reasons = [
            {"id": name, "test": f"{page.id}/{test}" if test else None} for name, (page, test) in reason_ids().items()
        ]
        return {"pages": pages, "exhibits": self.rows(), "reasons": reasons}

    def tables(self) -> "list[Table]":
        """Pages, then tables and figures."""
        from rich.table import Table

        pages = Table(title="Pages", title_justify="left", box=None, pad_edge=False)
        for head in ("id", "title", "claims"):
            pages.add_column(head, justify="right" if head == "claims" else "left")
        for row in self.document()["pages"]:
            pages.add_row(row["id"], row["title"], str(row["claims"]))
        table = Table(title="Tables and figures", title_justify="left", box=None, pad_edge=False)
        for head in ("id", "shows", "claims, or why none"):
            table.add_column(head)
        for row in self.rows():
            table.add_row(row["id"], row["shows"], str(len(row["claims"])) if row["claims"] else row["reason"])
        return [pages, table]

    def sentences(self) -> list[str]:
        """How many are declared."""
        rows = self.rows()
        declared = sum(bool(row["claims"]) for row in rows)
        later = [row["id"] for row in rows if row["reason"] == NOT_YET]
        counted = f"{declared} of {len(rows)} tables and figures have claims, {len(later)} are not declared yet"
        return [counted, reason_sentence()]


def command_of(asked: Iterable[str], quick: bool, replications: int | None) -> str:
    """The command line that makes a reproduction again."""
    words = ["mayfly reproduce", *asked, *(["--quick"] if quick else [])]
    return " ".join(words + ([f"--replications {replications}"] if replications else []))


def _counted(claims: int, counts: Mapping[str, int]) -> str:
    """How many claims were checked, and what came out.

    Examples
    --------
    >>> _counted(1, {"same direction": 1})
    '1 claim checked: same direction as the paper'
    >>> _counted(3, {"agrees": 2, "differs": 1})
    '3 claims checked: 2 agree, 1 differs'
    """
    head = f"{claims} claim{'s' if claims != 1 else ''} checked"
    if claims == 1 and "same direction" in counts:
        return f"{head}: same direction as the paper"
    told = (f"{count} {_TOLD.get(name, (name, name))[count != 1]}" for name, count in counts.items())
    return f"{head}: {', '.join(told)}"
