"""The report of a reproduction: verdicts, then each table and figure beside what the text says of it."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from mayfly.show import page
from mayfly.text.folder import filled
from mayfly.version import described
from mayfly_papers.declare.accuracy import by_page
from mayfly_papers.declare.declaration import Verdict
from mayfly_papers.declare.exhibits import EXHIBITS, NOT_YET, PAPERS, Exhibit, cited
from mayfly_papers.declare.figure import Figure, plots_of
from mayfly_papers.declare.markdown import LEGEND, aside, cells
from mayfly_papers.pages import PAGES
from mayfly_papers.report.printed_plot import COLOURS, printed_plot
from mayfly_papers.report.reasons import REASON
from mayfly_papers.report.reproduce import Checked, Reproduction, command_of, machine, seeds_of
from mayfly_papers.report.score import WHOLE_HEADS, headline_rows
from mayfly_papers.score.headline import told
from mayfly_papers.score.outcome import Judged, Outcome
from mayfly_papers.score.statements import Statement, statements

_MARKS = {str(verdict): colour for verdict, colour in COLOURS.items()}

_OUTCOMES = {
    Outcome.NUMBER: COLOURS[Verdict.AGREES],
    Outcome.HOLDS: COLOURS[Verdict.DIRECTION],
    Outcome.MIXED: COLOURS[Verdict.UNDECIDED],
    Outcome.CONTRADICTED: COLOURS[Verdict.DIFFERS],
    Outcome.PRINT: COLOURS[Verdict.DIFFERS],
}
"""Colours of what became of headlines and statements; what is not testable here has none."""


def reproduction_page(found: Reproduction) -> str:
    """Make the page as a string.

    Parameters
    ----------
    found : Reproduction

    Returns
    -------
    str
        HTML.
    """
    drawn = [figure for figures in found.figures.values() for figure in figures]
    plots = [plot for figures in found.figures.values() for plot in plots_of(figures)]
    exhibits = found.exhibits()
    beside = {exhibit.id: printed_plot(exhibit.id, claims) for exhibit, claims in exhibits}
    plots += [plot for plot in beside.values() if plot is not None]
    sections: list[str] = []
    told: set[str] = set()
    paper = ""
    for exhibit, claims in exhibits:
        if exhibit.paper != paper:
            paper = exhibit.paper
            sections.append(f"<h2>{escape(PAPERS[paper])}</h2>")
        figures = [_figure(figure) for figure in drawn if _first(figure) == exhibit.id]
        plot = beside[exhibit.id]
        if plot is not None:
            caption = "Our mean over the printed number, with its 95 % interval: the line at 1 is the paper."
            figures.append(page.place(plot["key"], plot["layout"]["height"], "Ours to printed", caption))
        sections.append(_exhibit(found, exhibit, claims, figures, told))
    body = [
        "<h1>The papers, reproduced</h1>",
        f'<p class="soft">{escape(found.date)}, Mayfly {escape(described())}, {escape(machine())}, '
        f"{found.took_s:.0f} s. <code>{escape(command_of(found.asked, found.quick, found.replications))}</code></p>",
        f'<div class="answer">{"".join(f"<p>{escape(text)}.</p>" for text in found.sentences())}</div>',
        score_html(found.claims_document()),
        _headline(found),
        f'<p class="soft">{escape(LEGEND.replace("*", ""))}</p>',
        *_index(found),
        *sections,
        *_elsewhere(found, told, [figure for figure in drawn if not _first(figure)]),
        '<footer class="soft">Made by Mayfly. Printed values are those of the papers.</footer>',
    ]
    return page.document("The papers, reproduced", body, plots)


def _first(figure: Figure) -> str:
    """The exhibit that a figure stands at; empty for one of none."""
    return figure.exhibits[0] if figure.exhibits else ""


def _figure(figure: Figure) -> str:
    return page.place(figure.key, page.LAYOUT["height"], figure.title, figure.caption)


def _mark(verdict: str) -> str:
    return f'<b style="color:{_MARKS.get(verdict, "#868b95")}">{escape(verdict)}</b>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of words; cells are HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="words"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def _words(text: str) -> str:
    """Text of a declaration, with what is in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


SCORE_BEGIN, SCORE_END = "<!-- score of the papers -->", "<!-- end of score -->"
"""Around what leads the report."""


