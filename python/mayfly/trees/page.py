"""Tables and report of ``mayfly tree``."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.show import page
from mayfly.show.palette import styles
from mayfly.show.plots import Figure, axis, curve, figures_of
from mayfly.show.table import Cell, Row, Table, html
from mayfly.text.readable import MISSING, count_text, printable, rate_text, share_text, time_text
from mayfly.trees.suffering import suffers

if TYPE_CHECKING:
    from mayfly.trees.answer import TreeAnswer

MOST_CIRCUITS = 2000
"""Circuits in the table of a page; all are in ``circuits.parquet``."""

SHOWN_CIRCUITS = 10
"""Circuits that a terminal shows."""

POINTS = 200
"""Of a curve over circuits."""


def answer_tables(found: "TreeAnswer") -> list[Table]:
    """By discipline; the circuits that change most; all circuits and the tree for the page.

    Parameters
    ----------
    found : TreeAnswer

    Returns
    -------
    list of Table
    """
    by_circuit = _by_circuit(found, MOST_CIRCUITS)
    shown = _by_circuit(found, SHOWN_CIRCUITS)
    tables = [_disciplines(found.summary)]
    if len(shown.rows) < len(by_circuit.rows):
        tables += [shown, _titled(by_circuit, "All circuits, those that change most first", "Table: circuits")]
    else:
        tables.append(by_circuit)
    if found.nodes.height:
        tables.append(_nodes(found))
    return tables


def _titled(table: Table, title: str, folded: str) -> Table:
    return Table(title, table.heads, table.rows, notes=table.notes, page_only=True, folded=folded)


def _disciplines(summary: dict[str, Any]) -> Table:
    rows: list[Row] = []
    fewest = min(row["suffering"] for row in summary["disciplines"])
    for row in summary["disciplines"]:
        ping, short = row["ping_p95_ms"], row["short_p95_s"]
        good = row["suffering"] == fewest if any(r["suffering"] != fewest for r in summary["disciplines"]) else None
        rows.append(
            (
                f"{'* ' if row['label'] == summary['best'] else '  '}{row['label']}",
                Cell(f"{row['suffering']:,}", True if good else None),
                *(_ms(ping[which]) for which in ("median", "p95")),
                *(time_text(short[which]) for which in ("median", "p95")),
                share_text(row["utilisation_down"]),
                count_text(row["drops"]),
                f"{row['together']:,}",
            )
        )
    heads = (
        "discipline",
        "circuits\nthat suffer",
        "ping p95\nmedian\ncircuit",
        "of 5 % it\nexceeds",
        "short\ntransfers p95\nmedian circuit",
        "of 5 % it\nexceeds",
        "use",
        "drops",
        "simulated\ntogether",
    )
    note = (
        "A circuit suffers when 5 % of its pings take 50 ms longer than the least one. Simulated together: circuits of "
        "nodes that were full."
    )
    return Table("All circuits by discipline", heads, tuple(rows), notes=(note,))


def _ms(value: float | None) -> str:
    return MISSING if value is None else time_text(value / 1e3)


def _by_circuit(found: "TreeAnswer", most: int) -> Table:
    """Ping and short transfers under each discipline, those that change most first."""
    labels = [row["label"] for row in found.summary["disciplines"]]
    wide = found.circuits.select("circuit", "parent", "discipline", "ping_p95_ms", "short_p95_s", "ceil_down_bps")
    spread = pl.col("ping_p95_ms").max().over("circuit") - pl.col("ping_p95_ms").min().over("circuit")
    order = wide.with_columns(spread.alias("spread")).filter(discipline=labels[0])
    order = order.sort("spread", "circuit", descending=[True, False], nulls_last=True).head(most)
    kept = wide.filter(pl.col("circuit").is_in(order["circuit"].implode()))
    cells = {(row["circuit"], row["discipline"]): row for row in kept.iter_rows(named=True)}
    rows: list[Row] = []
    for row in order.iter_rows(named=True):
        pings = [_ms(cells[row["circuit"], label]["ping_p95_ms"]) for label in labels]
        shorts = [time_text(cells[row["circuit"], label]["short_p95_s"]) for label in labels]
        rows.append(
            (
                printable(row["circuit"]),
                printable(row["parent"] or MISSING),
                rate_text(row["ceil_down_bps"]),
                *pings,
                *shorts,
            )
        )
    heads = ["circuit", "node", "down"]
    heads += [f"ping p95\n{label}" for label in labels] + [f"short p95\n{label}" for label in labels]
    total = found.summary["circuits"]
    notes = () if len(rows) == total else (f"{len(rows):,} of {total:,} circuits; all are in circuits.parquet.",)
    return Table("Circuits that change most", tuple(heads), tuple(rows), notes=notes, narrow="fold")


def _nodes(found: "TreeAnswer") -> Table:
    """The tree: each node below the one it is in."""
    first = found.summary["disciplines"][0]["label"]
    own = found.nodes.filter(discipline=first)
    full = {row["node"]: row["under"] for row in found.summary["full"]}
    suffering = _suffering(found, first)
    rows: list[Row] = []
    for node, depth in _in_order(own):
        under = full.get(node["node"])
        rows.append(
            (
                "\u00a0\u00a0" * depth + printable(node["node"]),
                f"{node['circuits']:,}",
                f"{suffering.get(node['node'], 0):,}",
                f"{rate_text(node['ceil_down_bps'])} / {rate_text(node['ceil_up_bps'])}",
                f"{share_text(node['utilisation_down'])} / {share_text(node['utilisation_up'])}",
                f"{share_text(node['peak_down'])} / {share_text(node['peak_up'])}",
                Cell("no", None) if under is None else Cell(f"under {', '.join(under)}", False),
            )
        )
    heads = (
        "node",
        "circuits",
        "suffer",
        "may have\ndown / up",
        "asked for,\nmean",
        "asked for,\nbusiest second",
        "full",
    )
    note = f"Asked for by what its circuits send under {first}: above 100 % is more than the node has."
    return Table("The tree", heads, tuple(rows), notes=(note,), page_only=True)


def _in_order(nodes: pl.DataFrame) -> list[tuple[dict[str, Any], int]]:
    """Nodes with their depth, each behind the one it is in."""
    children: dict[str | None, list[dict[str, Any]]] = {}
    for row in nodes.iter_rows(named=True):
        children.setdefault(row["parent"], []).append(row)
    found: list[tuple[dict[str, Any], int]] = []
    waiting = [(row, 0) for row in reversed(children.get(None, []))]
    while waiting:
        row, depth = waiting.pop()
        found.append((row, depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(row["node"], []))]
    return found


def _suffering(found: "TreeAnswer", label: str) -> dict[str, int]:
    """Circuits in each node that suffer under a discipline."""
    parents = dict(found.nodes.filter(discipline=label).select("node", "parent").iter_rows())
    counts: dict[str, int] = {}
    for node in found.circuits.filter(suffers(), discipline=label)["parent"]:
        while node is not None:
            counts[node] = counts.get(node, 0) + 1
            node = parents[node]
    return counts


def _figure(found: "TreeAnswer", column: str, key: str, title: str, unit: str, scale: float) -> Figure | None:
    """A figure of all circuits in order, a curve of each discipline."""
    labels = [row["label"] for row in found.summary["disciplines"]]
    looks = styles(labels)
    data, values = [], []
    for label in labels:
        ordered = (found.circuits.filter(discipline=label)[column].drop_nulls().sort() * scale).to_list()
        if not ordered:
            continue
        count = len(ordered)
        places = sorted({min(round(at * (count - 1) / max(POINTS - 1, 1)), count - 1) for at in range(POINTS)})
        shares = figures_of([100 * (place + 1) / count for place in places])
        drawn = figures_of([ordered[place] for place in places])
        values += [value for value in drawn if value]
        data.append(
            curve(
                label,
                looks[label],
                drawn,
                shares,
                f"{escape(label)}: %{{y:.3~g}} % of circuits below %{{x:.3~g}}<extra></extra>",
            )
        )
    if not data:
        return None
    layout = {"xaxis": axis(unit, True, values), "yaxis": axis("circuits (%)")}
    caption = "The share of the circuits that have at most so much: further to the left is better."
    return Figure(key, title, caption, data, layout)


def tree_page(found: "TreeAnswer") -> str:
    """The report: one HTML page that opens without a network.

    Parameters
    ----------
    found : TreeAnswer

    Returns
    -------
    str
        HTML: the advice, all circuits as curves, tables, the tree.
    """
    said: Sequence[str] = found.summary["answer"]
    ping = _figure(found, "ping_p95_ms", "ping", "Ping of all circuits", "ping, 95th percentile (ms)", 1.0)
    short = _figure(found, "short_p95_s", "short", "Short transfers of all circuits", "95th percentile (ms)", 1e3)
    figures = [figure for figure in (ping, short) if figure is not None]
    told = found.summary
    body = [
        "<h1>A tree of shapers</h1>",
        page.answer([*found.leading(), *said[:1]], said[1:], more="More of the advice"),
        *(page.place_of(figure, leads=figure is ping) for figure in figures),
        page.told([f"{told['circuits']:,} circuits, {told['duration_s']:.0f} s", *told["notes"]]),
        *map(html, answer_tables(found)),
        '<footer class="soft">Made by Mayfly. Dry runs of effects: nothing was changed on any shaper.</footer>',
    ]
    return page.document("A tree of shapers", body, [page.for_script(figure) for figure in figures])
