"""Our numbers over the printed ones, as a plot: what there is to look at where a paper has a table."""

from collections.abc import Sequence
from typing import Any

from mayfly.show import page
from mayfly_papers.declare.declaration import RowFinding, Verdict
from mayfly_papers.declare.markdown import number
from mayfly_papers.report.reproduce import Checked

COLOURS = {
    Verdict.AGREES: "#2aa38b",
    Verdict.DIRECTION: "#4269d0",
    Verdict.UNDECIDED: "#868b95",
    Verdict.DIFFERS: "#e8503f",
}
"""Of verdicts, in marks and plots."""

_LINE_PX = 19
_AROUND_PX = 110
_LEAST_PX = 320
_AT_MOST = 80
_LABEL = 70


def printed_plot(name: str, claims: Sequence[Checked]) -> dict[str, Any] | None:
    """A row for each printed number: ours over it, with its 95 % interval.

    Parameters
    ----------
    name : str
        Of the table or figure; key of the plot.
    claims : sequence of Checked
        About it.

    Returns
    -------
    dict or None
        As :func:`mayfly.show.page.document` takes it; None with fewer than two rows that have a ratio. Rows whose
        numbers are not above 0 have none.
    """
    pairs = [(c.claim.id, row) for c in claims if c.finding for row in c.finding.rows if _has_ratio(row)][:_AT_MOST]
    if len(pairs) < 2:
        return None
    rows = [row for _, row in pairs]
    shown = _labels(pairs)
    traces = []
    for verdict, colour in COLOURS.items():
        own = [(label, row) for label, row in zip(shown, rows, strict=True) if row.verdict is verdict]
        if own:
            traces.append(_trace(str(verdict), colour, own))
    height = max(_LEAST_PX, _AROUND_PX + _LINE_PX * len(rows))
    along = {"categoryorder": "array", "categoryarray": shown[::-1], "range": [-0.7, len(rows) - 0.3], "dtick": 1}
    layout = page.LAYOUT | {
        "height": height,
        "xaxis": {"title": {"text": "ours / printed"}, "type": "log", "dtick": "D2", "automargin": True},
        "yaxis": along | {"automargin": True},
        "shapes": [{"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": {"width": 1}}],
        "showlegend": True,
    }
    return {"key": f"printed-{name}".replace(".", "-"), "data": traces, "layout": layout}


def _has_ratio(row: RowFinding) -> bool:
    return row.row.printed is not None and row.row.printed.value > 0 and row.mean > 0


def _labels(pairs: Sequence[tuple[str, RowFinding]]) -> list[str]:
    """Of an axis: names of rows, after those of their claims where there are several."""
    several = len({claim for claim, _ in pairs}) > 1
    texts = [f"{claim}: {row.row.name}" if several else row.row.name for claim, row in pairs]
    texts = [text if len(text) <= _LABEL else text[: _LABEL - 3] + "..." for text in texts]
    counted = [texts[: at + 1].count(text) for at, text in enumerate(texts)]
    return [text if count == 1 else f"{text} ({count})" for text, count in zip(texts, counted, strict=True)]


def _trace(verdict: str, colour: str, rows: Sequence[tuple[str, RowFinding]]) -> dict[str, Any]:
    ratios, above, below, texts = [], [], [], []
    for _, row in rows:
        assert row.row.printed is not None, "rows without a ratio are left out"
        printed, mean = row.row.printed.value, row.mean
        low, high = row.ci95 or (mean, mean)
        ratios.append(mean / printed)
        above.append((high - mean) / printed)
        # On a logarithmic axis an interval that reaches 0 ends at a hundredth of the mean.
        below.append((mean - max(low, mean / 100)) / printed)
        texts.append(f"printed {number(printed)}, ours {number(mean)} {row.row.unit}".rstrip())
    return {
        "type": "scatter",
        "mode": "markers",
        "name": verdict,
        "x": ratios,
        "y": [label for label, _ in rows],
        "text": texts,
        "hovertemplate": "%{x:.3~g}: %{text}<extra></extra>",
        "marker": {"color": colour, "size": 7},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": above,
            "arrayminus": below,
            "color": colour,
            "width": 3,
        },
    }
