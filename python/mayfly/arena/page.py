"""The report of the arena: who leads where as a map of colours, what short transfers pay for safety, and the tables."""

import json
import math
import os
from typing import TYPE_CHECKING, Any

from mayfly.arena.sentences import leader, ordered_rows, value_text
from mayfly.show import page
from mayfly.show.palette import styles
from mayfly.show.plots import Figure, axis, figures_of, shown
from mayfly.show.table import Table, html
from mayfly.text.folder import filled

if TYPE_CHECKING:
    from mayfly.arena.arena import Arena

FILES = ("report.html", "arena.json")
"""What is written."""

MOST = 2.0
"""Doublings by which a row is as red as can be."""


def write(result: "Arena", folder: str | os.PathLike[str]) -> dict[str, str]:
    """Write :data:`FILES`.

    Parameters
    ----------
    result : Arena
    folder : path
        Created when absent.

    Returns
    -------
    dict of str
        Path of each by name without ending.

    Raises
    ------
    MayflyError
        The folder cannot be written.
    """
    told = result.sentences()
    where = "" if result.engine == "simulator" else f" in Linux {result.kernel}"
    figures = [figure for figure in (heat_figure(result), pareto_figure(result)) if figure is not None]
    body = [
        f"<h1>The arena{where}{' (quick)' if result.quick else ''}</h1>",
        page.answer(told[:1], told[1:], more="Where it trails, whom it dominates, what it cost"),
        *(page.place_of(figure, leads=not place) for place, figure in enumerate(figures)),
        *map(html, (*result.tables(), _experiments(result))),
        '<footer class="soft">Made by Mayfly.</footer>',
    ]
    with filled(folder, FILES) as partial_folder:
        page.write(partial_folder / FILES[0], page.document("The arena", body, list(map(page.for_script, figures))))
        text = json.dumps(result.document(), indent=1, allow_nan=False)
        (partial_folder / FILES[1]).write_text(text + "\n", encoding="utf-8")
    return {name.partition(".")[0]: os.path.join(folder, name) for name in FILES}


def heat_figure(result: "Arena") -> Figure | None:
    """By how much each discipline trails in each row, white where it leads or ties.

    Parameters
    ----------
    result : Arena

    Returns
    -------
    Figure or None
        None where there is no row.
    """
    rows = ordered_rows(result)
    if not rows:
        return None
    colours, texts = [], []
    for row in rows:
        line, words = [], []
        for label in result.disciplines:
            place = result.board[row.id].get(label)
            line.append(None if place is None else 0.0 if place.verdict != "trails" else _doublings(place.by))
            words.append("" if place is None else f"{value_text(row, place.mean)}, {place.verdict}")
        colours.append(figures_of(line))
        texts.append(words)
    data = [
        {
            "type": "heatmap",
            "x": list(map(shown, result.disciplines)),
            "y": [row.title for row in rows],
            "z": colours,
            "text": texts,
            "zmin": 0,
            "zmax": MOST,
            "xgap": 1,
            "ygap": 1,
            "colorscale": [[0, "#2e8b57"], [0.02, "#dfe8e2"], [0.5, "#e8b49a"], [1, "#c0392b"]],
            "showscale": False,
            "hovertemplate": "%{y}<br>%{x}: %{text}<extra></extra>",
        }
    ]
    layout = {
        "height": 120 + 19 * len(rows),
        "margin": {"t": 70},
        "xaxis": {"type": "category", "side": "top", "automargin": True, "tickangle": -45},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True, "tickfont": {"size": 11}},
    }
    caption = (
        "Green: leads, or cannot be told from the best. White to red: trails, as red as can be from four times on. The "
        "figures are in the table below, and under the pointer."
    )
    return Figure("board", "Who leads where", caption, data, layout)


def _doublings(by: float) -> float:
    """How much worse on a scale of doublings; at least as much as can be seen."""
    return max(0.1, min(MOST, math.log2(1 + max(0.0, by))))


def pareto_figure(result: "Arena") -> Figure | None:
    """What short transfers wait beside what the worst attacker takes: the lower left corner is the place to be.

    Parameters
    ----------
    result : Arena

    Returns
    -------
    Figure or None
        None where one of the two was not run.
    """
    attacks = [row for row in result.rows if row.better == "one"]
    short = next((row for row in result.rows if row.id == "load-80:short"), None)
    if not attacks or short is None:
        return None
    looks = styles(result.disciplines)
    data: list[dict[str, Any]] = []
    for label in result.disciplines:
        taken = [result.board[row.id][label].mean for row in attacks if label in result.board[row.id]]
        if label not in result.board[short.id] or not taken:
            continue
        data.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": shown(label),
                "meta": label,
                "x": figures_of([1000 * result.board[short.id][label].mean]),
                "y": figures_of([max(taken)]),
                "text": [shown(label)],
                "textposition": "top center",
                "marker": {"color": looks[label].colour, "size": 11},
                "hovertemplate": f"{shown(label)}: %{{x:.3~g}} ms, %{{y:.3~g}} fair shares<extra></extra>",
            }
        )
    xs = [trace["x"][0] for trace in data]
    layout = {
        "xaxis": axis("mean time of transfers up to 20 packets at 8 of 10 Mbit/s (ms)", log=True, values=xs),
        "yaxis": axis("fair shares of the worst attacker"),
        "showlegend": False,
        "height": 420,
    }
    caption = "Further left is faster for clicks, further down is safer from attackers; 1 is a fair share."
    return Figure("pareto", "Speed and safety", caption, data, layout)


def _experiments(result: "Arena") -> Table:
    from mayfly.arena.trial import BY_ID

    names = dict.fromkeys(row.experiment for row in result.rows)
    rows = tuple((name, BY_ID[name].says, BY_ID[name].scenario) for name in names)
    note = f"Hosts: tcp.preset=linux. Best discipline: {leader(result)}. Rows and ties: docs/arena.md."
    return Table("The experiments", ("experiment", "what it is", "scenario"), rows, names=3, notes=(note,))
