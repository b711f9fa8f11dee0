"""Disciplines side by side: tables, summary and files."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, cast

import polars as pl

from mayfly.comparison.recommendation import recommendation, resampled_values
from mayfly.comparison.run_set import Measured, Workload
from mayfly.comparison.sections import SECTIONS
from mayfly.comparison.sections.links import links_of
from mayfly.discipline_registry import Discipline, runs_on
from mayfly.errors import MayflyError
from mayfly.metrics import slowdown_percentiles, summarise
from mayfly.metrics.users import Rule
from mayfly.scenario.presets import kernel_of
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.show.notebook import Result
from mayfly.simulate.recording import Recording
from mayfly.simulate.run import Progress, RunResult, largest, named, run_many
from mayfly.simulate.tables import FILES
from mayfly.summary_types import Accounted
from mayfly.text.folder import filled, write_table
from mayfly.workload.lists import flow_list, in_text
from mayfly.workload.mix import offered

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow, Summary

SCHEMA = 1
"""Version of summary.json and of the Parquet files."""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Result of :func:`compare`, :func:`mayfly.whatif` or one :func:`mayfly.run`.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of all disciplines and replications.
    samples : polars.DataFrame
        Time series of all disciplines and replications.
    summary : dict
        What ``summary.json`` holds.
    drops : polars.DataFrame
        Drop traces; empty unless asked for.
    packets, timeouts : polars.DataFrame
        Traces of the flows that ``scenario.trace`` names; empty when it names none.
    trains : polars.DataFrame
        Trains of scripted flows; empty without any.
    subflows : polars.DataFrame
        Sub-flows in the forward queue; empty unless ``scenario.subflows`` asks for them.
    frames, segments : polars.DataFrame
        Speech and videos of calls and games, and segments of films; empty without any.
    """

    records: pl.DataFrame
    samples: pl.DataFrame
    summary: "Summary"
    drops: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    packets: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    timeouts: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    trains: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    subflows: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    frames: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    segments: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)

    def _in_short(self) -> str:
        from mayfly.comparison.notebook import in_short

        return in_short(self.summary, self.records)

    def _shown(self) -> list[Any]:
        from mayfly.comparison.notebook import shown

        return shown(self.summary)

    def with_models(self, path: bool = False) -> "Comparison":
        """The same with what queueing models expect of each discipline that has one.

        Parameters
        ----------
        path : bool
            Add to the model what each flow takes alone on its path: handshake, round trips, slow start and tear-down.

        Returns
        -------
        Comparison
            The summary has ``models``, by label, and ``model_queue`` (docs/tables.md).

        Examples
        --------
        >>> flows = pl.DataFrame({"start_s": [0.0, 5.0], "size_packets": [10, 20]})
        >>> found = compare("wired", "las,red", flows=flows).with_models().summary
        >>> list(found["models"]), found["model_queue"]["notes"]
        (['las'], ['no model: red'])
        """
        from mayfly.models.queue.disciplines import models_of

        return replace(self, summary=cast("Summary", self.summary | models_of(self.summary, self.records, path)))

    def write(self, folder: str | os.PathLike[str], report: bool = True) -> dict[str, str]:
        """Writes ``flows.parquet``, ``samples.parquet``, ``summary.json`` and ``report.html``.

        Parameters
        ----------
        folder : path
            Created when absent. Files appear under their names only when all are complete.
        report : bool
            Whether to write the HTML report.

        Returns
        -------
        dict of str
            Path of each file.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        import json

        names = {"flows": "flows.parquet", "samples": "samples.parquet"}
        names |= {"drops": "drops.parquet"} if self.drops.width else {}
        media = {"trains": self.trains, "frames": self.frames, "segments": self.segments}
        names |= {key: f"{key}.parquet" for key, table in media.items() if table.width}
        if self.summary["scenario"]["trace"]:
            names |= {"packets": "packets.parquet", "timeouts": "timeouts.parquet"}
        names |= {"subflows": "subflows.parquet"} if self.summary["scenario"]["subflows"] else {}
        names |= {"report": "report.html"} if report else {}
        names |= {"summary": "summary.json"}
        files = {key: str(Path(folder) / name) for key, name in names.items()}
        # The native module for tables writes while Python draws.
        with filled(folder, names.values()) as partial, ThreadPoolExecutor(os.cpu_count()) as pool:
            tables = {"flows": self.records, "samples": self.samples, "drops": self.drops}
            tables |= {"packets": self.packets, "timeouts": self.timeouts} | media
            tables |= {"subflows": self.subflows}

            def written(key: str) -> None:
                # Higher levels take twice the time and save one part in a hundred.
                write_table(
                    in_text(tables[key]), partial / names[key], compression_level=1, metadata=FILES[key].metadata()
                )

            writing = [pool.submit(written, key) for key in tables.keys() & names.keys()]
            if report:
                from mayfly.comparison.page import write_report

                traces = (self.packets, self.timeouts)
                write_report(partial / names["report"], self.summary, self.records, self.samples, *traces)
            text = json.dumps(self.summary | {"files": files}, indent=1, allow_nan=False)
            (partial / names["summary"]).write_text(text + "\n", encoding="utf-8")
            for table in writing:
                table.result()
        return files


class Engine(Protocol):
    """What runs a scenario in place of the simulator."""

    def __call__(
        self,
        scenario: Scenario,
        chosen: Sequence[Discipline],
        flows: pl.DataFrame | None,
        progress: Progress | None,
        command: str,
        span_s: float | None = None,
    ) -> Comparison:
        """Runs disciplines on flows, the scenario's where none are given; the rest is as of :func:`gather`."""

    def able(self, chosen: Sequence[Discipline]) -> list[Discipline]:
        """Those of the disciplines that it has."""


