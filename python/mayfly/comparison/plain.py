"""Plain transfers under a ready scenario and some disciplines, without the libraries for tables and for checks.

These take three quarters of the time of a short ``mayfly simulate``. The scenario is taken as it was checked when the
package was made (:mod:`mayfly.comparison.checked`); the list is read, run, measured and written by the crate ``runs``.
What the scenario itself draws is drawn with numpy (:mod:`mayfly.comparison.plain_draw`), which also makes the curves of
a page: it is all that is loaded. Whatever is not plain is left to :mod:`mayfly.comparison.comparison`: another scenario
or setting, another column in the list, a value that is refused. A test holds both to the same files.
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
from typing import Any

from mayfly import _native
from mayfly.arrays import Floats, Integers
from mayfly.discipline_registry import Discipline, parse_list, runs_on
from mayfly.errors import MayflyError
from mayfly.limits import RECORD_BYTES, refuse_flows
from mayfly.simulate.queue_limits import queue_limits
from mayfly.text import quantity
from mayfly.text.folder import filled

CHECKED = Path(__file__).parent.parent / "scenarios" / "checked"
"""Folder of the ready scenarios as they were checked, and of what the files of a run say of themselves."""

TABLES = "tables.json"

CHANGEABLE = {"tcp.preset", "network.buffer"}
"""Fields that may be overridden."""

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

    summary: dict[str, Any]
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


def plain_run(
    scenario: str, discipline: str, flows: str | os.PathLike[str] | None = None, **how: Any
) -> PlainComparison | None:
    """Runs one discipline once, where that is plain: as :func:`plain_comparison`, under the command ``simulate``."""
    return plain_comparison(scenario, discipline, flows, command="simulate", **how)


def plain_comparison(
    scenario: str,
    disciplines: str | None = None,
    flows: str | os.PathLike[str] | None = None,
    *,
    duration: str | None = None,
    seed: str | None = None,
    replications: str | None = None,
    overrides: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
    command: str = "compare",
) -> PlainComparison | None:
    """Runs the same plain transfers under each discipline, once.

    Parameters
    ----------
    scenario : str
        Name of a ready scenario.
    disciplines : str, optional
        Such as ``"fifo,efd(threshold=40000)"``; those of the scenario when not given.
    flows : path, optional
        Flow list; what the scenario draws when not given.
    duration, seed, replications : str, optional
        In place of those of the scenario.
    overrides : sequence of str
        Each ``name=value``; those of :data:`CHANGEABLE` are plain.
    progress : callable, optional
        Called with the fraction done.
    command : str
        Noted in the summary; ``simulate`` runs one discipline.

    Returns
    -------
    PlainComparison or None
        None for whatever is not plain, refused values among it.

    Raises
    ------
    MayflyError
        It takes more memory than there is.
    KeyboardInterrupt
        After an interrupt; the runs have stopped.
    """
    checked = _checked(scenario, duration, seed, overrides)
    if checked is None or (command != "simulate" and (replications or str(checked.replications)) != "1"):
        return None
    document = checked.document
    try:
        chosen = parse_list(",".join(document["disciplines"]) if disciplines is None else disciplines)
    except MayflyError:
        # The usual way says what is refused, of the list first.
        return None
    if (command == "simulate" and len(chosen) != 1) or any(ran.id in ESTIMATING for ran in chosen):
        return None
    given = _drawn(checked) if flows is None else _text(flows)
    if given is None:
        return None
    rows = given.count("\n") if isinstance(given, str) else len(given[0])
    refuse_flows(len(chosen) * rows, RECORD_BYTES, f"runs = {len(chosen)}")
    found = _run(checked, given, chosen, progress)
    if found is None:
        return None
    made = [
        _row(checked.native, ran, json.loads(run.figures), cpu_s)
        for ran, (run, cpu_s) in zip(chosen, found, strict=True)
    ]
    summary = _summary(document, checked.native, json.loads(found[0][0].figures), made, command)
    if len(made) > 1:
        from mayfly.comparison.recommendation import recommendation

        summary["recommendation"] = recommendation(summary)
    return PlainComparison(summary, {ran.label: run for ran, (run, _) in zip(chosen, found, strict=True)})


@dataclass(frozen=True)
class _Checked:
    """The scenario as a document and as native settings; what a draw takes; headers, bytes; its own replications."""

    document: dict[str, Any]
    native: dict[str, Any]
    drawn: dict[str, Any] | None
    header_bytes: int
    replications: int

    @property
    def rtt_s(self) -> float:
        """Round-trip time without queueing."""
        network = self.document["network"]
        back: float = network["delay"] if network["reverse_delay"] is None else network["reverse_delay"]
        return float(2 * (network["access_delay"] + network["exit_delay"]) + network["delay"] + back)

    def under(self, discipline: Discipline) -> str:
        """Native settings with a discipline, JSON."""
        queues = {"discipline": discipline.native}
        if self.document["network"]["reverse_discipline"] == "same":
            queues["reverse_discipline"] = discipline.native
        return json.dumps(self.native | queues)


def _checked(scenario: str, duration: str | None, seed: str | None, overrides: Sequence[str]) -> _Checked | None:
    """The scenario with another end and seed and what is overridden."""
    path = CHECKED / f"{scenario}.json"
    # A file or folder of that name goes first (`mayfly.scenario.scenario.load_scenario`).
    if not scenario.replace("-", "").isalnum() or Path(scenario).exists() or not path.is_file():
        return None
    changes = _changes(overrides)
    if changes is None:
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
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
    return _Checked(document, native, found["drawn"], header_bytes, found["replications"])


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


def _drawn(checked: _Checked) -> Given | None:
    """The transfers that the scenario draws; None where they are not plain, or refused, which the usual way says."""
    if checked.drawn is None:
        return None
    from mayfly.comparison.plain_draw import draw

    try:
        return draw(checked.drawn, checked.document, checked.header_bytes)
    except MayflyError:
        return None


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
    checked: _Checked,
    given: Given,
    chosen: Sequence[Discipline],
    progress: Callable[[float], None] | None,
) -> list[tuple["_native.PlainRun", float]] | None:
    """Runs in threads of their own, so that an interrupt stops them; each with the processor time that it took, s.

    None where one of them is not plain.
    """
    controls = [_native.Control() for _ in chosen]
    found: list[Any] = [None] * len(chosen)
    duration_s: float = checked.document["duration"]
    waiting = list(range(len(chosen)))[::-1]

    def work() -> None:
        while waiting:
            number = waiting.pop()
            ran, control = chosen[number], controls[number]
            began = time.thread_time()
            try:
                settings = checked.under(ran)
                run = _native.run_plain(settings, given, duration_s, checked.rtt_s, (ran.label, 0), control)
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


def _rates(native: dict[str, Any]) -> dict[str, float]:
    return {"down": native["rate_bps"], "up": native["reverse_rate_bps"] or native["rate_bps"]}


def _row(native: dict[str, Any], ran: Discipline, found: dict[str, Any], cpu_s: float) -> dict[str, Any]:
    """The row of a discipline in the summary."""
    counters = found["counters"]
    seconds = max(counters["end_ns"] - counters["begin_ns"], 1) * 1e-9
    down_bps, up_bps = (counters[name] * 8 / seconds for name in ("sent_bytes", "reverse_sent_bytes"))
    rates = _rates(native)
    used = {"down": down_bps / rates["down"], "up": up_bps / rates["up"]}
    return {
        "id": ran.id,
        "label": ran.label,
        "options": ran.options,
        "short": found["short"],
        "long": found["long"],
        "flows_completed": found["flows"] - found["flows_unfinished"],
        "flows_unfinished": found["flows_unfinished"],
        "flows_endless": 0,
        "unfinished_bytes": found["unfinished_bytes"],
        "unfinished_delivered_bytes": found["unfinished_delivered_bytes"],
        "utilisation": used["down"],
        "drops": counters["drops"],
        "marks": counters["marks"],
        "queue_mean_packets": counters["queue_mean_packets"],
        "flow_table": {name: counters[f"flow_table_{name}"] for name in ("mean", "max", "bytes")},
        "throughput_mbps": {"down": down_bps / 1e6, "up": up_bps / 1e6},
        "udp": {"packets": 0, "lost": 0, "loss": None},
        "cpu_s": cpu_s,
        "packet_hops": counters["packet_hops"],
        "links": {
            "down": {
                "utilisation": used["down"],
                "drops": counters["drops"],
                "marks": counters["marks"],
                "queue_mean_packets": counters["queue_mean_packets"],
                "throughput_mbps": down_bps / 1e6,
                "peak_utilisation": counters["peak_utilisation"],
                "queue_delay_mean_s": counters["queue_delay_mean_s"],
            },
            "up": {
                "utilisation": used["up"],
                "drops": counters["reverse_drops"],
                "marks": counters["reverse_marks"],
                "queue_mean_packets": counters["reverse_queue_mean_packets"],
                "queue_delay_mean_s": counters["reverse_queue_delay_mean_s"],
                "throughput_mbps": up_bps / 1e6,
                "peak_utilisation": counters["reverse_peak_utilisation"],
            },
        },
        "users": found["users"],
        "loss": found["loss"],
        "queueing_delay": _delay(counters, found["propagation_rtt_s"]),
        "jain": None,
        "active_flows": found["active_flows"] or {"mean": None, "max": None},
        "family": ran.family,
        "runs_on": runs_on(ran.id),
        "slowdown": found["slowdown"],
    }


def _summary(
    document: dict[str, Any], native: dict[str, Any], found: dict[str, Any], rows: list[dict[str, Any]], command: str
) -> dict[str, Any]:
    """The summary without a recommendation; ``found`` are the figures of any run, as all have the same transfers."""
    used = {way: link["utilisation"] for way, link in rows[0]["links"].items()}
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
        "links": _links(document["network"], _rates(native), mbps, used),
        "transport": {"preset": document["tcp"]["preset"], "other": None},
        "disciplines": rows,
        "recommendation": None,
    }


def _links(
    network: dict[str, Any], rates: dict[str, float], mbps: dict[str, float], used: dict[str, float]
) -> dict[str, Any]:
    buffers = {"down": network["buffer"], "up": network["reverse_buffer"] or network["buffer"]}
    found = {
        way: {
            "rate_bps": rates[way],
            "buffer": list(buffers[way]),
            "offered_mbps": mbps[way],
            "load": mbps[way] * 1e6 / rates[way],
        }
        for way in rates
    }
    return {"busier": max(found, key=lambda way: (found[way]["load"], used[way], way == "down")), **found}


def _delay(counters: dict[str, Any], rtt_s: float) -> dict[str, Any]:
    """Queueing delay of all packets, pooled as :func:`mayfly.metrics.queue_delay.pooled` does with one run."""
    packets = counters["queue_packets"]
    mean, deviation, most = (counters[f"queue_delay_{name}"] for name in ("mean_s", "deviation_s", "max_s"))
    if not packets:
        return {"packets": packets, "mean_s": None, "deviation_s": None, "max_s": most, "relative": None}
    pooled = packets * mean / packets
    variance = (packets * deviation**2 + packets * (mean - pooled) ** 2) / packets
    relative = pooled / rtt_s if rtt_s else None
    return {"packets": packets, "mean_s": pooled, "deviation_s": variance**0.5, "max_s": most, "relative": relative}
