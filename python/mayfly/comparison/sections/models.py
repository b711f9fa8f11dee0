"""What queueing models expect of each discipline compared with the simulation, and the kernel compared with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from mayfly.comparison.sections.section import Section
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, count_text, time_text

if TYPE_CHECKING:
    from mayfly.summary_types import Summary


TITLE = "Models beside the simulation"
HEADS = (
    "short flows\nsimulated",
    "model",
    "error",
    "long flows\nsimulated",
    "model",
    "error",
    "by size\nmedian",
    "90 %",
)


def tables(summary: Summary) -> tuple[Table, ...]:
    """A row per discipline that has a model; none without models."""
    if not summary.get("models"):
        return ()
    sources = {f"{model['policy']}: {model['title']}, {model['source']}" for model in summary["models"].values()}
    note = f"Errors are model over simulation less 1. {'; '.join(sorted(sources))}."
    return (Table(TITLE, ("discipline", "model", *HEADS), tuple(_lines(summary)), names=2, notes=(note,)),)


def notes(summary: Summary) -> tuple[str, ...]:
    """The queue the models have, and what they do not, in words; empty without models."""
    queue = summary.get("model_queue")
    if queue is None:
        return ()
    if "rho" not in queue:
        return tuple(queue["notes"])
    path = "with what each flow takes alone beyond its bytes" if queue["with_path"] else "without round trips"
    told = (
        f"M/G/1 queue of the {count_text(queue['flows'])} flows {queue['direction']}: load {queue['rho']:.4g}, "
        f"{count_text(round(queue['mean_bytes']))} bytes on the wire in the mean, CoV {queue['cov']:.3g}; {path}"
    )
    return (told, *queue["notes"])


def _lines(summary: Summary) -> list[tuple[str, ...]]:
    lines = []
    for label, model in summary["models"].items():
        cells = []
        for name in ("short", "long"):
            cells += [
                time_text(model[name]["simulated_s"]),
                _time(model[name]["model_s"], model[name]["flows"]),
                error_text(model[name]["error"]),
            ]
        errors = [error_text(model["error_median"]), error_text(model["error_p90"], signed=False)]
        lines.append((label, model["policy"], *cells, *errors))
    return lines


def _time(seconds: float | None, flows: int) -> str:
    return "starves" if seconds is None and flows else time_text(seconds)


def error_text(error: float | None, signed: bool = True) -> str:
    """Write a relative error in per cent.

    Examples
    --------
    >>> error_text(-0.0312), error_text(0.25, signed=False), error_text(12.5), error_text(None)
    ('-3.1 %', '25.0 %', '+1,250 %', '–')
    """
    if error is None:
        return MISSING
    sign = ("-" if error < 0 else "+") if signed else ""
    return f"{sign}{100 * abs(error):,.{0 if abs(error) >= 1 else 1}f} %"


SECTION = Section(tables=tables, notes=notes)


Ratio = Literal["short", "long", "utilisation", "queue_mean_packets", "drops", "flows_unfinished"]

_RATIOS: Mapping[Ratio, str] = {
    "short": "short\nflows",
    "long": "long\nflows",
    "utilisation": "link\nuse",
    "queue_mean_packets": "mean\nqueue",
    "drops": "drops",
    "flows_unfinished": "un-\nfinished",
}


def engine_tables(summary: Summary) -> tuple[Table, ...]:
    """What the kernel measured over what the simulator did, a row per discipline; none unless both ran."""
    rows = summary.get("engines")
    if not rows:
        return ()
    cells = [
        (row["label"], *(MISSING if (ratio := row[name]) is None else f"{ratio:.2f}" for name in _RATIOS))
        for row in rows
    ]
    return (Table("Linux over simulator", ("discipline", *_RATIOS.values()), tuple(cells), narrow="fold"),)


ENGINES = Section(tables=engine_tables)
