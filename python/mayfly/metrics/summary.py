"""One discipline in figures: its row of ``summary.json``."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from mayfly.errors import MayflyError
from mayfly.metrics.curves import ENDLESS_BYTES
from mayfly.metrics.intervals import normal_ci95, on_time_scale, student_ci95
from mayfly.metrics.size_classes import classes, completed_tcp

COUNTERS = (
    "drops",
    "utilisation",
    "queue_mean_packets",
    "flow_table_mean",
    "flow_table_max",
    "flow_table_bytes",
    "cpu_s",
    "packet_hops",
    "throughput_down_mbps",
    "throughput_up_mbps",
    "udp_packets",
    "udp_lost",
    "marks",
)


def summarise(records: pl.DataFrame, counters: Sequence[Mapping[str, Any]], label: str | None = None) -> dict[str, Any]:
    """Row of ``disciplines`` in ``summary.json`` for one discipline (docs/tables.md).

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of one discipline, all replications.
    counters : sequence of mapping, shape ``(n_replications,)``
        In order of replication, each with the keys of `COUNTERS`; a value the run cannot give is None.
    label : str, optional
        Label of the run; the records' ``discipline`` when None.

    Returns
    -------
    dict
        Counts, drops, marks, seconds of processor and packet hops are sums over the replications; utilisation, queue,
        mean flow table and throughput are means; the largest flow table and its memory are the largest of all.

    Raises
    ------
    MayflyError
        No counters, a missing counter, records of several disciplines, no label, or a replication without counters.

    Notes
    -----
    Classes are taken in each replication. The interval of a class mean is normal over flows with one replication (Chen
    2012, Table 4.2), Student's t over the replications' means with two or more; the mean is then the mean of those
    means.
    """
    label = _one_label(records, label)
    _check_counters(records, counters)
    unfinished = records.filter(pl.col("finish_s").is_null())
    # What never ends is not late, and its size is no amount of data.
    sized = unfinished.filter(pl.col("size_bytes") < ENDLESS_BYTES)
    packets, lost = _total(counters, "udp_packets"), _total(counters, "udp_lost")
    identity, options = split_label(label)
    classed = records.with_columns(classes(records))
    return {
        "id": identity,
        "label": label,
        "options": options,
        "short": class_row(classed, "short", len(counters)),
        "long": class_row(classed, "long", len(counters)),
        "flows_completed": records.height - unfinished.height,
        "flows_unfinished": unfinished.height,
        "flows_endless": unfinished.height - sized.height,
        "unfinished_bytes": int(sized["size_bytes"].sum()),
        "unfinished_delivered_bytes": int(unfinished["delivered_bytes"].sum()),
        "utilisation": _mean(counters, "utilisation"),
        "drops": _total(counters, "drops"),
        "marks": _total(counters, "marks"),
        "queue_mean_packets": _mean(counters, "queue_mean_packets"),
        "flow_table": {
            "mean": _mean(counters, "flow_table_mean"),
            "max": max(_known(counters, "flow_table_max"), default=None),
            "bytes": max(_known(counters, "flow_table_bytes"), default=None),
        },
        "throughput_mbps": {
            "down": _mean(counters, "throughput_down_mbps"),
            "up": _mean(counters, "throughput_up_mbps"),
        },
        "udp": {"packets": packets, "lost": lost, "loss": lost / packets if packets and lost is not None else None},
        "cpu_s": _total(counters, "cpu_s"),
        "packet_hops": _total(counters, "packet_hops"),
    }


def split_label(label: str) -> tuple[str, dict[str, int | float | str]]:
    """Id and options of a label.

    Parameters
    ----------
    label : str
        As in ``efd(threshold=40, high=las)``.

    Returns
    -------
    id : str
    options : dict
        Values that read as numbers are numbers.

    Examples
    --------
    >>> split_label("efd(threshold=40, high=las)")
    ('efd', {'threshold': 40, 'high': 'las'})
    """
    identity, _, inside = label.partition("(")
    pairs = (pair.partition("=") for pair in inside.removesuffix(")").split(",") if "=" in pair)
    return identity, {name.strip(): _number_or_word(value.strip()) for name, _, value in pairs}


def _number_or_word(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _one_label(records: pl.DataFrame, label: str | None) -> str:
    found = records["discipline"].unique().sort().to_list() if "discipline" in records.columns else []
    if len(found) > 1:
        raise MayflyError(f"records of {len(found)} disciplines ({', '.join(found)}): must be of one")
    if label is None and not found:
        raise MayflyError("no label: must be given when the records name no discipline")
    return found[0] if label is None else label


def _check_counters(records: pl.DataFrame, counters: Sequence[Mapping[str, Any]]) -> None:
    if not counters:
        raise MayflyError("0 counters: must be at least 1, one per replication")
    for replication, run in enumerate(counters):
        if missing := [name for name in COUNTERS if name not in run]:
            raise MayflyError(f"counters of replication {replication} lack {', '.join(missing)}")
    numbers = records["replication"].unique().sort().to_list() if records.height else [0]
    if not 0 <= numbers[0] <= numbers[-1] < len(counters):
        raise MayflyError(
            f"replications {numbers[0]} to {numbers[-1]}: must be 0 to {len(counters) - 1}, as there are counters"
        )


def class_row(classed: pl.DataFrame, name: str, replications: int) -> dict[str, Any]:
    """Mean response time of one class.

    Parameters
    ----------
    classed : polars.DataFrame
        Flow records of one discipline with ``class`` (:func:`mayfly.metrics.size_classes.classes`).
    name : str
        ``short`` or ``long``.
    replications : int
        Number of runs.

    Returns
    -------
    dict
        ``mean_s``, ``ci95``, ``flows`` and ``mean_size_packets``; intervals as :func:`summarise` says.
    """
    names = {"class", "replication", "protocol", "finish_s", "response_time_s", "size_packets"} & {*classed.columns}
    flows = classed.select(*names).filter((pl.col("class") == name) & completed_tcp())
    if replications == 1:
        values, sizes, interval = flows["response_time_s"], flows["size_packets"], normal_ci95
    else:
        means = flows.group_by("replication", maintain_order=True).agg(
            pl.col("response_time_s").mean(), pl.col("size_packets").mean()
        )
        values, sizes, interval = means["response_time_s"], means["size_packets"], student_ci95
    ends = interval(values.to_numpy())
    return {
        "mean_s": values.mean(),
        "ci95": on_time_scale(ends),
        "flows": flows.height,
        "mean_size_packets": sizes.mean(),
    }


def _known(counters: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [run[name] for run in counters if run[name] is not None]


def _mean(counters: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = _known(counters, name)
    return sum(values) / len(values) if values else None


def _total(counters: Sequence[Mapping[str, Any]], name: str) -> int | float | None:
    values = _known(counters, name)
    return sum(values) if values else None