def compare(
    scenario: Scenario | str | os.PathLike[str] = "wired",
    disciplines: str | Sequence[str] | None = None,
    flows: pl.DataFrame | str | os.PathLike[str] | None = None,
    *,
    progress: Progress | None = None,
    command: str = "compare",
    engine: Engine | None = None,
) -> Comparison:
    """Runs the same workload under each discipline.

    Parameters
    ----------
    scenario : Scenario or str or path
        A scenario, its file, or the name of a ready one.
    disciplines : str or sequence of str, optional
        Such as ``"fifo,efd"``; the scenario's when not given.
    flows : polars.DataFrame or path, optional
        Flow list in place of the scenario's workload.
    progress : callable, optional
        Called with the fraction done.
    command : str
        Noted in the summary.
    engine : callable, optional
        What runs it in place of the simulator, such as :func:`mayfly.engines.engine` gives by name.

    Returns
    -------
    Comparison
        Tables and summary.

    Raises
    ------
    MayflyError
        Whatever is refused, in one line.

    Examples
    --------
    >>> result = compare("wired", "fifo,efd", flows=pl.DataFrame({"start_s": [0.0], "size_packets": [10]}))
    >>> result.records["response_time_s"].len()
    2
    """
    notes, account = list[str](), list[Accounted]()
    scenario, flows = _loaded(scenario, flows, notes, account)
    chosen = named(disciplines if disciplines is not None else scenario.disciplines)
    if engine is not None:
        result = engine(scenario, chosen, flows, progress, command)
    else:
        rows = Rows(scenario)
        result = gather(scenario, run_many(scenario, chosen, flows, progress, ended=rows.add), command, rows=rows)
    _passed_on(result, notes, account)
    return result


def _passed_on(result: Comparison, notes: list[str], account: list[Accounted]) -> None:
    """What the reader of a flow list said of it, into the summary."""
    if notes:
        result.summary["notes"] = [*result.summary.get("notes", ()), *notes]
    if account:
        result.summary["account"] = account


def _loaded(
    scenario: Scenario | str | os.PathLike[str],
    flows: pl.DataFrame | str | os.PathLike[str] | None,
    notes: list[str],
    account: list[Accounted],
) -> tuple[Scenario, pl.DataFrame | None]:
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    if isinstance(flows, pl.DataFrame):
        flows = flow_list(flows, mss=scenario.tcp.mss)
    elif flows is not None:
        from mayfly.workload.formats.registry import read_flows_any

        flows = read_flows_any(flows, mss=scenario.tcp.mss, notes=notes, until_s=scenario.duration, accounts=account)
    return scenario, flows


