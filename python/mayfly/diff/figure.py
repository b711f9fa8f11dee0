"""The figure of ``mayfly diff``: the ratio of every measure, after over before, with its interval."""

import math
from collections.abc import Mapping, Sequence

from mayfly.diff.measures import Change
from mayfly.show.palette import styles
from mayfly.show.plots import Figure, axis, figures_of, shown

ALONE = "change"
"""Label of the curve where there is one pair without a discipline, as of two captures."""


def changes_figure(pairs: Mapping[str, Sequence[Change]]) -> Figure | None:
    """A point with its interval for each measure of each pair, on a logarithmic axis.

    Parameters
    ----------
    pairs : mapping
        Changes by the label of what is compared.

    Returns
    -------
    Figure or None
        None where no measure has a ratio above 0.
    """
    looks = styles([label or ALONE for label in pairs])
    data, ends, names = [], [], []
    for label, found in pairs.items():
        known = [(change, change.ratio) for change in found if change.ratio is not None and _drawable(change.ratio)]
        if not known:
            continue
        style = looks[label or ALONE]
        ratios = [ratio for _, ratio in known]
        spans = [change.ci95 if change.ci95 and min(change.ci95) > 0 else (ratio, ratio) for change, ratio in known]
        names += [change.name for change, _ in known if change.name not in names]
        ends += [end for span in spans for end in span]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "orientation": "h",
                "name": shown(label or ALONE),
                "meta": label or ALONE,
                "x": figures_of(ratios),
                "y": [change.name for change, _ in known],
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": figures_of([high - ratio for (_, high), ratio in zip(spans, ratios, strict=True)]),
                    "arrayminus": figures_of([ratio - low for (low, _), ratio in zip(spans, ratios, strict=True)]),
                    "thickness": 1.4,
                },
                "marker": {"color": style.colour, "size": 7},
                "hovertemplate": f"{shown(label or ALONE)}, %{{y}}: %{{x:.3~g}} times<extra></extra>",
            }
        )
    if not data:
        return None
    layout = {
        "xaxis": axis("after over before", log=True, values=ends),
        "yaxis": {
            "type": "category",
            "autorange": "reversed",
            "automargin": True,
            "categoryorder": "array",
            "categoryarray": names,
        },
        "showlegend": len(data) > 1,
        "scattermode": "group",
        "scattergap": 0.25,
        "height": 90 + len(names) * max(26, 8 + 8 * len(data)),
        "shapes": [{"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": _MARK}],
    }
    caption = (
        "Left of 1: less than before. Lines: 95 % intervals of each measure alone. A change counts where Holm's "
        "procedure over all measures keeps the error at 5 %, so that a line may end short of 1 without one."
    )
    return Figure("changes", "What changed", caption, data, layout)


_MARK = {"dash": "dot", "width": 1, "color": "#868b95"}


def _drawable(ratio: float) -> bool:
    return ratio > 0 and math.isfinite(ratio)
