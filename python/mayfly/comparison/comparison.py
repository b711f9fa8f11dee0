"""Disciplines side by side: tables, summary and files."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.network.interfaces import over_replications
from mayfly.simulate.network.topology import watched_rate_bps
from mayfly.simulate.queue_delay import propagation_rtt_s
from mayfly.simulate.recording import Recording
from mayfly.simulate.run import Progress, RunResult, largest, named, run_many
from mayfly.text.folder import filled, write_table

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = 1
"""Version of summary.json and of the Parquet files."""


@dataclass(frozen=True)
class Comparison:
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
    """

    records: pl.DataFrame
    samples: pl.DataFrame
    summary: dict
    drops: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    packets: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    timeouts: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    trains: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    subflows: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)

    def table(self) -> "Table":
        """The comparison as a rich table, in the form of Chen 2012, Table 4.2."""
        from mayfly.show.terminal import comparison_table

        return comparison_table(self.summary)

    def groups_table(self) -> "Table | None":
        """What groups of flows got of what is fair, as a rich table; None when no flow has a group."""
        if not any("groups" in row for row in self.summary["disciplines"]):
            return None
        from mayfly.packs.gaming_tables import groups_table

        return groups_table(self.summary["disciplines"])

    def group_transfers_table(self) -> "Table | None":
        """Transfers of each group in each direction, as a rich table; None where none of them go up, and in a cell."""
        if not any("group_transfers" in row for row in self.summary["disciplines"]):
            return None
        from mayfly.comparison.tables.group_transfers import transfers_table

        return transfers_table(self.summary["disciplines"])

    def interfaces_table(self) -> "Table | None":
        """What each interface did, as a rich table; None for a dumbbell."""
        if not any("interfaces" in row for row in self.summary["disciplines"]):
            return None
        from mayfly.comparison.tables.interfaces import interfaces_table

        return interfaces_table(self.summary["disciplines"])

    def cell_table(self) -> "Table | None":
        """Uploads and downloads of a wireless cell, as a rich table; None without a cell."""
        if not any("wlan" in row for row in self.summary["disciplines"]):
            return None
        from mayfly.comparison.tables.cell import cell_table

        return cell_table(self.summary["disciplines"])

    def cell_groups_table(self) -> "Table | None":
        """Transfers of each group in a wireless cell, as a rich table; None without a cell or groups."""
        if not any("wlan" in row for row in self.summary["disciplines"]):
            return None
        from mayfly.comparison.tables.cell import cell_groups_table

        return cell_groups_table(self.summary["disciplines"])

    def engines_table(self) -> "Table | None":
        """The kernel beside the simulator, as a rich table; None unless both ran."""
        if not self.summary.get("engines"):
            return None
        from mayfly.comparison.tables.engines import engines_table

        return engines_table(self.summary["engines"])

    def pages_table(self) -> "Table | None":
        """Page load times, as a rich table; None without pages."""
        if not any("pages" in row for row in self.summary["disciplines"]):
            return None
        from mayfly.comparison.tables.pages import pages_table

        return pages_table(self.summary["disciplines"])

    def trains_table(self) -> "Table | None":
        """Times of trains or recorded flows, as a rich table; None unless a capture was replayed so."""
        if not any("trains" in row or "recorded" in row for row in self.summary["disciplines"]):
            return None
        from mayfly.comparison.tables.trains import trains_table

        return trains_table(self.summary["disciplines"])

    def models_table(self) -> "Table | None":
        """What models expect beside what was simulated, as a rich table; None without models."""
        if not self.summary.get("models"):
            return None
        from mayfly.comparison.tables.models import models_table

        return models_table(self.summary)

    def model_notes(self) -> list[str]:
        """What the models are given and what they leave out, in words; none without models."""
        if "model_queue" not in self.summary:
            return []
        from mayfly.comparison.tables.models import model_notes

        return model_notes(self.summary)

    def write(self, folder: str | os.PathLike, report: bool = True) -> dict[str, str]:
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
        names |= {"trains": "trains.parquet"} if self.trains.width else {}
        if self.summary["scenario"]["trace"]:
            names |= {"packets": "packets.parquet", "timeouts": "timeouts.parquet"}
        names |= {"subflows": "subflows.parquet"} if self.summary["scenario"]["subflows"] else {}
        names |= {"report": "report.html"} if report else {}
        names |= {"summary": "summary.json"}
        files = {key: str(Path(folder) / name) for key, name in names.items()}
        with filled(folder, names.values()) as partial:
            tables = {"flows": self.records, "samples": self.samples, "drops": self.drops}
            tables |= {"packets": self.packets, "timeouts": self.timeouts, "trains": self.trains}
            tables |= {"subflows": self.subflows}
            metadata = {"mayfly.schema": str(SCHEMA)}
            for key in tables.keys() & names.keys():
                # Higher levels take twice the time and save one part in a hundred.
                write_table(tables[key], partial / names[key], compression_level=1, metadata=metadata)
            if report:
                from mayfly.comparison.page import write_report

                traces = (self.packets, self.timeouts)
                write_report(partial / names["report"], self.summary, self.records, self.samples, *traces)
            text = json.dumps(self.summary | {"files": files}, indent=1, allow_nan=False)
            (partial / names["summary"]).write_text(text + "\n", encoding="utf-8")
        return files