def run(
    scenario: Scenario | str | os.PathLike[str] = "wired",
    discipline: str = "fifo",
    flows: pl.DataFrame | str | os.PathLike[str] | None = None,
    *,
    progress: Progress | None = None,
    trace_drops: bool = False,
    recording: Recording | None = None,
) -> Comparison:
    """Runs one discipline once.

    Parameters
    ----------
    scenario : Scenario or str or path
        A scenario, its file, or the name of a ready one.
    discipline : str
        Such as ``"efd(threshold=40000)"``.
    flows : polars.DataFrame or path, optional
        Flow list in place of the scenario's workload.
    progress : callable, optional
        Called with the fraction done.
    trace_drops : bool
        Keep a record of each drop.
    recording : Recording, optional
        A packet capture to write of the run.

    Returns
    -------
    Comparison
        With one discipline.

    Raises
    ------
    MayflyError
        Whatever is refused, in one line.
    """
    notes, account = list[str](), list[Accounted]()
    scenario, flows = _loaded(scenario, flows, notes, account)
    chosen = named([discipline])
    if len(chosen) > 1:
        raise MayflyError(f"discipline = '{discipline}': must be one; `mayfly compare` runs several")
    runs = run_many(scenario, chosen, flows, progress, trace_drops=trace_drops, recording=recording)
    result = gather(scenario, runs, "simulate")
    _passed_on(result, notes, account)
    return result


def gather(
    scenario: Scenario,
    runs: Iterable[RunResult],
    command: str,
    extra: "Mapping[str, Any] | None" = None,
    span_s: float | None = None,
    rows: "Rows | None" = None,
) -> Comparison:
    """Puts runs together into one comparison.

    Parameters
    ----------
    scenario : Scenario
        What ran.
    runs : iterable of RunResult
        By discipline, then replication.
    command : str
        Noted in the summary.
    extra : dict, optional
        Further keys of the summary.
    span_s : float, optional
        Time over which the workload is offered, s; when not given the duration, or the flows' own span where the run
        stops with its last flow.
    rows : Rows, optional
        Rows of the summary that are made already.

    Returns
    -------
    Comparison
        Tables and summary.
    """
    runs = list(runs)
    work = Workload(scenario, runs)
    measured = (rows or Rows(scenario)).all(work, runs)
    first = runs[0].records
    # A run that stops with its last flow has no duration of its own: the flows' span counts.
    if span_s is None and not scenario.stop_when_idle:
        span_s = scenario.duration
    load = offered(first, mss=scenario.tcp.mss, header_bytes=scenario.tcp.headers_bytes, span_s=span_s)
    summary: Summary = {
        "schema": SCHEMA,
        "command": command,
        "scenario": scenario.model_dump(mode="json"),
        "seed": scenario.seed,
        "replications": scenario.replications,
        "duration_s": scenario.duration,
        "workload": {
            "flows": first.height,
            "bytes": int(first["size_bytes"].sum()),
            "offered_mbps": max(load["down"]["mbps"] or 0.0, load["up"]["mbps"] or 0.0),
            "offered_down_mbps": load["down"]["mbps"],
            "offered_up_mbps": load["up"]["mbps"],
            "largest_flows": first["flow_id"].gather(largest(first)).to_list(),
        },
        "links": links_of(scenario, load, measured[0]["links"]),
        "transport": {"preset": scenario.tcp.preset, "kernel": kernel_of(vars(scenario.tcp)), "other": None},
        "disciplines": measured,
        **cast("Summary", extra or {}),
        "recommendation": None,
    }
    summary["recommendation"] = recommendation(summary)
    if beyond := sum(run.counters["beyond_trace"] for run in runs):
        limit = f"the trace is cut at trace_limit = {scenario.trace_limit} packets in a run: {beyond} more were sent"
        summary["notes"] = [*summary.get("notes", ()), limit]
    if beyond := sum(run.counters["beyond_subflows"] for run in runs):
        limit = f"sub-flows are cut at trace_limit = {scenario.trace_limit} in a run: {beyond} packets are in none"
        summary["notes"] = [*summary.get("notes", ()), limit]
    return Comparison(
        pl.concat([run.records for run in runs]),
        pl.concat([run.samples for run in runs]),
        summary,
        *(
            _together([getattr(run, name) for run in runs])
            for name in ("drops", "packets", "timeouts", "trains", "subflows", "frames", "segments")
        ),
    )


