"""The report of a reproduction: verdicts by table and figure, then claims with rows, settings, seeds and times."""

import json
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from mayfly.papers import ITEMS
from mayfly.papers.catalogue import EXHIBITS, NOT_YET, PAPERS
from mayfly.papers.declaration import Verdict
from mayfly.papers.page import LEGEND, interval, number
from mayfly.papers.pictures import plots_of
from mayfly.papers.reproduce import Checked, Reproduction, command_of, machine, seeds_of
from mayfly.report import page
from mayfly.simulate.folder import filled

_COLOURS = {"agrees": "#2aa38b", "same direction": "#4269d0", "undecided": "#868b95", "differs": "#e8503f"}


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
    pictures = [picture for drawn in found.pictures.values() for picture in drawn]
    plots = plots_of(pictures)
    body = [
        "<h1>The papers, reproduced</h1>",
        f'<p class="soft">{escape(found.date)}, {escape(machine())}, {found.took_s:.0f} s. '
        f"<code>{escape(command_of(found.asked, found.quick, found.replications))}</code></p>",
        f'<div class="answer">{"".join(f"<p>{escape(text)}.</p>" for text in found.sentences())}</div>',
        f'<p class="soft">{escape(LEGEND.replace("*", ""))}</p>',
        "<h2>Tables and figures</h2>",
        _index(found),
        *(_item(found, item) for item in found.experiments),
        '<footer class="soft">Made by Mayfly. Printed values are those of the papers.</footer>',
    ]
    return page.document("The papers, reproduced", body, plots)


def _mark(verdict: str) -> str:
    return f'<b style="color:{_COLOURS.get(verdict, "#868b95")}">{escape(verdict)}</b>'


def _rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def _index(found: Reproduction) -> str:
    of = {exhibit.id: claims for exhibit, claims in found.exhibits()}
    whole = "all" in found.asked
    rows = []
    for exhibit in EXHIBITS:
        claims = of.get(exhibit.id, [])
        if not claims and not whole:
            continue
        what = f"{PAPERS[exhibit.paper]}, {exhibit.label}"
        if not claims:
            rows.append(
                [escape(what), escape(exhibit.shows), f'<span class="soft">{escape(exhibit.reason or NOT_YET)}</span>']
            )
            continue
        links = ", ".join(f'<a href="#{_anchor(c)}">{escape(c.claim.id)}</a> {_mark(c.verdict)}' for c in claims)
        rows.append([escape(what), escape(exhibit.shows), links])
    return _rows(("table or figure", "shows", "claims"), rows)


def _anchor(checked: Checked) -> str:
    return f"{checked.item}-{checked.claim.id}".replace(".", "_")


def _item(found: Reproduction, name: str) -> str:
    title = next(item.title for item in ITEMS if item.id == name)
    own = [checked for checked in found.checked if checked.item == name]
    parts = [f'<h2 id="{name}">{escape(title)}</h2>']
    parts += [page.place(p.key, page.LAYOUT["height"], p.title, p.caption) for p in found.pictures.get(name, [])]
    parts += [_claim(checked) for checked in own]
    rows = []
    for experiment in found.experiments[name]:
        settings = ", ".join(f"{key} = {value}" for key, value in experiment.overrides.items())
        first, last = seeds_of(experiment)
        took = f"{found.seconds[name][experiment.id]:.1f} s"
        names = ", ".join(experiment.disciplines)
        texts = (experiment.id, experiment.scenario, settings, names, f"{first} to {last}", took)
        rows.append([escape(text) for text in texts])
    if rows:
        heads = ("experiment", "scenario", "settings", "disciplines", "seeds", "run time")
        parts += [f"<details><summary>{len(rows)} experiments</summary>{_rows(heads, rows)}</details>"]
    return "\n".join(parts)


def _claim(checked: Checked) -> str:
    claim, found = checked.claim, checked.finding
    opened = checked.verdict in (str(Verdict.DIFFERS), str(Verdict.UNDECIDED), "not measured")
    says = f"{escape(claim.source)}: {escape(claim.says)}."
    parts = [f"<p>{says}</p>", f'<p class="soft">{escape(claim.settings)}. {escape(claim.note)}</p>']
    if found is None:
        parts.append(f"<p>{escape(checked.failure)}</p>")
    else:
        rows = []
        for row in found.rows:
            name = f"{row.row.name} ({row.row.unit})" if row.row.unit else row.row.name
            printed = row.row.printed
            told = (
                ""
                if printed is None
                else number(printed.value) + (f" {interval(printed.ci95)}" if printed.ci95 else "")
            )
            ours = number(row.mean) + (f" {interval(row.ci95)}" if row.ci95 else "")
            texts = (name, told, ours, interval(row.one_run) if row.one_run else "", row.row.direction)
            rows.append([*(escape(text) for text in texts), _mark(str(row.verdict))])
        parts.append(_rows(("", "printed", "ours [95 %]", "one run", "claimed", "verdict"), rows))
    if claim.difference:
        parts.append(f"<p><b>Reason.</b> {escape(claim.difference.reason)}</p>")
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
