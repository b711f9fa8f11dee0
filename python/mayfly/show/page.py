"""The frame of a report page: contents, style, script, Plotly; nothing comes from elsewhere, as its policy enforces.

Every page gets by this frame: a list of contents made of its headings, a box of its own for each table wider than the
window, a size of its plots that follows the window, and buttons that save each plot as SVG, PNG or CSV.
"""

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mayfly.show.plots import Figure
from mayfly.text.files import complete

_HERE = Path(__file__).parent
STYLE = (_HERE / "page.css").read_text(encoding="utf-8")
SCRIPT = (_HERE / "page.js").read_text(encoding="utf-8")

LAYOUT: dict[str, Any] = {
    "height": 460,
    "autosize": True,
    "margin": {"l": 56, "r": 14, "t": 16, "b": 48},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"family": "system-ui, -apple-system, Segoe UI, sans-serif", "size": 13},
    "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
    "hovermode": "closest",
}
"""What all plots have in common."""

GRID_LINE_PX, GRID_AROUND_PX = 22, 62
"""Height of a bar and of what is above and below the bars, as page.js places panels side by side."""

LEAD_PX = 340
"""Height of a plot that leads a page."""

FEWEST_HEADINGS = 3
"""From so many headings on a page has a list of them."""

MOST_FIGURES = 40
"""Of more headings, those of figures are left out of the contents."""

