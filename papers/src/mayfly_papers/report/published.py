"""A full reproduction as documents: report, page of verdicts, pages of claims, table in the README."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mayfly.errors import MayflyError
from mayfly.text.files import complete
from mayfly_papers.declare.exhibits import EXHIBITS, PAPERS
from mayfly_papers.declare.markdown import table
from mayfly_papers.pages import PAGES, rendered
from mayfly_papers.report.page import write_reproduction
from mayfly_papers.report.reproduce import Reproduction

REPORT = "_extra/reproduction"
"""Folder of the report below ``docs``: the site has it as ``reproduction``."""

BEGIN, END = "<!-- headline: made by `make reproduction` -->", "<!-- end of headline -->"
"""Around the table in the README."""

_VERDICTS = ("agrees", "same direction", "undecided", "differs", "not measured")


def publish(found: Reproduction, docs: Path, readme: Path) -> list[Path]:
    """Write a reproduction of everything into the documents.

    Parameters
    ----------
    found : Reproduction
        Of ``all``, as declared.
    docs : Path
        Folder of the documentation.
    readme : Path
        With the two marks around its table.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    MayflyError
        Not of everything as declared, or a README without the marks.
    """
    if found.asked != ("all",) or found.quick or found.replications is not None:
        raise MayflyError(f"ID = {' '.join(found.asked)}: only all is published, and as declared")
    document = json.loads(json.dumps(found.document()))
    new = with_headline(readme.read_text(encoding="utf-8"), document)
    files = [Path(file) for file in write_reproduction(found, docs / REPORT).values()]
    texts = {readme: new, docs / "papers" / "verdicts.md": verdicts_page(document)}
    for item in PAGES:
        checked = [checked for checked in found.checked if checked.item == item.id]
        # A capture that is not at hand would take its claims out of the page.
        if checked and all(one.finding for one in checked):
            findings = [one.finding for one in checked if one.finding]
            texts[docs / "papers" / f"{item.id}.md"] = rendered(item, findings, found.runs[item.id])
    for file, text in texts.items():
        with complete(file) as partial:
            partial.write_text(text, encoding="utf-8")
    return [*files, *texts]


def headline_table(document: Mapping[str, Any]) -> str:
    """Claims by part of the papers and verdict, Markdown.

    Parameters
    ----------
    document : mapping
        As `Reproduction.document` gives it.

    Returns
    -------
    str
    """
    head = ["claims of", "claims", "agree", "same direction", "undecided", "differ", "rows", "hold"]
    body = [_headline_row(f"[{row['title']}](docs/papers/{row['page']}.md)", row) for row in document["headline"]]
    total: dict[str, dict[str, int]] = {"claims": {}, "rows": {}}
    for row in document["headline"]:
        for kind, counts in total.items():
            for name, count in row[kind].items():
                counts[name] = counts.get(name, 0) + count
    return table(head, [*body, _headline_row("**all**", total)])


def _headline_row(title: str, row: Mapping[str, Mapping[str, int]]) -> list[str]:
    claims, rows = row["claims"], row["rows"]
    counted = sum(rows.values())
    hold = sum(rows.get(name, 0) for name in _VERDICTS[:2])
    share = f"{100 * hold / counted:.0f}\N{NO-BREAK SPACE}%" if counted else ""
    texts = [str(claims.get(name, 0)) for name in _VERDICTS[:4]]
    return [title, str(sum(claims.values())), *texts, f"{counted:,}", share]


def with_headline(readme: str, document: Mapping[str, Any]) -> str:
    """The README with its table made anew.

    Raises
    ------
    MayflyError
        It has no marks.
    """
    if BEGIN not in readme or END not in readme:
        raise MayflyError(f"README: must have the line '{BEGIN}' and the line '{END}'")
    before, _, rest = readme.partition(BEGIN)
    after = rest.partition(END)[2]
    made = f"{document['date']}, Mayfly {document['mayfly']}."
    return f"{before}{BEGIN}\n\n{headline_table(document)}\n\n{made}\n{END}{after}"


def verdicts_page(document: Mapping[str, Any]) -> str:
    """The page ``docs/papers/verdicts.md``: every table and figure with what became of its claims.

    Parameters
    ----------
    document : mapping
        As `Reproduction.document` gives it.

    Returns
    -------
    str
        Markdown with a final newline.
    """
    of = {exhibit["id"]: exhibit for exhibit in document["exhibits"]}
    page_of = {f"{claim['page']}/{claim['id']}": claim["page"] for claim in document["claims"]}
    seeds = {tuple(experiment["seeds"]) for experiment in document["experiments"]}
    first, last = min(low for low, _ in seeds), max(high for _, high in seeds)
    hours = document["took_s"] / 3600
    parts = [
        "# What became of every table and figure",
        f"`mayfly reproduce all` of {document['date']}, Mayfly {document['mayfly']}, {document['machine']}: "
        f"{len(document['claims'])} claims, {len(document['experiments'])} experiments, seeds {first} to {last} "
        f"(each experiment tells its own), {hours:.1f} hours. "
        '<a href="../reproduction/report.html">The report</a> has every row with plots, settings, seeds and run times; '
        f"in the checkout it is `docs/{REPORT}/report.html`. [](reproduce.md) says how to make it again.",
        _without_paths(headline_table(document)),
        "A claim takes the verdict of its worst row; rows hold that agree or have the direction claimed.",
    ]
    for paper, name in PAPERS.items():
        body = []
        for exhibit in (exhibit for exhibit in EXHIBITS if exhibit.paper == paper):
            row = of.get(exhibit.id)
            if row is None:
                body.append([exhibit.label, exhibit.shows, exhibit.reason, ""])
                continue
            counts = [
                f"{row['verdicts'].count(verdict)} {verdict}" for verdict in _VERDICTS if verdict in row["verdicts"]
            ]
            pages = dict.fromkeys(page_of[claim] for claim in row["claims"])
            body.append([exhibit.label, exhibit.shows, ", ".join(counts), ", ".join(f"[{p}]({p}.md)" for p in pages)])
        parts += [f"## {name}", table(["", "shows", "claims, or why none", "page"], body)]
    return "\n\n".join(parts) + "\n"


def _without_paths(text: str) -> str:
    """Links as seen from ``docs/papers``."""
    return re.sub(r"\(docs/papers/", "(", text)