def score_html(document: Mapping[str, Any]) -> str:
    """Headline claims, then statements by page, then accuracy; between marks.

    Parameters
    ----------
    document : mapping
        With ``claims``, as ``summary.json`` has them.
    """
    parts = []
    if found := told(document):
        at = WHOLE_HEADS.index("verdict")
        rows = [[_inline(cell) for cell in row] for row in headline_rows(found, whole=True)]
        for row, one in zip(rows, found, strict=True):
            row[at] = _judged(one.judged)
        parts += ["<h2>Headline claims</h2>", _table(WHOLE_HEADS, rows)]
    lists = []
    of = statements(document)
    for item in PAGES:
        own = [one for one in of if one.page == item.id]
        accurate = by_page(document).get(item.id)
        if own and accurate:
            rows = [_statement(one) for one in own]
            summary = f"{escape(item.title)}: {len(own)} statements, {escape(str(accurate))}"
            body = _table(("source", "statement", "rows", "verdict", "other readings"), rows)
            lists.append(f"<details><summary>{summary}</summary>{body}</details>")
    if lists:
        parts += ["<h2>Statements</h2>", *lists]
    return "\n".join([SCORE_BEGIN, *parts, SCORE_END])


def _statement(one: Statement) -> list[str]:
    links = ", ".join(f'<a href="#{_anchor_of(one.page, claim)}">{escape(claim)}</a>' for claim in one.claims)
    others = "; ".join(f"{escape(name)}: {escape(str(other))}" for name, other in one.others.items())
    count = f"{one.judged.holding} of {one.judged.rows}"
    return [escape(one.source), f"{_words(one.says)} ({links})", count, _judged(one.judged), others]


def _judged(judged: Judged) -> str:
    return f'<b style="color:{_OUTCOMES.get(judged.outcome, "#868b95")}">{escape(str(judged))}</b>'


def _inline(text: str) -> str:
    """A cell of Markdown as HTML: bold words, code, and links to claims of this page."""
    html = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", _words(text))

    def link(match: re.Match[str]) -> str:
        return f'<a href="#{_anchor_of(match[2], match[1])}">{match[1]}</a>'

    return re.sub(r"\[([^\[\]]+)\]\(([a-z0-9-]+)\.md#[^)]*\)", link, html)


def _headline(found: Reproduction) -> str:
    """Claims by page and verdict."""
    names = list(found.counts())
    rows = []
    for row in found.headline():
        counts = [f"{row['claims'][name]}" if row["claims"][name] else "" for name in names]
        rows.append([escape(row["title"]), str(sum(row["claims"].values())), *counts])
    return _table(("claims of", "all", *names), rows)


def _index(found: Reproduction) -> list[str]:
    """Tables and figures with their claims; nothing where no claim is about one."""
    of = {exhibit.id: claims for exhibit, claims in found.exhibits()}
    rows = []
    for exhibit in EXHIBITS:
        claims = of.get(exhibit.id, [])
        if not claims and "all" not in found.asked:
            continue
        label = f"{PAPERS[exhibit.paper]}, {exhibit.label}"
        if not claims:
            reason = f'<span class="soft">{escape(exhibit.reason or NOT_YET)}</span>'
            rows.append([escape(label), escape(exhibit.shows), reason])
            continue
        verdicts = [checked.verdict for checked in claims]
        counts = ", ".join(f"{verdicts.count(name)} {_mark(name)}" for name in found.counts() if name in verdicts)
        rows.append([f'<a href="#{exhibit.id}">{escape(label)}</a>', escape(exhibit.shows), counts])
    return ["<h2>Tables and figures</h2>", _table(("table or figure", "shows", "claims"), rows)] if rows else []


def _anchor(checked: Checked) -> str:
    return _anchor_of(checked.item, checked.claim.id)


def _anchor_of(page_id: str, claim: str) -> str:
    return f"claim-{page_id}-{claim}".replace(".", "_")


def _exhibit(
    found: Reproduction, exhibit: Exhibit, claims: Sequence[Checked], figures: Sequence[str], told: set[str]
) -> str:
    """One table or figure: what the text says, what is drawn, the rows that decide, and how it was run."""
    of: dict[str, list[Checked]] = {}
    for checked in claims:
        of.setdefault(checked.claim.says, []).append(checked)
    says = "".join(
        f"<li>{_words(text)}: " + ", ".join(f'<a href="#{_anchor(c)}">{_mark(c.verdict)}</a>' for c in said) + "</li>"
        for text, said in of.items()
    )
    parts = [
        f'<h3 id="{exhibit.id}">{escape(PAPERS[exhibit.paper])}, {escape(exhibit.label)}: {escape(exhibit.shows)}</h3>',
        f'<div class="digest"><p class="soft">What the text says</p><ul>{says}</ul></div>',
        *figures,
    ]
    for checked in claims:
        if _anchor(checked) not in told:
            told.add(_anchor(checked))
            parts.append(_claim(checked))
    parts.append(_runs(found, claims, exhibit.id))
    return "<section>" + "\n".join(parts) + "</section>"