def compare(
    scenario: Scenario | str | os.PathLike = "wired",
    disciplines: str | Sequence[str] | None = None,
    flows: pl.DataFrame | str | os.PathLike | None = None,
    *,
    progress: Progress | None = None,
    command: str = "compare",
    engine: str = "simulator",
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
    engine : str
        ``simulator``; ``linux``, TCP and disciplines of a kernel in virtual time (docs/kernel/engine.md); or ``both``,
        side by side.

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
    scenario, flows = _loaded(scenario, flows)
    chosen = named(disciplines if disciplines is not None else scenario.disciplines)
    if engine != "simulator":
        from mayfly.engines.beside import engines_compared

        return engines_compared(scenario, chosen, flows, progress, command, engine)
    return gather(scenario, run_many(scenario, chosen, flows, progress), command)


def _loaded(
    scenario: Scenario | str | os.PathLike, flows: pl.DataFrame | str | os.PathLike | None
) -> tuple[Scenario, pl.DataFrame | None]:
    from mayfly.scenario.scenario import load_scenario
    from mayfly.workload.lists import flow_list

    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    if isinstance(flows, pl.DataFrame):
        flows = flow_list(flows, mss=scenario.tcp.mss)
    elif flows is not None:
        from mayfly.workload.formats.registry import read_flows_any

        flows = read_flows_any(flows, mss=scenario.tcp.mss)
    return scenario, flows


def run(
    scenario: Scenario | str | os.PathLike = "wired",
    discipline: str = "fifo",
    flows: pl.DataFrame | str | os.PathLike | None = None,
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
    scenario, flows = _loaded(scenario, flows)
    chosen = named([discipline])
    if len(chosen) > 1:
        raise MayflyError(f"discipline = '{discipline}': must be one; `mayfly compare` runs several")
    runs = run_many(scenario, chosen, flows, progress, trace_drops=trace_drops, recording=recording)
    return gather(scenario, runs, "simulate")


def gather(
    scenario: Scenario, runs: Iterable[RunResult], command: str, extra: dict[str, Any] | None = None
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

    Returns
    -------
    Comparison
        Tables and summary.
    """
    from mayfly.metrics import cell_row, class_rows, fair_groups, group_rows, slowdown_percentiles, summarise
    from mayfly.metrics.congestion import congestion_row, with_delays
    from mayfly.metrics.estimates import estimate_row
    from mayfly.metrics.groups import group_classes, has_groups
    from mayfly.metrics.pages import page_rows
    from mayfly.workload.mix import offered
    from mayfly.workload.stages import is_closed_loop

    runs = list(runs)
    link = {
        "rate_bps": watched_rate_bps(scenario),
        "end_s": scenario.duration,
        "mss": scenario.tcp.mss,
        "header_bytes": scenario.tcp.headers_bytes,
    }
    grouped, fair = has_groups(runs[0].records), None
    closed = is_closed_loop(runs[0].records)
    span = {
        "end_s": max(run.counters["end_ns"] for run in runs) * 1e-9,
        "begin_s": min(run.counters["begin_ns"] for run in runs) * 1e-9,
        "propagation_rtt_s": propagation_rtt_s(scenario.network) if scenario.network.topology == "dumbbell" else None,
    }
    rows = []
    for label in dict.fromkeys(run.discipline.label for run in runs):
        own = [run for run in runs if run.discipline.label == label]
        records = pl.concat([run.records for run in own])
        row = summarise(records, [run.counters for run in own], label)
        row["slowdown"] = slowdown_percentiles(records, scenario.duration)
        row |= congestion_row(records, [run.counters["queueing_delay"] for run in own], **span)
        if grouped:
            spans = [(run.counters["end_ns"] - run.counters["begin_ns"]) * 1e-9 for run in own]
            row["classes"] = class_rows([run.classes for run in own], spans, link["rate_bps"])
            row["classes"] = with_delays(row["classes"], [run.classes for run in own])
            ways = group_classes(records, len(own)) if own[0].cell is None else []
            if any(of["direction"] == "up" for of in ways):
                row["group_transfers"] = ways
            # What is fair is said of a single link.
            if not own[0].interfaces and own[0].cell is None:
                # The same flows under every discipline, unless some wait for others.
                fair = fair_groups(records, **link) if fair is None or closed else fair
                row["groups"] = group_rows(records, fair, samples=pl.concat([run.samples for run in own]), **link)
        if pages := page_rows(records, pl.concat([run.trains for run in own])):
            row["pages"] = pages
        if own[0].interfaces:
            row["interfaces"] = over_replications([run.interfaces for run in own])
        if estimates := estimate_row(pl.concat([run.samples for run in own]), span["begin_s"]):
            row["nonresponsive"] = estimates
        if own[0].cell is not None:
            wlan, times = scenario.network.wlan, {name: span[name] for name in ("end_s", "begin_s")}
            packets = {name: link[name] for name in ("mss", "header_bytes")}
            row["wlan"] = cell_row(records, [run.cell for run in own], rates=wlan.station_rates, **times, **packets)
        ran = own[0].discipline
        rows.append(row | {"id": ran.id, "family": ran.family, "label": label, "options": ran.options})
    first = runs[0].records
    # A run that stops with its last flow has no duration of its own: the flows' span counts.
    span_s = None if scenario.stop_when_idle else scenario.duration
    load = offered(first, mss=scenario.tcp.mss, header_bytes=scenario.tcp.headers_bytes, span_s=span_s)
    summary = {
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
        "disciplines": rows,
        **(extra or {}),
    }
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
            for name in ("drops", "packets", "timeouts", "trains", "subflows")
        ),
    )


def _together(tables: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    """The tables of runs as one; the kernel keeps no traces, and those are without columns."""
    kept = [table for table in tables if table is not None and table.width]
    return pl.concat(kept) if kept else pl.DataFrame()
