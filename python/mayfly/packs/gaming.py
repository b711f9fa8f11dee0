"""Gaming and starvation: who takes more than a fair share under each discipline, and who gets nothing.

Three attacks, each a ready scenario that is varied: a sender who spaces its packets so that it always looks new, one
transfer split over many connections, and short transfers that offer more than the link carries.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from mayfly.comparison.comparison import SCHEMA, Comparison, compare
from mayfly.errors import MayflyError
from mayfly.metrics import batch_response
from mayfly.packs.files import progress_of, write_pack
from mayfly.scenario.attacks import ATTACKS, PARTS, Attack, attack
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.show.notebook import Result
from mayfly.simulate.run import Progress
from mayfly.tables import Column, Table

if TYPE_CHECKING:
    from mayfly.show.table import Table as ShownTable

GAMING = Table(
    "gaming",
    (
        Column("case", "string", "", "Id of the case, such as `split-8`."),
        Column("part", "string", "", "Its attack."),
        Column("label", "string", "", "Head of its column."),
        Column("discipline", "string", "", "Label of the run."),
        Column("id", "string", "", "Id of the discipline."),
        Column("family", "string", "", "Family of the discipline."),
        Column("group", "string", "", "Group of flows."),
        Column("users", "int64", "", "As `groups` of the summary below."),
        Column("flows", "int64", "", "As `groups`."),
        Column("share", "float64", "", "As `groups`.", nullable=True),
        Column("fair_share", "float64", "", "As `groups`.", nullable=True),
        Column("ratio", "float64", "", "As `groups`.", nullable=True),
        Column("loss", "float64", "", "As `groups`.", nullable=True),
        Column("longest_stall_s", "float64", "s", "As `groups`.", nullable=True),
        Column("unfinished", "int64", "flows", "As `groups`."),
        *(
            Column(
                f"p{percent}",
                "float64",
                "",
                f"Slowdown within which {percent} % of the group's transfers stay; null where such a transfer never "
                "finished, or without transfers.",
                nullable=True,
            )
            for percent in (50, 95, 99)
        ),
        Column("with_transfers", "bool", "", "Whether the group has transfers that can end, and so a slowdown."),
        Column(
            "response_s",
            "float64",
            "s",
            "Of split transfers: mean time from the start of the connections to the end of the last one, complete "
            "transfers only.",
            nullable=True,
        ),
        Column("complete", "int64", "", "Of split transfers: how many finished.", nullable=True),
        Column("batches", "int64", "", "Of split transfers: how many there were.", nullable=True),
    ),
)


RUN = tuple((row, row.cases) for row in ATTACKS if row.cases is not None)
"""The attacks of the pack, and their cases."""


@dataclass(frozen=True)
class Case:
    """One workload of a part.

    Parameters
    ----------
    id : str
        Such as ``spaced-50``.
    part : Attack
        The attack that its part is named after.
    label : str
        Head of its column.
    scenario : Scenario
        What runs.
    """

    id: str
    part: Attack
    label: str
    scenario: Scenario


def cases(parts: Sequence[str] | None = None, **overrides: Any) -> list[Case]:
    """The workloads of the pack.

    Parameters
    ----------
    parts : sequence of str, optional
        Ids of `mayfly.scenario.attacks.PARTS`; all when not given.
    **overrides
        Top-level scenario fields, such as ``duration``, for all of them.

    Returns
    -------
    list of Case
        By part.

    Raises
    ------
    MayflyError
        An unknown part, or a value the scenario refuses.

    Examples
    --------
    >>> [case.label for case in cases(["overload"])]
    ['80 %', '110 %', '150 %']
    """
    for name in parts or ():
        if name not in PARTS:
            raise MayflyError(f"part = {name!r}: must be one of {', '.join(PARTS)}")
    found = []
    for row, own in RUN:
        part = attack(own.part) if isinstance(own.part, str) else row
        if parts and part.id not in parts:
            continue
        base = load_scenario(row.scenario)
        for strength in own.strengths:
            changed = row.workload({row.strength.field: row.strength.value(strength)})
            workload = base.workload.model_dump(mode="json", exclude_unset=True) | changed
            name, label = own.case.format(strength), own.label.format(strength)
            found.append(Case(name, part, label, base.override(name=name, workload=workload, **overrides)))
    return found


@dataclass(frozen=True, repr=False)
class Gaming(Result):
    """Result of :func:`gaming`.

    Parameters
    ----------
    table : polars.DataFrame
        One row per case, discipline and group: ``case``, ``part``, ``label`` (of the case), ``discipline``, ``id``,
        ``family``, the keys of ``groups`` in docs/tables.md with the slowdown as ``p50, p95, p99``, and of split
        transfers ``response_s`` (mean of the complete ones), ``complete`` and ``batches``.
    overview : list of dict
        One row per discipline, see :func:`overview`.
    summary : dict
        What ``summary.json`` holds.
    """

    table: pl.DataFrame
    overview: list[dict[str, Any]]
    summary: dict[str, Any]

    def tables(self) -> list["ShownTable"]:
        """The overview and one table per attack."""
        from mayfly.packs.gaming_report import leading_tables

        return leading_tables(self)

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Writes ``gaming.parquet``, ``summary.json`` and ``report.html``.

        Parameters
        ----------
        folder : path
            Created when absent. Files appear under their names only when all are complete.

        Returns
        -------
        dict of str
            Path of each file.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        from mayfly.packs.gaming_report import gaming_page

        return write_pack(folder, self.table, GAMING, self.summary, {"report": partial(gaming_page, self)})


def gaming(
    disciplines: str | Sequence[str] = "all",
    parts: Sequence[str] | None = None,
    *,
    duration: str | float | None = None,
    seed: int | None = None,
    replications: int | None = None,
    progress: Progress | None = None,
) -> Gaming:
    """Runs the attacks under each discipline.

    Parameters
    ----------
    disciplines : str or sequence of str
        Such as ``"fifo,efd"``; the whole registry when not given.
    parts : sequence of str, optional
        Ids of `mayfly.scenario.attacks.PARTS`: ``spaced``, ``split``, ``overload``; all when not given.
    duration : str or float, optional
        End of each run; the scenarios' own, about 300 s, when not given.
    seed, replications : int, optional
        As the fields of a scenario.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Gaming
        Table, overview and summary.

    Raises
    ------
    MayflyError
        Whatever is refused, in one line.

    Examples
    --------
    >>> result = gaming("fifo,las", ["split"], duration="30s")
    >>> [row["label"] for row in result.overview]
    ['fifo', 'las']
    """
    given = {"duration": duration, "seed": seed, "replications": replications}
    chosen = cases(parts, **{name: value for name, value in given.items() if value is not None})
    rows, documents = [], []
    for place, case in enumerate(chosen):
        part = progress_of(progress, place, len(chosen))
        found = compare(case.scenario, disciplines, progress=part, command="gaming")
        rows += _rows(case, found)
        documents.append(_document(case, found))
    table = pl.DataFrame(rows, schema=GAMING.schema)
    shown = overview(table)
    first = chosen[0].scenario
    summary = {
        "schema": SCHEMA,
        "command": "gaming",
        "seed": first.seed,
        "replications": first.replications,
        "overview": shown,
        "cases": documents,
    }
    return Gaming(table, shown, summary)


def _rows(case: Case, found: Comparison) -> list[dict[str, Any]]:
    rows = []
    for row in found.summary["disciplines"]:
        own = found.records.filter(discipline=row["label"])
        for group in row["groups"]:
            batches = case.part.source == "batch" and group["group"] == case.part.group
            # The summary of the pack has more of such a group than that of a comparison.
            known = cast("dict[str, Any]", group)
            split = dict.fromkeys(("response_s", "complete", "batches"))
            if batches:
                split = dict(zip(split, batch_response(own, case.part.group), strict=True))
                known |= split
            slowdown: Mapping[str, Any] = group["slowdown"] or {}
            rows.append(
                {
                    "case": case.id,
                    "part": case.part.id,
                    "label": case.label,
                    "discipline": row["label"],
                    "id": row["id"],
                    "family": row["family"],
                    **{name: value for name, value in known.items() if name != "slowdown"},
                    **{name: slowdown.get(name) for name in ("p50", "p95", "p99")},
                    "with_transfers": bool(slowdown),
                    **split,
                }
            )
    return rows


def _document(case: Case, found: Comparison) -> dict[str, Any]:
    rows = cast("list[dict[str, Any]]", found.summary["disciplines"])
    kept = ("id", "family", "label", "options", "utilisation", "drops", "marks", "slowdown", "groups")
    return {
        "case": case.id,
        "part": case.part.id,
        "label": case.label,
        "scenario": found.summary["scenario"],
        "duration_s": found.summary["duration_s"],
        "disciplines": [{name: row[name] for name in kept} for row in rows],
    }


def overview(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The worst of each attack, one row per discipline.

    Parameters
    ----------
    table : polars.DataFrame
        As in :class:`Gaming`.

    Returns
    -------
    list of dict
        ``id``, ``family``, ``label``; the attacker's goodput over its fair share, for the ``key`` of each attack that
        has one: ``spaced`` (largest over the rates, at ``spaced_at``), ``renewed`` (the same with new ports, at
        ``renewed_at``) and ``split`` (largest over the numbers of connections, at ``split_at``); ``split_gain`` (that
        over the one with a single connection);
        ``short_p50, short_p95, short_p99``, slowdown of the short transfers in the case without new ports where it is
        worst, at ``short_at``; ``long``, goodput of the long transfers over their fair share in the mild overload;
        ``stall_s``, their longest time without progress there, and ``stall_attacked_s`` in the other cases without new
        ports. None where a part did not run.
    """
    rows = []
    for (label,), own in table.partition_by("discipline", as_dict=True, maintain_order=True).items():
        first = own.row(0, named=True)
        attacker = own.filter(group="attacker")
        worst_cases = {
            cases.key: _largest(attacker.filter(pl.col("case").is_in(row.case_ids))) for row, cases in RUN if cases.key
        }
        split = worst_cases["split"]
        single = _value(attacker.filter(case="split-1"), "ratio")
        victims = own.filter(pl.col("case").is_in(_RESISTED))
        short = victims.filter(group="short", with_transfers=True)
        worst = short.sort("p99", "p95", "p50", descending=True, nulls_last=False).head(1)
        flooded = own.filter(case="overload-110", group="long")
        rows.append(
            {
                "id": first["id"],
                "family": first["family"],
                "label": label,
                **{
                    key + end: case.get(column)
                    for key, case in worst_cases.items()
                    for end, column in (("", "ratio"), ("_at", "label"))
                },
                "split_gain": split["ratio"] / single if split and single else None,
                **{f"short_{name}": _value(worst, name) for name in ("p50", "p95", "p99")},
                "short_at": _value(worst, "case"),
                "long": _value(flooded, "ratio"),
                "stall_s": _value(flooded, "longest_stall_s"),
                "stall_attacked_s": victims.filter(group="long")["longest_stall_s"].max(),
            }
        )
    return rows


_RESISTED = [case for row, _ in RUN if row.joins and not row.renews for case in row.case_ids]
"""Cases whose victims are compared: nothing here resists new ports, with them every victim would look the same."""


def _largest(rows: pl.DataFrame) -> dict[str, Any]:
    known = rows.filter(pl.col("ratio").is_not_null()).sort("ratio", descending=True, maintain_order=True)
    return known.row(0, named=True) if known.height else {}


def _value(rows: pl.DataFrame, column: str) -> Any:
    return rows[column][0] if rows.height else None
