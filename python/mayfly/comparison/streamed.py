"""What is told of a run of a stream: its summary, files, tables and sentences."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mayfly.comparison.comparison import SCHEMA
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.scenario.presets import kernel_of
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.show.notebook import Result
from mayfly.show.table import Table
from mayfly.simulate.fluid import beside, run_fluid
from mayfly.simulate.run import Progress, named
from mayfly.simulate.streamed import RecordsFile, StreamRun, run_stream, source_of
from mayfly.simulate.tables import FILES
from mayfly.simulate.windows import run_windows
from mayfly.text.folder import filled, write_table
from mayfly.workload.account import account_of_rows
from mayfly.workload.streamed import File

if TYPE_CHECKING:
    from mayfly.summary_types import StreamRow, StreamSummary, Windows, WindowsSummary

ENGINES = ("simulator", "fluid", "both")


@dataclass(frozen=True, eq=False, repr=False)
class _Answer(Result):
    """What a run wrote.

    Parameters
    ----------
    files : dict of str
        Paths of what was written.
    """

    files: dict[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class StreamAnswer(_Answer):
    """Figures of a run of a stream.

    Parameters
    ----------
    summary : dict
        What ``summary.json`` holds.
    """

    summary: StreamSummary

    def document(self) -> dict[str, Any]:
        """The figures of the only discipline at the top level, and the summary."""
        return {**self.summary["disciplines"][0], **self.summary}

    def tables(self) -> list[Table]:
        """Response times by size."""
        row = self.summary["disciplines"][0]
        lines = [
            (name, f"{part['flows']:,}", *_cells(part))
            for name, part in (("all", row["all"]), ("short", row["short"]), ("long", row["long"]))
            if part["flows"]
        ]
        sized = [
            (f"{part['from_packets']:,} to {part['below_packets'] - 1:,}", f"{part['flows']:,}", *_cells(part))
            for part in row["by_size"]
        ]
        heads = ("transfers", "complete", "mean", "95 % CI", "median", "p95", "p99")
        found = [Table("Response time by size, full segments", heads, (*lines, *sized), narrow="fold")]
        if errors := self.summary.get("fluid_errors"):
            columns = ("transfers", "complete", "packets", "fluid", "error of mean", "of p95")
            rows = [
                (
                    f"{part['from_packets']:,} to {part['below_packets'] - 1:,}",
                    f"{part['flows']:,}",
                    _seconds(part["packets_mean_s"]),
                    _seconds(part["fluid_mean_s"]),
                    f"{part['error']:+.1%}",
                    "" if part["error_p95"] is None else f"{part['error_p95']:+.1%}",
                )
                for part in errors
            ]
            found.append(Table("The fluid engine beside packets", columns, tuple(rows), narrow="fold"))
        return found

    def sentences(self) -> list[str]:
        """What the table means, and how exact it is."""
        row = self.summary["disciplines"][0]
        sketch = row["sketch"]
        off = max(row["short"]["off_by_at_most_s"], row["long"]["off_by_at_most_s"])
        if "policy" in row:
            made = f"Transfers are jobs of a queue served as {row['policy']}, without losses, windows and buffers."
        else:
            made = f"The link was used to {row['utilisation']:.1%}."
        return [
            f"{row['flows_completed']:,} of {self.summary['workload']['flows']:,} transfers were complete under "
            f"{row['label']}. {made}",
            "Means are exact"
            + (f", those of short and long to {off:.2g} s" if off > 0 else "")
            + f"; quantiles come from sketches and are off by at most {sketch['bound']:.1%} of their value.",
        ]


def _cells(part: Mapping[str, Any]) -> tuple[str, ...]:
    quantiles = part.get("quantiles_s", {})
    ends = part["ci95"]
    interval = "" if ends is None else f"[{ends[0]:.3g}, {ends[1]:.3g}]"
    return (_seconds(part["mean_s"]), interval, *(_seconds(quantiles.get(name)) for name in ("p50", "p95", "p99")))


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3g} s"


@dataclass(frozen=True, eq=False, repr=False)
class WindowsAnswer(_Answer):
    """Figures of a run in windows.

    Parameters
    ----------
    summary : dict
        What ``summary.json`` holds.
    """

    summary: WindowsSummary

    def document(self) -> dict[str, Any]:
        """The summary."""
        return {**self.summary}

    def tables(self) -> list[Table]:
        """Means by size, and what the cut did to them."""
        found = self.summary["windows"]
        lines = [("all", found["all"])]
        lines += [(f"{part['from_packets']:,} to {part['below_packets'] - 1:,}", part) for part in found["by_size"]]
        rows = [
            (
                name,
                f"{part['flows']:,}",
                _seconds(part["windows_mean_s"]),
                f"{part['correction_s'] / part['windows_mean_s']:+.2%}",
                _seconds(part["mean_s"]),
                f"[{part['ci95'][0]:.3g}, {part['ci95'][1]:.3g}]",
            )
            for name, part in lines
        ]
        heads = ("transfers", "complete", "windows", "correction", "mean", "95 % CI")
        return [Table("Response time by size, full segments", heads, tuple(rows), narrow="fold")]

    def sentences(self) -> list[str]:
        """What the cut cost."""
        found = self.summary["windows"]
        seam = found["seam"]
        told = [
            f"{found['windows']:,} windows, each with {found['overlap_s']:g} s of the next: "
            f"{found['flows_crossing']:,} transfers outlasted theirs by more than that, and are in no mean.",
        ]
        if seam["ci95"] is not None:
            told.append(
                f"{seam['flows']:,} transfers behind a seam ran twice; a cold start made their mean, "
                f"{_seconds(seam['mean_s'])}, another by {seam['mean_difference_s']:.2g} s "
                f"[{seam['ci95'][0]:.2g}, {seam['ci95'][1]:.2g}]."
            )
        return told


def simulate_windows(
    scenario: Scenario | str | os.PathLike[str],
    discipline: str,
    out: str | os.PathLike[str],
    windows: int,
    overlap_s: float | None = None,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    certificates: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> WindowsAnswer:
    """Runs the drawn workload of a scenario in windows of time, side by side, and writes ``summary.json``.

    Parameters
    ----------
    scenario : Scenario or str or path
        A scenario, its file, or the name of a ready one.
    discipline : str
        Such as ``"las"``.
    out : path
        Folder of the file.
    windows : int
        How many.
    overlap_s : float, optional
        By which a window begins early and ends late, s; a quarter of a window when not given.
    workers, cluster, certificates
        Who runs them, as for :func:`mayfly.workers.workers.workers`; as many processes as cores when not given.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    WindowsAnswer

    Raises
    ------
    MayflyError
        Whatever is refused, in one line.
    """
    scenario = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    chosen = named([discipline])
    if len(chosen) > 1:
        raise MayflyError(f"discipline = '{discipline}': must be one; `mayfly compare` runs several")
    files = {"summary": str(Path(out) / "summary.json")}
    with filled(out, ["summary.json"]) as partial:
        early_s = scenario.duration / max(windows, 1) / 4 if overlap_s is None else overlap_s
        found = run_windows(
            scenario,
            chosen[0],
            windows,
            early_s,
            workers=workers,
            cluster=cluster,
            certificates=certificates,
            progress=progress,
        )
        summary: WindowsSummary = {
            "schema": SCHEMA,
            "command": "simulate",
            "stream": True,
            "discipline": chosen[0].label,
            "scenario": scenario.model_dump(mode="json"),
            "seed": scenario.seed,
            "duration_s": scenario.duration,
            "windows": cast("Windows", found),
        }
        text = json.dumps(summary | {"files": files}, indent=1, allow_nan=False)
        (partial / "summary.json").write_text(text + "\n", encoding="utf-8")
    return WindowsAnswer(files, summary)


def simulate_stream(
    scenario: Scenario | str | os.PathLike[str],
    discipline: str,
    out: str | os.PathLike[str],
    flows: Path | None = None,
    *,
    records: bool = True,
    engine: str = "simulator",
    progress: Progress | None = None,
) -> StreamAnswer:
    """Runs one discipline on a stream and writes ``flows.parquet``, ``samples.parquet`` and ``summary.json``.

    Parameters
    ----------
    scenario : Scenario or str or path
        A scenario, its file, or the name of a ready one.
    discipline : str
        Such as ``"efd(threshold=40000)"``.
    out : path
        Folder of the files, which appear when all are complete.
    flows : path, optional
        A flow list, CSV or Parquet, ascending by start, in place of the workload.
    records : bool
        Write ``flows.parquet``, of the packet engine.
    engine : str
        ``simulator``, packet by packet; ``fluid``, jobs of a queue, which has neither records nor samples; ``both``.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    StreamAnswer

    Raises
    ------
    MayflyError
        Whatever is refused, in one line.
    """
    scenario = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    chosen = named([discipline])
    if len(chosen) > 1:
        raise MayflyError(f"discipline = '{discipline}': must be one; `mayfly compare` runs several")
    if engine not in ENGINES:
        raise MayflyError(f"engine = {engine}: must be one of {', '.join(ENGINES)}")
    source = source_of(scenario, flows)
    packets = engine != "fluid"
    names = {"flows": "flows.parquet"} if records and packets else {}
    names |= {"samples": "samples.parquet"} if packets else {}
    names |= {"summary": "summary.json"}
    files = {key: str(Path(out) / name) for key, name in names.items()}
    with filled(out, names.values()) as partial:
        summary: StreamSummary
        if packets:
            with _written(partial / "flows.parquet", records) as file:
                taken = None if file is None else file.write
                found = run_stream(scenario, chosen[0], source, taken=taken, progress=progress)
            how = {"compression_level": 1, "metadata": FILES["samples"].metadata()}
            write_table(found.samples, partial / names["samples"], **how)
            summary = summary_of(scenario, chosen[0], found)
        if engine != "simulator":
            again = source_of(scenario, flows) if packets else source
            policy, figures, cpu_s = run_fluid(scenario, chosen[0], again, progress=progress)
            fluid = fluid_row(chosen[0], policy, figures, cpu_s)
            if packets:
                summary |= {"fluid": fluid, "fluid_errors": beside(found.figures, figures)}
            else:
                summary = _around(scenario, figures, fluid)
        if flows is not None and isinstance(source.batches, File):
            summary["account"] = [account_of_rows(source.batches.account, flows)]
        summary["engine"] = engine
        text = json.dumps(summary | {"files": files}, indent=1, allow_nan=False)
        (partial / names["summary"]).write_text(text + "\n", encoding="utf-8")
    return StreamAnswer(files, summary)


@contextmanager
def _written(path: Path, records: bool) -> Iterator[RecordsFile | None]:
    """The file of the records, complete behind the body."""
    file = RecordsFile(path) if records else None
    yield file
    if file is not None:
        file.close()


def summary_of(scenario: Scenario, discipline: Discipline, found: StreamRun) -> StreamSummary:
    """What ``summary.json`` holds of a stream: keys and figures of that of a list as far as there are such.

    Parameters
    ----------
    scenario : Scenario
        What ran.
    discipline : Discipline
        Of the forward queue.
    found : StreamRun
        The run.

    Returns
    -------
    dict
    """
    figures, counters = found.figures, found.counters
    row: StreamRow = {
        **_row(discipline, figures),
        "retransmits": figures["retransmits"],
        "timeouts": figures["timeouts"],
        "utilisation": counters["utilisation"],
        "drops": counters["drops"],
        "marks": counters["marks"],
        "queue_mean_packets": counters["queue_mean_packets"],
        "cpu_s": counters["cpu_s"],
        "packet_hops": counters["packet_hops"],
        "flow_table": {
            "mean": counters["flow_table_mean"],
            "max": counters["flow_table_max"],
            "bytes": counters["flow_table_bytes"],
        },
        "throughput_mbps": {"down": counters["throughput_down_mbps"], "up": counters["throughput_up_mbps"]},
    }
    return _around(scenario, figures, row)


def fluid_row(discipline: Discipline, policy: str, figures: dict[str, Any], cpu_s: float) -> StreamRow:
    """The row of a discipline under the fluid engine.

    Parameters
    ----------
    discipline : Discipline
    policy : str
        What stands for it.
    figures : dict
        Of :func:`mayfly.simulate.fluid.run_fluid`.
    cpu_s : float
        Processor time, s.

    Returns
    -------
    dict
    """
    return {**_row(discipline, figures), "policy": policy, "cpu_s": cpu_s}


def _row(discipline: Discipline, figures: dict[str, Any]) -> StreamRow:
    """What both engines know of a discipline, but for the processor time."""
    row = {
        "id": discipline.id,
        "family": discipline.family,
        "label": discipline.label,
        "options": discipline.options,
        "short": figures["short"],
        "long": figures["long"],
        "all": {
            "flows": figures["flows_completed"],
            "mean_s": figures["mean_s"],
            "ci95": figures["ci95"],
            "quantiles_s": figures["quantiles_s"],
        },
        "by_size": figures["by_size"],
        "flows_completed": figures["flows_completed"],
        "flows_unfinished": figures["flows_unfinished"],
        "flows_endless": figures["flows_endless"],
        "unfinished_bytes": figures["unfinished_bytes"],
        "unfinished_delivered_bytes": figures["unfinished_delivered_bytes"],
        "sketch": {"kind": "DDSketch", "bound": figures["sketch_bound"], "size_step": figures["size_step"]},
    }
    return cast("StreamRow", row)


def _around(scenario: Scenario, figures: dict[str, Any], row: StreamRow) -> StreamSummary:
    """The summary of one row."""
    summary = {
        "schema": SCHEMA,
        "command": "simulate",
        "stream": True,
        "scenario": scenario.model_dump(mode="json"),
        "seed": scenario.seed,
        "replications": 1,
        "duration_s": scenario.duration,
        "workload": {"flows": figures["flows"], "bytes": figures["bytes"]},
        "transport": {"preset": scenario.tcp.preset, "kernel": kernel_of(vars(scenario.tcp)), "other": None},
        "disciplines": [row],
    }
    return cast("StreamSummary", summary)  # the engine comes last