class Rows:
    """Rows of ``disciplines`` in the summary, made while other disciplines still run.

    Parameters
    ----------
    scenario : Scenario
        What runs.
    make : callable, optional
        From what all have in common and the runs of a discipline to its row; a row of the summary when not given.
    rule : Rule, optional
        What is decided before the runs on how users are measured.
    """

    def __init__(
        self,
        scenario: Scenario,
        make: "Callable[[Workload, list[RunResult]], DisciplineRow] | None" = None,
        rule: Rule | None = None,
    ):
        self._scenario = scenario
        self._rule = rule
        self._make = make or _row
        self._work: Workload | None = None
        self._made: dict[str, DisciplineRow] = {}
        self._lock = Lock()

    def add(self, own: list[RunResult]) -> None:
        """Makes the row of a discipline of all its runs; from any thread.

        Where runs stop with their last flow, the longest decides when all end: :meth:`all` makes all rows then.
        """
        if self._scenario.stop_when_idle:
            return
        with self._lock:
            if self._work is None:
                self._work = Workload(self._scenario, own, self._rule)
        self._made[own[0].discipline.label] = self._make(self._work, own)

    def all(self, work: Workload, runs: Sequence[RunResult]) -> "list[DisciplineRow]":
        """The rows of all disciplines of ``runs``, in their order; ``work`` is what they have in common."""
        of_each: dict[str, list[RunResult]] = {}
        for run in runs:
            of_each.setdefault(run.discipline.label, []).append(run)
        work.rule = self._rule
        made = self._made if self._work is not None and self._work.span == work.span else {}
        missing = [label for label in of_each if label not in made]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = dict(zip(missing, pool.map(lambda label: self._make(work, of_each[label]), missing), strict=True))
        rows = {label: made.get(label) or found[label] for label in of_each}
        # Disciplines are compared over the same kind of time: all of it where the link is never busy under one of them.
        loaded = [label for label, row in rows.items() if while_busy(row)]
        if loaded and any(while_busy(row) is False for row in rows.values()):
            above = self._rule.above if self._rule else None
            work.rule = Rule(above, while_busy=False)
            rows |= {label: self._make(work, of_each[label]) for label in loaded}
        return list(rows.values())


def while_busy(row: "DisciplineRow") -> bool | None:
    """Whether the ping of a row is that of the busy seconds of its link; None without a ping.

    Examples
    --------
    >>> while_busy({"users": {"ping": {"while_busy": True}}}), while_busy({"users": None})
    (True, None)
    """
    users = row.get("users")
    ping = users.get("ping") if users else None
    return None if ping is None else bool(ping.get("while_busy"))


def _row(work: Workload, own: list[RunResult]) -> "DisciplineRow":
    """A row of the summary with slowdown, and with the figures of each replication where there are several."""
    of = Measured(work, own, pl.concat([run.records for run in own]))
    found = row_of(of)
    found["slowdown"] = slowdown_percentiles(of.records, work.scenario.duration)
    if len(own) > 1:
        alone = [run.records.with_columns(replication=pl.lit(0, pl.Int32)) for run in own]
        found["replicated"] = resampled_values(
            [row_of(Measured(work, [run], records)) for run, records in zip(own, alone, strict=True)]
        )
    return found


def row_of(of: Measured) -> "DisciplineRow":
    """The row of ``disciplines`` in the summary.

    Parameters
    ----------
    of : Measured
        Runs of one discipline.

    Returns
    -------
    dict
        As docs/tables.md has it, without slowdown.
    """
    ran = of.runs[0].discipline
    row = summarise(of.records, [run.counters for run in of.runs], ran.label)
    for section in SECTIONS:
        if section.measure:
            row |= section.measure(of)
    # Disciplines of an engine other than the simulator bear its name in their label.
    row |= {"id": ran.id, "family": ran.family, "label": ran.label, "options": ran.options, "runs_on": runs_on(ran.id)}
    return cast("DisciplineRow", row)


def _together(tables: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    """The tables of runs as one; the kernel keeps no traces, and those are without columns."""
    kept = [table for table in tables if table is not None and table.width]
    return pl.concat(kept) if kept else pl.DataFrame()
