"""One run of plain transfers under a ready scenario, without the libraries for tables and for checks.

These take three quarters of the time of a short ``mayfly simulate``. The scenario is taken as it was checked when the
package was made (:mod:`mayfly.comparison.checked`); the list is read, run, measured and written by the crate ``runs``.
What the scenario itself draws is drawn with numpy (:mod:`mayfly.comparison.plain_draw`), which is all it loads.
Whatever is not plain is left to :func:`mayfly.comparison.comparison.run`: another scenario or setting, another column
in the list, a value that is refused. A test holds both to the same files.
"""

import json
import os
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    """Result of one plain run, as :class:`mayfly.comparison.comparison.Comparison` has it.

    Parameters
    ----------
    summary : dict
        What ``summary.json`` holds.
    run : PlainRun
        Its tables.
    """

    summary: dict[str, Any]
    run: "_native.PlainRun"

    def write(self, folder: str | os.PathLike[str], report: bool = False) -> dict[str, str]:
        """Writes ``flows.parquet``, ``samples.parquet`` and ``summary.json``.

        Parameters
        ----------
        folder : path
            Created when absent. Files appear under their names only when all are complete.
        report : bool
            False: a plain run has none.

        Returns
        -------
        dict of str
            Path of each file.

        Raises
        ------
        MayflyError
            The folder cannot be written, or a report is asked for.
        """
        if report:
            raise MayflyError("report: must be left out of a plain run; `mayfly compare` writes one")
        names = {"flows": "flows.parquet", "samples": "samples.parquet", "summary": "summary.json"}
        files = {key: str(Path(folder) / name) for key, name in names.items()}
        told = json.loads((CHECKED / TABLES).read_text(encoding="utf-8"))
        with filled(folder, names.values()) as partial:
            self.run.write(*((partial / names[key], list(told[key].items())) for key in ("flows", "samples")))
            text = json.dumps(self.summary | {"files": files}, indent=1, allow_nan=False)
            (partial / names["summary"]).write_text(text + "\n", encoding="utf-8")
        return files


def plain_run(
    scenario: str,
    discipline: str,
    flows: str | os.PathLike[str] | None = None,
    *,
    duration: str | None = None,
    seed: str | None = None,
    overrides: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> PlainComparison | None:
    """Runs one discipline once, where that is plain.

    Parameters
    ----------
    scenario : str
        Name of a ready scenario.
    discipline : str
        Such as ``"efd(threshold=40000)"``.
    flows : path, optional
        Flow list; what the scenario draws when not given.
    duration, seed : str, optional
        In place of those of the scenario.
    overrides : sequence of str
        Each ``name=value``; those of :data:`CHANGEABLE` are plain.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    PlainComparison or None
        None for whatever is not plain, refused values among it.

    Raises
    ------
    MayflyError
        It takes more memory than there is.
    KeyboardInterrupt
        After an interrupt; the run has stopped.
    """
    checked = _checked(scenario, duration, seed, overrides)
    if checked is None:
        return None
    document, native = checked.document, checked.native
    given = _drawn(checked) if flows is None else _text(flows)
    if given is None:
        return None
    refuse_flows(given.count("\n") if isinstance(given, str) else len(given[0]), RECORD_BYTES, "runs = 1")
    try:
        chosen = parse_list(discipline)
    except MayflyError:
        # What is refused of the list is said first.
        return None
    if len(chosen) != 1:
        return None
    network = document["network"]
    back = network["delay"] if network["reverse_delay"] is None else network["reverse_delay"]
    rtt_s = 2 * (network["access_delay"] + network["exit_delay"]) + network["delay"] + back
    native["discipline"] = chosen[0].native
    if network["reverse_discipline"] == "same":
        native["reverse_discipline"] = chosen[0].native
    found, cpu_s = _run(native, given, document["duration"], rtt_s, chosen[0].label, progress)
    if found is None:
        return None
    return PlainComparison(_summary(document, native, chosen[0], json.loads(found.figures), cpu_s), found)


@dataclass(frozen=True)
class _Checked:
    """The scenario as a document and as native settings; what a draw takes; headers of a packet, bytes."""

    document: dict[str, Any]
    native: dict[str, Any]
    drawn: dict[str, Any] | None
    header_bytes: int


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
    return _Checked(document, native, found["drawn"], header_bytes)


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
    native: dict[str, Any],
    given: Given,
    duration_s: float,
    rtt_s: float,
    label: str,
    progress: Callable[[float], None] | None,
) -> tuple["_native.PlainRun | None", float]:
    """Runs in a thread of its own, so that an interrupt stops it; with the processor time that it took, s."""
    control = _native.Control()
    found: list[Any] = []

    def work() -> None:
        began = time.thread_time()
        try:
            run = _native.run_plain(json.dumps(native), given, duration_s, rtt_s, (label, 0), control)
            found.append((run, time.thread_time() - began))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work, name="run", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_LOOK_S)
            if progress is not None:
                progress(min(control.reached_s / duration_s, 1.0))
    except BaseException:
        control.cancel()
        thread.join(_PATIENCE_S)
        raise
    if isinstance(found[0], ValueError):
        raise MayflyError(str(found[0])) from None
    if isinstance(found[0], BaseException):
        raise found[0]
    run, cpu_s = found[0]
    return run, cpu_s


def _summary(
    document: dict[str, Any], native: dict[str, Any], ran: Discipline, found: dict[str, Any], cpu_s: float
) -> dict[str, Any]:
    counters = found["counters"]
    seconds = max(counters["end_ns"] - counters["begin_ns"], 1) * 1e-9
    down_bps, up_bps = (counters[name] * 8 / seconds for name in ("sent_bytes", "reverse_sent_bytes"))
    rates = {"down": native["rate_bps"], "up": native["reverse_rate_bps"] or native["rate_bps"]}
    used = {"down": down_bps / rates["down"], "up": up_bps / rates["up"]}
    row = {
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
    mbps = {"down": found["wire_bytes"] * 8 / document["duration"] / 1e6, "up": 0.0}
    return {
        "schema": 1,
        "command": "simulate",
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
        "links": _links(document["network"], rates, mbps, used),
        "transport": {"preset": document["tcp"]["preset"], "other": None},
        "disciplines": [row],
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
