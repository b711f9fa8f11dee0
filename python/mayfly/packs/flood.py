"""A flood of UDP against TCP: what each discipline leaves to those who respond (Zhao 2004, II.E and IV).

Cases: the link without a flood, 22 CBR flows of 1 Mb/s beside long TCP flows, and 14 beside long and short ones, with
CBR sources that start in step and staggered ones: drop-tail depends on it (docs/validation.md, the phase effect).
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.arrays import number_or_none
from mayfly.comparison.comparison import SCHEMA, Comparison, compare
from mayfly.metrics.intervals import student_ci95
from mayfly.packs.files import progress_of, write_pack
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.show.notebook import Result
from mayfly.simulate.run import Progress
from mayfly.tables import Column, Table

if TYPE_CHECKING:
    from rich.table import Table as ShownTable

PHASES = {"in step": 0.0, "staggered": 2.0}
"""Within how many seconds the CBR sources start."""

LONG, MIXED = 22, 14
"""CBR flows beside long flows only, and with short ones (Zhao 2004, Tables III and VII)."""

SHORT = {"sources": 1040, "size": 10, "period": "10s", "spread": "10s", "users": 50, "group": "short"}
"""30 % of the link: 1300 sources at 35 Mb/s in Table VII."""

_WARM_UP = 2
"""Part of the run that does not count, as in the scenario: one of so many. An estimator needs a minute or two."""

FLOOD = Table(
    "flood",
    (
        Column(
            "case",
            "string",
            "",
            "Id of the case: `calm`, `long-in-step`, `long-staggered`, `mixed-in-step` or `mixed-staggered`.",
        ),
        Column("label", "string", "", "Its title."),
        Column("discipline", "string", "", "Label of the run."),
        Column("id", "string", "", "Id of the discipline."),
        Column("group", "string", "", "`long`, `short` or `flood`."),
        Column("share", "float64", "", "As `classes` of the summary.", nullable=True),
        Column("throughput_mbps", "float64", "10^6 bit/s", "As `classes` of the summary.", nullable=True),
        Column("drop_rate", "float64", "", "As `classes` of the summary.", nullable=True),
        Column("delay_s", "float64", "s", "Mean time in the queue of the packets sent.", nullable=True),
        Column(
            "response_s",
            "float64",
            "s",
            "Mean response time of the short flows that began after the warm-up and ended.",
            nullable=True,
        ),
        Column(
            "response_ci95_s",
            "float64",
            "s",
            "Half its 95 % interval, Student's t over the replications; null for one.",
            nullable=True,
        ),
        Column(
            "unfinished", "int64", "flows", "Short flows that began after the warm-up and did not end.", nullable=True
        ),
    ),
)


@dataclass(frozen=True)
class Case:
    """One workload.

    Parameters
    ----------
    id, label : str
        Name, and head of its table.
    scenario : Scenario
        What runs.
    """

    id: str
    label: str
    scenario: Scenario


def _of(flows: int, spread_s: float, mixed: bool) -> Callable[[dict[str, Any]], None]:
    def change(workload: dict[str, Any]) -> None:
        row = workload["cbr"][0]
        workload["cbr"] = [row | {"flows": flows, "users": flows, "spread": spread_s}] if flows else []
        workload["short_term"] = [SHORT] if mixed else []

    return change


def cases(**overrides: Any) -> list[Case]:
    """The workloads of the pack.

    Parameters
    ----------
    **overrides
        Top-level scenario fields, such as ``duration``, for all of them.

    Returns
    -------
    list of Case
        In order of the tables.

    Raises
    ------
    MayflyError
        A value the scenario refuses.

    Examples
    --------
    >>> [case.id for case in cases()]
    ['calm', 'long-in-step', 'long-staggered', 'mixed-in-step', 'mixed-staggered']
    """
    base = load_scenario("flood")
    variations = [("calm", "No flood: long and short TCP flows", _of(0, 0.0, True))]
    for name, flows, mixed in (("long", LONG, False), ("mixed", MIXED, True)):
        beside = "long and short TCP flows" if mixed else "long TCP flows"
        variations += [
            (f"{name}-{phase.replace(' ', '-')}", f"{flows} CBR flows {phase}, {beside}", _of(flows, spread_s, mixed))
            for phase, spread_s in PHASES.items()
        ]
    found = []
    for identity, label, change in variations:
        workload = base.workload.model_dump(mode="json", exclude_unset=True)
        change(workload)
        run = base.override(name=identity, workload=workload, warm_up=0.0, **overrides)
        found.append(Case(identity, label, run.override(warm_up=run.duration / _WARM_UP)))
    return found


@dataclass(frozen=True, repr=False)
class Flood(Result):
    """Result of :func:`flood`.

    Parameters
    ----------
    table : polars.DataFrame
        One row per case, discipline and group, after the warm-up: ``share`` of the packets sent, ``throughput_mbps``,
        ``drop_rate``, ``delay_s`` (mean time in the queue), and of the short flows ``response_s`` (mean of those that
        ended), ``response_ci95_s`` (half its 95 % interval over the replications) and ``unfinished``.
    labels : dict of str
        Head of each case.
    summary : dict
        What ``summary.json`` holds.
    """

    table: pl.DataFrame
    labels: dict[str, str]
    summary: dict[str, Any]

    def tables(self) -> list["ShownTable"]:
        """One rich table per case."""
        from rich import box
        from rich.table import Table as ShownTable

        from mayfly.packs.flood_report import HEADS, cells_of

        found = []
        for (case,), own in self.table.partition_by("case", as_dict=True, maintain_order=True).items():
            table = ShownTable(title=self.labels[case], box=box.SIMPLE_HEAD, title_justify="left")
            for head in ("", *HEADS):
                table.add_column(head, justify="left" if not head else "right")
            for (label,), rows in own.partition_by("discipline", as_dict=True, maintain_order=True).items():
                of = {row["group"]: row for row in rows.to_dicts()}
                table.add_row(label, *cells_of(of))
            found.append(table)
        return found

    def markdown(self) -> str:
        """The tables as Markdown."""
        from mayfly.packs.flood_report import HEADS, cells_of

        parts = []
        for (case,), own in self.table.partition_by("case", as_dict=True, maintain_order=True).items():
            lines = ["| | " + " | ".join(HEADS) + " |", "|---|" + "---:|" * len(HEADS)]
            for (label,), rows in own.partition_by("discipline", as_dict=True, maintain_order=True).items():
                cells = cells_of({row["group"]: row for row in rows.to_dicts()})
                lines.append(f"| `{label}` | " + " | ".join(cells) + " |")
            parts.append(f"**{self.labels[case]}**\n\n" + "\n".join(lines))
        return "\n\n".join(parts)

    def write(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Writes ``flood.parquet``, ``summary.json`` and ``report.html``.

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
        from mayfly.packs.flood_report import flood_page

        return write_pack(folder, self.table, FLOOD, self.summary, {"report": partial(flood_page, self)})


def flood(
    disciplines: str | Sequence[str] | None = None,
    *,
    duration: str | float | None = None,
    seed: int | None = None,
    replications: int | None = None,
    progress: Progress | None = None,
) -> Flood:
    """Runs the cases under each discipline.

    Parameters
    ----------
    disciplines : str or sequence of str, optional
        Such as ``"fifo,efd"``; those of the scenario `flood` when not given.
    duration : str or float, optional
        End of each run; that of the scenario when not given. The first half does not count.
    seed, replications : int, optional
        As the fields of a scenario.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Flood
        Table and summary.

    Raises
    ------
    MayflyError
        Whatever is refused, in one line.

    Examples
    --------
    >>> found = flood("fifo,fq_codel", duration="25s")
    >>> found.table["case"].n_unique(), found.table["discipline"].unique().sort().to_list()
    (5, ['fifo', 'fq_codel'])
    """
    given = {"duration": duration, "seed": seed, "replications": replications}
    chosen = cases(**{name: value for name, value in given.items() if value is not None})
    rows, documents = [], []
    for place, case in enumerate(chosen):
        part = progress_of(progress, place, len(chosen))
        run = disciplines or case.scenario.disciplines
        found = compare(case.scenario, run, progress=part, command="flood")
        own = _rows(case, found)
        rows += own
        documents.append({"case": case.id, "label": case.label, "scenario": found.summary["scenario"], "groups": own})
    first = chosen[0].scenario
    summary = {
        "schema": SCHEMA,
        "command": "flood",
        "seed": first.seed,
        "replications": first.replications,
        "duration_s": first.duration,
        "warm_up_s": first.warm_up,
        "cases": documents,
    }
    return Flood(pl.DataFrame(rows, schema=FLOOD.schema), {case.id: case.label for case in chosen}, summary)


def _rows(case: Case, found: Comparison) -> list[dict[str, Any]]:
    rows = []
    for row in found.summary["disciplines"]:
        own = found.records.filter(pl.col("discipline") == row["label"], pl.col("start_s") >= case.scenario.warm_up)
        for group in row["classes"]:
            short = own.filter(pl.col("group") == group["group"]) if group["group"] == SHORT["group"] else None
            rows.append(
                {
                    "case": case.id,
                    "label": case.label,
                    "discipline": row["label"],
                    "id": row["id"],
                    "group": group["group"],
                    "share": group["share"],
                    "throughput_mbps": group["throughput_mbps"],
                    "drop_rate": group["drop_rate"],
                    "delay_s": group["queueing_delay"]["mean_s"],
                    **_response(short),
                }
            )
    return rows


def _response(short: pl.DataFrame | None) -> dict[str, float | int | None]:
    """Response times of short flows: mean, half its interval over the replications, and how many have not ended."""
    if short is None:
        return dict.fromkeys(("response_s", "response_ci95_s", "unfinished"))
    means = short.group_by("replication").agg(pl.col("response_time_s").mean())["response_time_s"].drop_nulls()
    bounds = student_ci95(means.to_numpy()) if len(means) > 1 else None
    return {
        "response_s": number_or_none(short["response_time_s"].mean()),
        "response_ci95_s": None if bounds is None else (bounds[1] - bounds[0]) / 2,
        "unfinished": short["finish_s"].null_count(),
    }
