"""Jobs of plain transfers on one link under some disciplines, without the library for tables.

A job is the settings of a run and what draws its transfers. It is made of a scenario, whatever its settings, by
:func:`mayfly.comparison.checked.job_of`. That of a ready scenario was made when the package was, so that its runs do
without the library for checks too (:func:`ready_job`). The list is read, run, measured and written by the crate
``runs``; what the scenario draws is drawn with numpy, which also makes the curves of a page. Whatever is not plain is
left to :mod:`mayfly.comparison.comparison`: a network that is not one link, another column in the list, a value that is
refused. ``tests/gold`` holds both to the same tables and figures.
"""

import json
import os
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.discipline_registry import Discipline, parse_list, runs_on
from mayfly.errors import MayflyError
from mayfly.limits import RECORD_BYTES, refuse_flows
from mayfly.metrics.totals import derived, directions, row_of, ways_of
from mayfly.scenario.presets import kernel_of
from mayfly.simulate.queue_delay import taken
from mayfly.simulate.queue_limits import queue_limits
from mayfly.text import quantity
from mayfly.text.folder import filled

if TYPE_CHECKING:
    from mayfly.summary_types import DisciplineRow, DisciplineRowPart, QueueDelay, Summary

CHECKED = Path(__file__).parent.parent / "scenarios" / "checked"
"""Folder of the ready scenarios as they were checked, and of what the files of a run say of themselves."""

TABLES = "tables_of_runs.json"

CHANGEABLE = {"tcp.preset", "network.buffer"}
"""Fields that may be overridden."""

MOST_DRAWN = 1_000_000
"""Most transfers that are expected of a draw; of more a run may be one of a stream."""

ESTIMATING = {"estmred"}
"""Disciplines whose rows tell of an estimator: these are not plain."""

MOST_BYTES = 64 * 2**20
"""Longest list that is held as text."""

Given = str | tuple[Floats, Integers, Integers, Integers]
"""Transfers as the native module takes them: CSV, or columns."""

_LOOK_S = 0.1
"""Time between two looks at how far the run is."""

_PATIENCE_S = 0.5
"""Time for the run to stop before an interrupt goes on."""


@dataclass(frozen=True)
class PlainComparison:
    """Result of plain runs, as :class:`mayfly.comparison.comparison.Comparison` has it.

    Parameters
    ----------
    summary : dict
        What ``summary.json`` holds.
    runs : dict of PlainRun
        Their tables, by label of the discipline.
    """

    summary: "Summary"
    runs: dict[str, "_native.PlainRun"]

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
        names = {"flows": "flows.parquet", "samples": "samples.parquet"}
        names |= {"report": "report.html"} if report else {}
        names |= {"summary": "summary.json"}
        files = {key: str(Path(folder) / name) for key, name in names.items()}
        told = json.loads((CHECKED / TABLES).read_text(encoding="utf-8"))
        with filled(folder, names.values()) as unfinished:
            flows, samples = ((unfinished / names[key], list(told[key].items())) for key in ("flows", "samples"))
            _native.write_plain(list(self.runs.values()), flows, samples)
            if report:
                self._write_report(unfinished / names["report"])
            text = json.dumps(self.summary | {"files": files}, indent=1, allow_nan=False)
            (unfinished / names["summary"]).write_text(text + "\n", encoding="utf-8")
        return files

    def _write_report(self, path: Path) -> None:
        from mayfly.comparison.figures.runs import ArrayRuns
        from mayfly.comparison.page import write_report

        def reads(samples: bool) -> ArrayRuns:
            return ArrayRuns({label: partial(_column, run, samples) for label, run in self.runs.items()})

        write_report(path, self.summary, reads(False), reads(True))


