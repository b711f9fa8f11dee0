"""The frame of a report page: style, script, Plotly; nothing is loaded from elsewhere, as its own policy enforces."""

import json
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from mayfly.text.files import complete

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "form-action 'none'; base-uri 'none'"
)
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


def document(title: str, body: Iterable[str], plots: Sequence[dict[str, Any]]) -> str:
    """Make a page that opens offline.

    Parameters
    ----------
    title : str
        Plain text.
    body : iterable of str
        HTML, with a table ``#disciplines`` (:mod:`mayfly.show.plotted_table`) and a :func:`place` for each plot.
    plots : sequence of dict
        Key, data and layout of each plot, as ``page.js`` takes them.

    Returns
    -------
    str
        The whole page.
    """
    from plotly.offline import get_plotlyjs

    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
            *body,
            '<noscript><p class="answer">The plots need JavaScript; the table does not.</p></noscript>',
            f'<script type="application/json" id="figures">{embedded_json(plots)}</script>',
            f"<script>{_inline(get_plotlyjs())}</script>\n<script>{_inline(SCRIPT)}</script>\n</body>\n</html>\n",
        ]
    )


def place(key: str, height: int, title: str, caption: str) -> str:
    """Make room for a plot, with its heading above and its sentence below."""
    return (
        f'<figure><h2>{escape(title)}</h2><div class="plot" id="plot-{key}" style="height:{height}px" role="img" '
        f'aria-label="{escape(title)}"></div><figcaption>{escape(caption)}</figcaption></figure>'
    )


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


def _inline(script: str) -> str:
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
