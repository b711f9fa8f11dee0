"""What ``mayfly tree`` answers: which circuits suffer, which discipline at the leaves helps, and how many change."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.metrics.users import percentile
from mayfly.packs.files import write_pack
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.show.notebook import Result
from mayfly.simulate.run import Progress, named
from mayfly.trees.suffering import rise_ms, suffers
from mayfly.trees.tables import CIRCUITS, NODES

if TYPE_CHECKING:
    from mayfly.show.table import Table

CHANGES = 0.2
"""Ping or short transfers of a circuit change when they differ by more than this share ..."""

CHANGES_MS = 5.0
"""... and the ping by more than this, the transfers by ten times that."""

AS_GOOD = 0.1
"""A discipline does as well whose mean ping above the least is within this share of the best, or 1 ms."""

MOST_NAMED = 3

_DRAIN_S = 10.0
"""Time after a capture for its transfers to end."""


@dataclass(frozen=True, repr=False)
class TreeAnswer(Result):
    """What each circuit would get under each discipline.

    Parameters
    ----------
    circuits : polars.DataFrame, shape (n_circuits * n_disciplines, ...)
        :data:`mayfly.trees.tables.CIRCUITS`.
    nodes : polars.DataFrame, shape (n_nodes * n_disciplines, ...)
        :data:`mayfly.trees.tables.NODES`.
    summary : dict
        ``summary.json``.
    """

    circuits: pl.DataFrame
    nodes: pl.DataFrame
    summary: dict[str, Any] = field(repr=False)

    def document(self) -> dict[str, Any]:
        """The summary."""
        return self.summary

    def sentences(self) -> list[str]:
        """What was not read of the captures, the advice, and what to know about it."""
        leading = self.leading()
        return [*leading, *self.summary["answer"], *(note for note in self.summary["notes"] if note not in leading)]

    def leading(self) -> list[str]:
        """What was not read of the captures, a sentence for each limit: it stands before the tables."""
        return [note for note in self.summary["notes"] if note.startswith("Partial: ")]

    def tables(self) -> "list[Table]":
        """By discipline; the circuits that change most; the nodes."""
        from mayfly.trees.page import answer_tables

        return answer_tables(self)

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Writes ``circuits.parquet``, ``summary.json`` and ``report.html``; they appear together or not at all.

        Parameters
        ----------
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
        from mayfly.trees.page import tree_page

        return write_pack(folder, self.circuits, CIRCUITS, self.summary, {"report": partial(tree_page, self)})


def tree(
    nodes: str | os.PathLike[str],
    devices: str | os.PathLike[str],
    captures: Sequence[str | os.PathLike[str]] = (),
    *,
    disciplines: str | Sequence[str] | None = None,
    household: str | os.PathLike[str] = "household",
    overrides: dict[str, Any] | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> TreeAnswer:
    """What each discipline at the leaves of a provider's tree would give each circuit.

    Parameters
    ----------
    nodes, devices : path
        ``network.json`` and ``ShapedDevices.csv`` (:mod:`mayfly.trees.network_file`).
    captures : sequence of path
        Read as one; their flows go to the circuits that have their addresses. Without any, each circuit gets the
        workload of a household of its own.
    disciplines : str or sequence of str, optional
        The first is what the others are compared with; those of the household's scenario when not given.
    household : str or path
        Scenario of network, transport and workload.
    overrides : dict, optional
        Fields of that scenario by dotted name.
    progress : callable, optional
        Called with the fraction done.
    workers : int, optional
        Threads; as many as processors when not given.

    Returns
    -------
    TreeAnswer

    Raises
    ------
    MayflyError
        A file, a value or a capture that makes no sense; one line.

    Notes
    -----
    Circuits are simulated alone where nothing above them is full, together where it is (:mod:`mayfly.trees.coupling`).
    """
    from mayfly.trees.coupling import simulate
    from mayfly.trees.flows import Captured, Drawn, captured
    from mayfly.trees.network_file import read_provider

    provider = read_provider(nodes, devices)
    scenario = load_scenario(household, overrides)
    chosen = named(disciplines if disciplines is not None else scenario.disciplines)
    refuse_unshaped(scenario)
    notes = list(provider.notes)
    flows: Captured | Drawn
    if captures:
        flows = captured(captures, provider)
        notes = [*flows.account["partial"], *notes, *flows.notes]
        if "duration" not in (overrides or {}):
            scenario = scenario.override(duration=flows.span_s + _DRAIN_S)
        flows = replace(flows, flows=flows.flows.filter(pl.col("start_s") < scenario.duration))
    else:
        flows = Drawn(scenario, provider.tree.circuit)
    shaped = scenario.override(network=scenario.network.model_dump(exclude_unset=True) | {"tree": provider.tree})
    found = simulate(shaped, chosen, flows, progress, workers)
    circuits = pl.concat([each.circuits() for each in found])
    least = pl.col("ping_least_ms").min().over("circuit")
    circuits = circuits.with_columns(least.alias("ping_least_ms")).select(*CIRCUITS.schema)
    table = pl.concat([each.table_of_nodes() for each in found]) if provider.tree.node else NODES_EMPTY
    summary: dict[str, Any] = {
        "schema": 1,
        "command": "tree",
        "nodes": os.fspath(nodes),
        "devices": os.fspath(devices),
        "captures": [os.fspath(path) for path in captures],
        "scenario": scenario.name,
        "seed": scenario.seed,
        "duration_s": scenario.duration,
        "circuits": len(provider.tree.circuit),
        "disciplines": [discipline_row(circuits, discipline.label) for discipline in chosen],
        "full": full_nodes(table),
        "notes": notes,
    }
    if isinstance(flows, Captured):
        summary["account"] = [flows.account]
    summary["best"] = best_of(summary["disciplines"])
    summary["changed"] = changed(circuits, chosen[0].label, summary["best"])["circuit"].to_list()
    summary["answer"] = advice(circuits, summary)
    return TreeAnswer(circuits, table, summary)


NODES_EMPTY = pl.DataFrame(schema=NODES.schema)


def refuse_unshaped(scenario: Scenario) -> None:
    """Refuse a scenario that has no dumbbell with sides that differ, or traffic that measures."""
    network = scenario.network
    if network.topology != "dumbbell" or network.wlan is not None or network.symmetric or network.tree is not None:
        raise MayflyError(f"{scenario.name}: must be a dumbbell whose sides differ, without a tree of its own")
    if scenario.probes.any:
        raise MayflyError(f"{scenario.name}: [probes]: must be left out: every circuit is pinged")


def discipline_row(circuits: pl.DataFrame, label: str) -> dict[str, Any]:
    """All circuits under one discipline.

    Parameters
    ----------
    circuits : polars.DataFrame
        Of all disciplines.
    label : str
        Of the discipline.

    Returns
    -------
    dict
        ``label``; ``suffering``, circuits; ``together``, circuits that were simulated with others; medians and 95th
        percentiles over circuits of ``ping_p95_ms`` and ``short_p95_s``; ``ping_rise_ms``, mean over circuits of the
        95th percentile above the least; ``utilisation_down``, mean; ``drops`` and ``marks``, packets; ``unfinished``.
    """
    own = circuits.filter(discipline=label)
    rise = own.select(rise_ms().alias("rise")).filter(pl.col("rise").is_finite())["rise"]

    def over(column: str, share: float) -> float | None:
        return percentile(own[column].drop_nulls().sort().to_numpy(), share)

    return {
        "label": label,
        "suffering": int(own.select(suffers().sum()).item()),
        "together": own.height - own["together"].null_count(),
        "ping_p95_ms": {"median": over("ping_p95_ms", 0.5), "p95": over("ping_p95_ms", 0.95)},
        "short_p95_s": {"median": over("short_p95_s", 0.5), "p95": over("short_p95_s", 0.95)},
        "ping_rise_ms": None if rise.is_empty() else float(rise.to_numpy().mean()),
        "utilisation_down": float(own["utilisation_down"].to_numpy().mean()),
        "drops": int(own.select((pl.col("drops_down") + pl.col("drops_up")).sum()).item()),
        "marks": int(own["marks"].sum()),
        "unfinished": int(own["unfinished"].sum()),
    }


def full_nodes(nodes: pl.DataFrame) -> list[dict[str, Any]]:
    """Nodes that are full under any discipline, fullest first."""
    full = nodes.filter("full").with_columns(peak=pl.max_horizontal("peak_down", "peak_up"))
    each = full.group_by("node", maintain_order=True).agg(
        pl.col("circuits").first(), pl.col("discipline").alias("under"), pl.col("peak").max()
    )
    return each.sort("peak", "node", descending=[True, False]).to_dicts()


def best_of(rows: Sequence[dict[str, Any]]) -> str:
    """The discipline under which the fewest suffer, of those the one of the least ping."""
    label: str = min(rows, key=lambda row: (row["suffering"], _finite(row["ping_rise_ms"])))["label"]
    return label


def _finite(value: float | None) -> float:
    return math.inf if value is None else value


def changed(circuits: pl.DataFrame, before: str, after: str) -> pl.DataFrame:
    """Circuits whose ping or short transfers differ between two disciplines, those of the largest change first.

    Returns
    -------
    polars.DataFrame, shape (n_changed, 5)
        ``circuit`` and both figures under both, with ``_after``.
    """
    figures = ("circuit", "ping_p95_ms", "short_p95_s")
    both = (
        circuits.filter(discipline=before)
        .select(figures)
        .join(circuits.filter(discipline=after).select(figures), on="circuit", suffix="_after", maintain_order="left")
    )
    moved = []
    for name, least in (("ping_p95_ms", CHANGES_MS), ("short_p95_s", CHANGES_MS / 100)):
        one, other = pl.col(name), pl.col(f"{name}_after")
        apart = (one - other).abs()
        moved.append(((apart > CHANGES * one) & (apart > least)).fill_null(one.is_null() != other.is_null()))
    most = (pl.col("ping_p95_ms") - pl.col("ping_p95_ms_after")).abs()
    return both.filter(moved[0] | moved[1]).sort(most, "circuit", descending=[True, False], nulls_last=True)


def advice(circuits: pl.DataFrame, summary: dict[str, Any]) -> list[str]:
    """What to do, in sentences.

    Parameters
    ----------
    circuits : polars.DataFrame
        Of all disciplines.
    summary : dict
        With ``disciplines``, ``best``, ``changed``, ``full`` and ``circuits``.

    Returns
    -------
    list of str
    """
    rows, best, total = summary["disciplines"], summary["best"], summary["circuits"]
    first, by_label = rows[0], {row["label"]: row for row in rows}
    today, chosen = first["label"], by_label[best]
    said = []
    if first["suffering"] == 0 and (best == today or not summary["changed"]):
        said.append(f"No circuit suffers under {today}, and no other discipline would change that: leave it")
    elif best == today:
        said.append(
            f"Stay with {today}: {first['suffering']} of {total} circuits suffer, and under the others no fewer"
        )
    else:
        same = [row["label"] for row in rows if row["label"] not in (best, today) and _as_good(row, chosen)]
        more = f"; {' and '.join(same)} {'does' if len(same) == 1 else 'do'} as well" if same else ""
        verb = "suffers" if first["suffering"] == 1 else "suffer"
        said.append(
            f"Use {best} at the leaves: {first['suffering']} of {total} circuits {verb} under {today}, "
            f"{chosen['suffering']} under {best}{more}"
            if first["suffering"]
            else f"No circuit suffers under {today}; {best} at the leaves has the least ping{more}"
        )
        said.append(
            f"{len(summary['changed'])} of {total} circuits would notice: their ping or their short transfers change "
            f"by more than {CHANGES:.0%}"
        )
        said += _most_of_all(circuits, today, best)
    said += _told_full(summary["full"])
    return said


def _as_good(row: dict[str, Any], best: dict[str, Any]) -> bool:
    rise, least = _finite(row["ping_rise_ms"]), _finite(best["ping_rise_ms"])
    return bool(row["suffering"] <= best["suffering"] and rise <= max(least * (1 + AS_GOOD), least + 1.0))


def _most_of_all(circuits: pl.DataFrame, today: str, best: str) -> list[str]:
    """The circuits whose ping changes most."""
    from mayfly.text.readable import printable, time_text

    rows = changed(circuits, today, best).filter(pl.col("ping_p95_ms_after").is_not_null()).head(MOST_NAMED)
    each = [
        f"{printable(row['circuit'])} ({time_text(_seconds(row['ping_p95_ms']))} -> "
        f"{time_text(_seconds(row['ping_p95_ms_after']))})"
        for row in rows.iter_rows(named=True)
    ]
    return [f"Most of all, the ping of {', '.join(each)}"] if each else []


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1e3


def _told_full(full: Sequence[dict[str, Any]]) -> list[str]:
    """Nodes that are full, and what that means."""
    from mayfly.text.readable import printable

    if not full:
        return []
    some = ", ".join(f"{printable(row['node'])} ({row['circuits']} circuits)" for row in full[:MOST_NAMED])
    more = f" and {len(full) - MOST_NAMED} more" if len(full) > MOST_NAMED else ""
    return [f"Full at times: {some}{more}; there circuits wait for each other, whatever is at the leaves"]