def _column(run: "_native.PlainRun", samples: bool, name: str) -> Any:
    """A column as an array; None where the table has none of that name."""
    import numpy as np

    if name == "tcp":
        starts = run.column("start_s")
        assert starts is not None
        # Plain transfers are nothing else.
        return np.ones(len(starts[1]) // 8, dtype=bool)
    found = run.column(name, samples)
    return None if found is None else np.frombuffer(found[1], dtype=found[0])


@dataclass(frozen=True)
class Job:
    """Settings of runs of plain transfers, and what draws these.

    Parameters
    ----------
    document : dict
        The scenario, checked, as ``summary.json`` has it.
    native : dict
        Its settings under ``fifo`` as the native module takes them (:func:`mayfly.simulate.settings.native_settings`).
    drawn : dict or None
        What a draw of its transfers takes; None where it draws something else. ``law`` and its ``fields``;
        ``senders`` and ``receivers``, first number and count.
    header_bytes : int
        Of a packet.
    """

    document: dict[str, Any]
    native: dict[str, Any]
    drawn: dict[str, Any] | None
    header_bytes: int

    @property
    def rtt_s(self) -> float:
        """Round-trip time without queueing, s."""
        network = self.document["network"]
        back: float = network["delay"] if network["reverse_delay"] is None else network["reverse_delay"]
        return float(2 * (network["access_delay"] + network["exit_delay"]) + network["delay"] + back)

    def under(self, discipline: Discipline) -> str:
        """Native settings with a discipline, JSON."""
        queues = {"discipline": discipline.native}
        if self.document["network"]["reverse_discipline"] == "same":
            queues["reverse_discipline"] = discipline.native
        return json.dumps(self.native | queues)


def ready_job(
    scenario: str,
    *,
    duration: str | None = None,
    seed: str | None = None,
    replications: str | None = None,
    overrides: Sequence[str] = (),
    command: str = "compare",
) -> Job | None:
    """The job of a ready scenario as it was made with the package, with another end and seed and what is overridden.

    Parameters
    ----------
    scenario : str
        Name of a ready scenario.
    duration, seed, replications : str, optional
        In place of those of the scenario.
    overrides : sequence of str
        Each ``name=value``; those of :data:`CHANGEABLE` need no check of the whole.
    command : str
        Of the command line; ``simulate`` runs one replication.

    Returns
    -------
    Job or None
        None for whatever needs a check (:func:`mayfly.comparison.checked.job_of`), refused values among it.
    """
    path = CHECKED / f"{scenario}.json"
    # A file or folder of that name goes first (`mayfly.scenario.scenario.load_scenario`).
    if not scenario.replace("-", "").isalnum() or os.path.exists(scenario) or not os.path.isfile(path):
        return None
    changes = _changes(overrides)
    if changes is None:
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    if command != "simulate" and (replications or str(found["replications"])) != "1":
        return None
    document, native, header_bytes = found["scenario"], found["native"], found["header_bytes"]
    if "tcp.preset" in changes:
        preset = changes["tcp.preset"]
        change = found["presets"].get(preset) if isinstance(preset, str) else None
        if change is None:
            return None
        document["tcp"] |= change["scenario"]
        native["tcp"] |= change["native"]
        header_bytes = change["header_bytes"]
    network = document["network"]
    if "network.buffer" in changes:
        try:
            network["buffer"] = list(quantity.buffer(changes["network.buffer"]))
        except MayflyError:
            return None
    buffers = network["buffer"], network["reverse_buffer"], network["buffer_counts_transmission"]
    native |= queue_limits(*buffers, document["tcp"]["mss"] + header_bytes)
    if duration is not None:
        try:
            end_s = quantity.seconds(duration, "duration")
        except MayflyError:
            return None
        if end_s < 1e-3 or end_s <= document["warm_up"]:
            return None
        document["duration"] = end_s
        native |= {"duration_ns": round(end_s * 1e9), "sample_interval_ns": round(max(end_s / 1000, 1e-6) * 1e9)}
    if seed is not None:
        if not (seed.isascii() and seed.isdecimal() and len(seed) < 19):
            return None
        document["seed"] = native["seed"] = int(seed)
    return Job(document, native, found["drawn"], header_bytes)


def _changes(overrides: Sequence[str]) -> dict[str, Any] | None:
    """Values by name; None where one is refused, or is none of :data:`CHANGEABLE`."""
    if not overrides:
        return {}
    from mayfly.scenario.overrides import parse_override

    try:
        changes = dict(parse_override(text) for text in overrides)
    except MayflyError:
        return None
    return changes if changes.keys() <= CHANGEABLE else None


def plain_comparison(
    job: Job | None,
    disciplines: str | None = None,
    flows: str | os.PathLike[str] | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    command: str = "compare",
) -> PlainComparison | None:
    """Runs the same plain transfers under each discipline, once.

    Parameters
    ----------
    job : Job, optional
        What runs.
    disciplines : str, optional
        Such as ``"fifo,efd(threshold=40000)"``; those of the scenario when not given.
    flows : path, optional
        Flow list; what the scenario draws when not given.
    progress : callable, optional
        Called with the fraction done.
    command : str
        Noted in the summary; ``simulate`` runs one discipline.

    Returns
    -------
    PlainComparison or None
        None for whatever is not plain, no job and refused values among it.

    Raises
    ------
    MayflyError
        It takes more memory than there is.
    KeyboardInterrupt
        After an interrupt; the runs have stopped.
    """
    if job is None:
        return None
    document = job.document
    try:
        chosen = parse_list(",".join(document["disciplines"]) if disciplines is None else disciplines)
    except MayflyError:
        # The usual way says what is refused, of the list first.
        return None
    if (command == "simulate" and len(chosen) != 1) or any(ran.id in ESTIMATING for ran in chosen):
        return None
    given = _drawn(job) if flows is None else _text(flows)
    if given is None:
        return None
    rows = given.count("\n") if isinstance(given, str) else len(given[0])
    try:
        refuse_flows(len(chosen) * rows, RECORD_BYTES, f"runs = {len(chosen)}")
    except MayflyError:
        if isinstance(given, str):
            # The usual way counts those that start before the end, and refuses them where they are too many.
            return None
        raise
    found = _run(job, given, chosen, progress)
    if found is None:
        return None
    made = [
        _row(job.native, ran, json.loads(run.figures), cpu_s) for ran, (run, cpu_s) in zip(chosen, found, strict=True)
    ]
    summary = _summary(document, job.native, json.loads(found[0][0].figures), made, command)
    if len(made) > 1:
        from mayfly.comparison.recommendation import recommendation

        summary["recommendation"] = recommendation(summary)
    if flows is not None:
        from mayfly.workload.account import account_of_rows

        summary["account"] = [account_of_rows(_native.Account(found[0][0].account), flows)]
    return PlainComparison(summary, {ran.label: run for ran, (run, _) in zip(chosen, found, strict=True)})


def _drawn(job: Job) -> Given | None:
    """The transfers that the scenario draws, those of :func:`mayfly.simulate.run.workload` to the bit.

    None where they are not plain, too many for a list, or refused, which the usual way says.
    """
    if job.drawn is None:
        return None
    import numpy as np

    from mayfly.laws import sizes
    from mayfly.workload.arrivals import arrival_rate, choice, stream
    from mayfly.workload.offering import Transfers, offering, payload_bytes

    document = job.document
    workload, mss, seed, duration_s = (
        document["workload"],
        document["tcp"]["mss"],
        document["seed"],
        document["duration"],
    )
    wire = mss + job.header_bytes
    try:
        law = getattr(sizes, job.drawn["law"])(**job.drawn["fields"])
        if arrival_rate(workload["load"], law.mean_packets() * wire) * duration_s > MOST_DRAWN:
            return None
        transfers = Transfers(law, workload["load"], exact_load=workload["exact_load"])
        starts, packets = offering(transfers, duration_s, seed, wire)
    except MayflyError:
        return None
    ends = {side: job.drawn[side] for side in ("senders", "receivers")}
    src, dst = (
        first + choice(stream(seed, side, "transfers", 0), count, len(starts)) for side, (first, count) in ends.items()
    )
    return np.ascontiguousarray(starts), src, dst, np.ascontiguousarray(payload_bytes(packets, mss))


def _text(path: str | os.PathLike[str]) -> str | None:
    """The list as text, out of gzip where it is in it; None where it cannot be read, or is long."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MOST_BYTES:
            return None
        data = Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
            data = stream.decompress(data, MOST_BYTES)
            if stream.unconsumed_tail or stream.unused_data or not stream.eof:
                return None
        return data.decode("ascii")
    except (OSError, ValueError, zlib.error):
        return None


def _run(
    job: Job,
    given: Given,
    chosen: Sequence[Discipline],
    progress: Callable[[float], None] | None,
) -> list[tuple["_native.PlainRun", float]] | None:
    """Runs in threads of their own, so that an interrupt stops them; each with the processor time that it took, s.

    None where one of them is not plain.
    """
    controls = [_native.Control() for _ in chosen]
    found: list[Any] = [None] * len(chosen)
    duration_s: float = job.document["duration"]
    waiting = list(range(len(chosen)))[::-1]

    def work() -> None:
        while waiting:
            number = waiting.pop()
            ran, control = chosen[number], controls[number]
            began = time.thread_time()
            try:
                settings = job.under(ran)
                run = _native.run_plain(settings, given, duration_s, job.rtt_s, (ran.label, 0), control)
                found[number] = run, time.thread_time() - began
                if run is None:
                    waiting.clear()
            except BaseException as error:
                found[number] = error

    at_once = min(len(chosen), os.cpu_count() or 1)
    threads = [threading.Thread(target=work, name="run", daemon=True) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(_LOOK_S)
                if progress is not None:
                    done_s = sum(control.reached_s for control in controls)
                    progress(min(done_s / (duration_s * len(chosen)), 1.0))
    except BaseException:
        waiting.clear()
        for control in controls:
            control.cancel()
        for thread in threads:
            thread.join(_PATIENCE_S)
        raise
    for one in found:
        if isinstance(one, ValueError):
            raise MayflyError(str(one)) from None
        if isinstance(one, BaseException):
            raise one
    return None if any(one is None or one[0] is None for one in found) else found


def _row(native: dict[str, Any], ran: Discipline, found: dict[str, Any], cpu_s: float) -> "DisciplineRow":
    """The row of a discipline in the summary."""
    counters = taken(found["counters"]) | {"cpu_s": cpu_s, "udp_packets": 0, "udp_lost": 0}
    counters |= derived(counters, native["rate_bps"], native["reverse_rate_bps"])
    flows = {"flows_completed": found["flows"] - found["flows_unfinished"], "flows_endless": 0}
    row: DisciplineRowPart = {
        **row_of(ran.label, found | flows, [counters]),
        "id": ran.id,
        "options": ran.options,
        "links": ways_of([counters]),
        "users": found["users"],
        "loss": found["loss"],
        "queueing_delay": _delay(counters["queueing_delay"], found["propagation_rtt_s"]),
        "jain": None,
        "active_flows": found["active_flows"] if found["active_flows"] else {"mean": None, "max": None},
        "family": ran.family,
        "runs_on": runs_on(ran.id),
        "slowdown": found["slowdown"],
    }
    return cast("DisciplineRow", row)


def _summary(
    document: dict[str, Any], native: dict[str, Any], found: dict[str, Any], rows: "list[DisciplineRow]", command: str
) -> "Summary":
    """The summary without a recommendation; ``found`` are the figures of any run, as all have the same transfers."""
    network = document["network"]
    rates = {"down": native["rate_bps"], "up": native["reverse_rate_bps"] or native["rate_bps"]}
    buffers = {"down": network["buffer"], "up": network["reverse_buffer"] or network["buffer"]}
    mbps = {"down": found["wire_bytes"] * 8 / document["duration"] / 1e6, "up": 0.0}
    return {
        "schema": 1,
        "command": command,
        "scenario": document,
        "seed": document["seed"],
        "replications": 1,
        "duration_s": document["duration"],
        "workload": {
            "flows": found["flows"],
            "bytes": found["bytes"],
            "offered_mbps": mbps["down"],
            "offered_down_mbps": mbps["down"],
            "offered_up_mbps": mbps["up"],
            "largest_flows": found["largest_flows"],
        },
        "links": directions(rates, buffers, mbps, rows[0]["links"]),
        "transport": {"preset": document["tcp"]["preset"], "kernel": kernel_of(document["tcp"]), "other": None},
        "disciplines": rows,
        "recommendation": None,
    }


def _delay(of: dict[str, Any], rtt_s: float) -> "QueueDelay":
    """Queueing delay of all packets, pooled as :func:`mayfly.metrics.queue_delay.pooled` does with one run."""
    packets, mean, deviation, most = (of[name] for name in ("packets", "mean_s", "deviation_s", "max_s"))
    if not packets:
        return {"packets": packets, "mean_s": None, "deviation_s": None, "max_s": most, "relative": None}
    pooled = packets * mean / packets
    variance = (packets * deviation**2 + packets * (mean - pooled) ** 2) / packets
    relative = pooled / rtt_s if rtt_s else None
    return {"packets": packets, "mean_s": pooled, "deviation_s": variance**0.5, "max_s": most, "relative": relative}