def _elsewhere(found: Reproduction, told: set[str], figures: Sequence[Figure]) -> list[str]:
    """Claims about no table or figure, and figures of none, by page."""
    parts: list[str] = []
    for item in PAGES:
        claims = [c for c in found.checked if c.item == item.id and _anchor(c) not in told]
        drawn = [figure for figure in found.figures.get(item.id, []) if figure in figures]
        if claims or drawn:
            where = ": in the text" if any(cited(claim.source) for claim in item.claims) else ""
            parts += [f"<h2>{escape(item.title)}{where}</h2>", *map(_figure, drawn), *map(_claim, claims)]
            # The tests of reasons are asked for by another word than a page.
            parts.append(_runs(found, claims, " ".join(found.asked) if found.asked[0] == REASON else item.id))
    return parts


def _runs(found: Reproduction, claims: Sequence[Checked], name: str) -> str:
    """The command line, and the experiments with settings, seeds and times."""
    rows = []
    for page_id in dict.fromkeys(checked.item for checked in claims):
        used = {name for checked in claims if checked.item == page_id for name in checked.experiments}
        for experiment in found.experiments[page_id]:
            if experiment.id not in used:
                continue
            settings = ", ".join(f"{key} = {value}" for key, value in experiment.overrides.items())
            first, last = seeds_of(experiment)
            took = f"{found.runs[page_id].seconds[experiment.id]:.1f} s"
            names = ", ".join(experiment.disciplines)
            texts = (experiment.id, experiment.scenario, settings, names, f"{first} to {last}", took)
            rows.append([escape(text) for text in texts])
    command = f'<p class="soft"><code>{escape(command_of([name], found.quick, found.replications))}</code></p>'
    if not rows:
        return command
    heads = ("experiment", "scenario", "settings", "disciplines", "seeds", "run time")
    count = "1 experiment" if len(rows) == 1 else f"{len(rows)} experiments"
    return f"{command}<details><summary>{count}</summary>{_table(heads, rows)}</details>"


def _claim(checked: Checked) -> str:
    claim, finding = checked.claim, checked.finding
    opened = checked.verdict in (str(Verdict.DIFFERS), str(Verdict.UNDECIDED), "not measured")
    notes = f"{claim.settings}. {claim.note}".strip()
    parts = [f"<p>{escape(claim.source)}: {_words(claim.says)}.</p>", f'<p class="soft">{_words(notes)}</p>']
    if finding is None:
        parts.append(f"<p>{escape(checked.failure)}</p>")
    else:
        rows = [[*map(escape, cells(row)[:-1]), _mark(str(row.verdict)) + escape(aside(row))] for row in finding.rows]
        parts.append(_table(("", "printed", "ours [95 %]", "one run", "claimed", "verdict"), rows))
    if claim.difference:
        again = f"tested: <code>mayfly reproduce reason {escape(f'{checked.item}/{claim.id}')}</code>"
        kind = again if claim.difference.tested else "argued"
        parts.append(f"<p><b>Reason</b> ({kind}). {_words(claim.difference.reason)}</p>")
    heading = f"{escape(claim.id)}: {_mark(checked.verdict)}"
    inner = "".join(parts)
    return f'<details id="{_anchor(checked)}"{" open" if opened else ""}><summary>{heading}</summary>{inner}</details>'


def write_reproduction(found: Reproduction, folder: str | os.PathLike) -> dict[str, str]:
    """Writes ``report.html`` and ``summary.json``.

    Parameters
    ----------
    found : Reproduction
    folder : path
        Created when absent.

    Returns
    -------
    dict of str
        Path of each file.

    Raises
    ------
    MayflyError
        The folder cannot be written.
    """
    names = {"report": "report.html", "summary": "summary.json"}
    files = {key: str(Path(folder) / name) for key, name in names.items()}
    with filled(folder, names.values()) as partial:
        (partial / names["report"]).write_text(reproduction_page(found), encoding="utf-8")
        text = json.dumps({**found.document(), "files": files}, indent=1, allow_nan=False)
        (partial / names["summary"]).write_text(text + "\n", encoding="utf-8")
    return files
