"""A full reproduction as documents: report, page of verdicts, pages of claims, table in the README."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from mayfly.errors import MayflyError
from mayfly.text.files import complete
from mayfly_papers.declare.exhibits import EXHIBITS, PAPERS
from mayfly_papers.declare.markdown import table
from mayfly_papers.pages import PAGES, Kind, rendered
from mayfly_papers.report.page import SCORE_BEGIN, SCORE_END, score_html, write_reproduction
from mayfly_papers.report.reasons import reason_sentence
from mayfly_papers.report.reproduce import Reproduction
from mayfly_papers.report.score import (
    accuracy_table,
    headline_sentences,
    headline_table,
    paper_table,
    reading_table,
    scored,
    statement_table,
)

REPORT = "_extra/reproduction"
"""Folder of the report below ``docs``: the site has it as ``reproduction``."""

ARTICLE = "right.md"
"""The article on the papers, below ``docs/papers``."""

BEGIN, END = "<!-- headline: made by `make reproduction` -->", "<!-- end of headline -->"
"""Around the table in the README."""

HEADLINES = """\
What the abstracts and conclusions say, each beside the rows that decide it (`score/headlines.toml`). *Number
reproduced*: every row holds, and the printed numbers are ours, inside the band of single runs where that is narrower
than a factor of 2, or within 25 %. *Conclusion holds*: every row holds. *Mixed*: some do. *Contradicted*: none does.
*Print contradicts itself*: the paper's own numbers do not say what its words say. *Not testable here*: the finding is
about data that is not at hand, or shown with our own method only. Where nothing is printed, *print* is the direction,
with the threshold that stands for the word; what twice all thresholds would give stands with the other readings, where
it is not the same. Verdicts follow from the rows; which rows decide was chosen with their results known."""

ACCURACY = """\
The factor between our mean and a printed number above 0, the larger over the smaller; *all readings* has the cells of
readings that lost too. A ratio or a share near 1 is near whatever happens."""

READINGS = """\
Where a text leaves a setting open and claims were checked under several, one reading counts for the whole page
(`score/readings.toml`). What the others give stands beside each headline."""

STATEMENTS = """\
What several claims check under other loads or cells is one sentence of a paper. By the reading that counts:"""

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
        With the two marks around its table; so has the article on the papers below ``docs``.

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
    article = docs / "papers" / ARTICLE
    told = with_score(article.read_text(encoding="utf-8"), document)
    files = [Path(file) for file in write_reproduction(found, docs / REPORT).values()]
    texts = {readme: new, docs / "papers" / "verdicts.md": verdicts_page(document), article: told}
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


def pages_table(document: Mapping[str, Any], kinds: Collection[Kind]) -> str:
    """Claims by page and verdict, Markdown.

    Parameters
    ----------
    document : mapping
        As `Reproduction.document` gives it.
    kinds : collection of Kind
        Of the pages to show.

    Returns
    -------
    str
    """
    head = ["claims of", "claims", "agree", "same direction", "undecided", "differ", "rows", "hold"]
    kind_of = {page.id: page.kind for page in PAGES}
    rows = [row for row in document["headline"] if kind_of[row["page"]] in kinds]
    body = [_page_row(f"[{row['title']}]({row['page']}.md)", row) for row in rows]
    total: dict[str, dict[str, int]] = {"claims": {}, "rows": {}}
    for row in rows:
        for kind, counts in total.items():
            for name, count in row[kind].items():
                counts[name] = counts.get(name, 0) + count
    return table(head, [*body, _page_row("**all**", total)])


def _page_row(title: str, row: Mapping[str, Mapping[str, int]]) -> list[str]:
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
    made = f"{document['date']}, Mayfly {document['mayfly']}."
    text = f"{headline_sentences(document)}\n\n{headline_table(document)}\n\n{made}"
    return _between(readme, "README", (BEGIN, END), f"\n\n{text}\n")


def with_score(text: str, document: Mapping[str, Any]) -> str:
    """The article on the papers with its table made anew.

    Raises
    ------
    MayflyError
        It has no marks.
    """
    inner = f"{paper_table(document)}\n\n{headline_sentences(document)}"
    return _between(text, ARTICLE, (SCORE_BEGIN, SCORE_END), f"\n\n{inner}\n\n")


def _between(text: str, name: str, marks: tuple[str, str], inner: str) -> str:
    """A text with what stands between its two marks replaced."""
    begin, end = marks
    if begin not in text or end not in text:
        raise MayflyError(f"{name}: must have the line '{begin}' and the line '{end}'")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{inner}{end}{rest.partition(end)[2]}"


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
    own = {page.id for page in PAGES if page.kind is Kind.OWN}
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
        headline_sentences(document),
        "## Headline claims",
        HEADLINES,
        headline_table(document, whole=True),
        f"{reason_sentence()}; `mayfly reproduce reason PAGE/CLAIM` repeats the run.",
        "## Accuracy",
        ACCURACY,
        accuracy_table(document),
        "## Readings",
        READINGS,
        reading_table(),
        "## Statements",
        STATEMENTS,
        statement_table(document),
        "## Claims",
        "A claim is a statement under one load, cell or reading. It takes the verdict of its worst row; rows hold that "
        "agree or have the direction claimed.",
        pages_table(document, (Kind.PAPER, Kind.OTHER_CAPTURES)),
        "Beyond the papers, and not in their score:",
        pages_table(document, (Kind.OWN,)),
    ]
    for paper, name in PAPERS.items():
        body = []
        for exhibit in (exhibit for exhibit in EXHIBITS if exhibit.paper == paper):
            row = of.get(exhibit.id)
            if row is None:
                body.append([exhibit.label, exhibit.shows, exhibit.reason, ""])
                continue
            claims = [(claim, verdict) for claim, verdict in zip(row["claims"], row["verdicts"], strict=True)]
            of_paper = [verdict for claim, verdict in claims if page_of[claim] not in own]
            verdicts = of_paper or [verdict for _, verdict in claims]
            counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in _VERDICTS if verdict in verdicts]
            counts[0] = counts[0] if of_paper else f"with our own method: {counts[0]}"
            pages = dict.fromkeys(page_of[claim] for claim in row["claims"])
            body.append([exhibit.label, exhibit.shows, ", ".join(counts), ", ".join(f"[{p}]({p}.md)" for p in pages)])
        parts += [f"## {name}", table(["", "shows", "claims, or why none", "page"], body)]
    return "\n\n".join(parts) + "\n"


def judge(docs: Path, readme: Path) -> list[Path]:
    """Write anew what follows from the rows of the committed summary, without a run.

    Parameters
    ----------
    docs : Path
        Folder of the documentation, with the report of a full reproduction.
    readme : Path
        With the two marks around its table.

    Returns
    -------
    list of Path
        What was written: the summary, the head of the report, the page of verdicts, the README.

    Raises
    ------
    MayflyError
        There is no summary, or a report without marks.
    """
    summary, report = docs / REPORT / "summary.json", docs / REPORT / "report.html"
    try:
        document = json.loads(summary.read_text(encoding="utf-8"))
        html = report.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise MayflyError(f"{summary}: {error}; make reproduction writes it") from None
    if SCORE_BEGIN not in html or SCORE_END not in html:
        raise MayflyError(f"{report}: must have '{SCORE_BEGIN}' and '{SCORE_END}'; make reproduction writes them")
    document |= scored(document)
    before, _, rest = html.partition(SCORE_BEGIN)
    texts = {
        summary: json.dumps(document, indent=1, allow_nan=False) + "\n",
        report: f"{before}{score_html(document)}{rest.partition(SCORE_END)[2]}",
        docs / "papers" / "verdicts.md": verdicts_page(document),
        docs / "papers" / ARTICLE: with_score((docs / "papers" / ARTICLE).read_text(encoding="utf-8"), document),
        readme: with_headline(readme.read_text(encoding="utf-8"), document),
    }
    for file, text in texts.items():
        with complete(file) as partial:
            partial.write_text(text, encoding="utf-8")
    return list(texts)