_HEADING = re.compile(r'<h2(?P<figure> class="figure")?>(?P<title>.*?)</h2>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")

_WRITTEN = {"</script": "<\\/script", "<!--": "<\\!--"}
"""What would end the element of a script, or hide its end, and how it is written there."""


def policy(*scripts: str | bytes, more: str = "") -> str:
    """The policy of a page: these scripts run and no others, whatever gets into its text.

    Parameters
    ----------
    *scripts : str or bytes
        Content of the elements ``<script>``, to the letter.
    more : str
        Further sources of scripts.

    Returns
    -------
    str
        Of the header ``Content-Security-Policy``. Styles may stand in the page: plots set them as they are drawn.
    """
    digests = " ".join(_digest(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {digests}{more}; style-src 'unsafe-inline'; img-src data: blob:; "
        "font-src data:; form-action 'none'; base-uri 'none'"
    )


@cache
def _digest(script: str | bytes) -> str:
    written = script if isinstance(script, bytes) else script.encode()
    return f"'sha256-{base64.b64encode(hashlib.sha256(written).digest()).decode()}'"


def document(title: str, body: Iterable[str], plots: Sequence[dict[str, Any]]) -> str:
    """Make a page that opens offline.

    Parameters
    ----------
    title : str
        Plain text.
    body : iterable of str
        HTML, with a table ``#disciplines`` (:mod:`mayfly.show.plotted_table`) and a :func:`place` for each plot. What
        stands before the first heading ``<h2>`` is the first screen: the answer and its figure. The contents follow.
    plots : sequence of dict
        Key, data and layout of each plot, as ``page.js`` takes them.

    Returns
    -------
    str
        The whole page.
    """
    before, after = _around_library(title, body, plots)
    return f"{before}{_library().decode()}{after}"


def write_document(
    path: str | os.PathLike[str], title: str, body: Iterable[str], plots: Sequence[dict[str, Any]]
) -> Path:
    """Write the page of :func:`document`, without a copy of the plot library as text.

    Raises
    ------
    OSError
        The folder does not exist or cannot be written.
    """
    path = Path(path)
    before, after = _around_library(title, body, plots)
    with complete(path) as partial, partial.open("wb") as file:
        file.writelines((before.encode(), _library(), after.encode()))
    return path


@cache
def _library() -> bytes:
    """The plot library as :func:`inline` writes it; read without 40 ms for the package that it is in."""
    found = _plotly()
    for sign, written in _WRITTEN.items():
        found = found.replace(sign.encode(), written.encode())
    return found


def _plotly() -> bytes:
    package = find_spec("plotly")
    for folder in (package.submodule_search_locations or ()) if package else ():
        file = Path(folder) / "package_data" / "plotly.min.js"
        if file.is_file():
            return file.read_bytes()
    raise FileNotFoundError("plotly.min.js: not in the package plotly")


def _around_library(title: str, body: Iterable[str], plots: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """What stands before the plot library in a page, and what after it."""
    script = inline(SCRIPT)
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy(_library(), script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        *with_contents(body),
        '<noscript><p class="answer">The plots need JavaScript; the tables do not.</p></noscript>',
        f'<script type="application/json" id="figures">{embedded_json(plots)}</script>',
        "<script>",
    ]
    return "\n".join(parts), f"</script>\n<script>{script}</script>\n</body>\n</html>\n"


def with_contents(body: Iterable[str]) -> list[str]:
    """Give every heading a name to go to, and put the list of them before the first.

    Parameters
    ----------
    body : iterable of str
        HTML. Headings are ``<h2>``; those of plots have the class ``figure``, as :func:`place` writes them.

    Returns
    -------
    list of str
        As it was where there are fewer than `FEWEST_HEADINGS` headings. Of more than `MOST_FIGURES`, those of plots are
        not in the list.

    Examples
    --------
    >>> with_contents(["<h1>A</h1>", "<h2>One &amp; two</h2>", "<h2>Three</h2>", "<h2>Three</h2>"])[2]
    '<span id="section-one-amp-two"></span><h2>One &amp; two</h2>'
    """
    parts = list(body)
    found: list[tuple[str, str, bool]] = []

    def named(match: re.Match[str]) -> str:
        # No plot, table or field of a page has a name that begins so.
        words = f"section-{re.sub(r'[^a-z0-9]+', '-', _TAG.sub('', match['title']).lower()).strip('-')}"
        taken = {name for name, _, _ in found}
        name = next(
            name for at in range(1, len(found) + 2) if (name := words if at == 1 else f"{words}-{at}") not in taken
        )
        found.append((name, _TAG.sub("", match["title"]), match["figure"] is not None))
        return f'<span id="{name}"></span>{match[0]}'

    first = next((at for at, part in enumerate(parts) if _HEADING.search(part)), None)
    anchored = [_HEADING.sub(named, part) for part in parts]
    listed = [(name, title) for name, title, figure in found if len(found) <= MOST_FIGURES or not figure]
    if first is None or len(listed) < FEWEST_HEADINGS:
        return parts
    items = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in listed)
    contents = f'<nav class="contents" aria-label="contents"><b>Contents</b><ul>{items}</ul></nav>'
    return [*anchored[:first], contents, *anchored[first:]]


def for_script(plot: Figure) -> dict[str, Any]:
    """A plot as :func:`document` takes it.

    Parameters
    ----------
    plot : Figure
        Without panels under each other; with panels side by side its height is that of one line of them, which the
        page's script changes where they stand in several.

    Returns
    -------
    dict
        ``key``, ``data``, ``layout``, and ``grid`` where there are panels side by side.
    """
    layout = LAYOUT | {"legend": dict(LAYOUT["legend"])} | plot.layout
    found: dict[str, Any] = {"key": plot.key, "data": plot.data, "layout": layout}
    if plot.grid:
        found["grid"] = plot.grid
        drawn = {trace["meta"] for trace in plot.data if trace.get("visible", True) is True}
        layout["height"] = max(1, len(drawn)) * GRID_LINE_PX + GRID_AROUND_PX
    return found


def leading(plot: Figure) -> Figure:
    """The same plot, low enough for the first screen."""
    return plot if plot.grid else replace(plot, layout=plot.layout | {"height": LEAD_PX})


def place_of(plot: Figure, leads: bool = False) -> str:
    """Make room for a plot; ``leads`` as :func:`place`."""
    return place(plot.key, for_script(plot)["layout"]["height"], plot.title, plot.caption, leads)


def place(key: str, height: int, title: str, caption: str, leads: bool = False) -> str:
    """Make room for a plot, with its heading above and its sentence below.

    Parameters
    ----------
    key : str
        Of the plot: letters, digits and dashes.
    height : int
        In pixels; the page's script changes it where panels stand under each other.
    title, caption : str
        Plain text.
    leads : bool
        Whether it is the figure of the first screen, which has no heading of its own.

    Returns
    -------
    str
        HTML.
    """
    heading = "" if leads else f'<h2 class="figure">{escape(title)}</h2>'
    return (
        f'<figure{" class=lead" if leads else ""}>{heading}<div class="plot" id="plot-{key}" style="height:{height}px" '
        f'role="img" aria-label="{escape(title)}"></div><figcaption>{escape(caption)}</figcaption></figure>'
    )


def answer(sentences: Sequence[str], rest: Sequence[str] = (), more: str = "More", after: str = "") -> str:
    """The answer in words, in a box of its own; the first sentence is the largest.

    Parameters
    ----------
    sentences, rest : sequence of str
        Plain text without full stops; ``rest`` waits behind a fold.
    more : str
        What the reader clicks on to see ``rest``.
    after : str
        HTML that follows the first sentence, such as a command to copy.

    Returns
    -------
    str
        HTML; empty without a sentence.
    """
    if not sentences and not rest:
        return ""
    first = _paragraphs(sentences[:1])
    return f'<div class="answer">{first}{after}{told(sentences[1:], rest, more)}</div>'


def told(sentences: Sequence[str], rest: Sequence[str] = (), more: str = "More") -> str:
    """Sentences as paragraphs, and ``rest`` behind a fold; as :func:`answer`, without the box."""
    return _paragraphs(sentences) + (folded(more, _paragraphs(rest)) if rest else "")


def _paragraphs(sentences: Sequence[str]) -> str:
    """Plain sentences, each closed by a full stop where it has none."""
    ends = (".", "!", "?", "`")
    return "".join(f'<p class="told">{_marked(text)}{"" if text.endswith(ends) else "."}</p>' for text in sentences)


def _marked(text: str) -> str:
    """A sentence as HTML: what stands between backticks is a command, and an arrow is one."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text.replace(" -> ", " \u2192 ")))


def folded(summary: str, body: str) -> str:
    """A part of a page that opens by a click, ``body`` as HTML."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def write(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page that appears under its name when it is complete, never half written.

    Raises
    ------
    OSError
        The folder does not exist or cannot be written.
    """
    path = Path(path)
    with complete(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return path


def embedded_json(value: Any) -> str:
    r"""Write JSON that is safe inside a script element.

    Raises
    ------
    ValueError
        A number that is not finite: JSON has none.

    Examples
    --------
    >>> embedded_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def inline(script: str) -> str:
    """Write a script so that nothing in it ends its element."""
    for sign, written in _WRITTEN.items():
        script = script.replace(sign, written)
    return script
