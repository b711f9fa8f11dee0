"""Numbers of one run that Chen 2012, 5.2.2 needs: models of the M/G/1 queue beside the packets, by size of flow."""

from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import number
from mayfly.laws.service import Discrete
from mayfly.laws.service_spec import service_law
from mayfly.metrics.size_classes import completed_tcp
from mayfly.models.queue.flow_records import Link, beside, by_class, by_size, errors, replayed
from mayfly.models.queue.mg1 import MG1
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Measures, or_nan

RATE_BPS = 10_000_000
WARM_UP_S = 100.0
HIGH_PACKETS = 21
"""Packets of a flow that are high under Run2C: fewer than 30 000 bytes of payload came before them."""

WINDOW = 21
"""Neighbouring sizes of the median filter."""

PARTS = {
    "smallest": (6, 6),
    "few": (7, 10),
    "short": (11, 20),
    "moderate": (21, 100),
    "medium": (101, 400),
    "long": (401, 1000),
    "longest": (1001, None),
}
"""Ranges of flow size, MSS, both ends included."""

MODELS = {"fifo": ("fifo", "ps"), "scfq": ("ps",), "las": ("las",), "run2c": ("run2c",)}
"""Policies drawn beside each discipline."""


def part_text(name: str) -> str:
    """A range of sizes in words.

    Examples
    --------
    >>> part_text("smallest"), part_text("few"), part_text("longest")
    ('6 MSS', '7 to 10 MSS', 'above 1000 MSS')
    """
    low, high = PARTS[name]
    return f"{low} MSS" if low == high else f"above {low - 1} MSS" if high is None else f"{low} to {high} MSS"


def parameters_of(policy: str, link: Link) -> dict[str, Any]:
    """What a policy takes, in bytes on the wire."""
    return {"threshold": link.wire_bytes(HIGH_PACKETS)} if policy == "run2c" else {}


def link_of(run: RunResult, control_packets: int = 4) -> Link:
    """The bottleneck of a run."""
    return Link(RATE_BPS, run.counters["end_ns"] * 1e-9, warm_up_s=WARM_UP_S, control_packets=control_packets)


@cache
def nominal_law(link: Link) -> Discrete:
    """The law of the workload, bytes on the wire."""
    law = service_law("zipf:min=6,mean=40,cov=6")
    assert isinstance(law, Discrete), law
    return Discrete(link.wire_bytes(law.values), law.shares)


def beside_models(run: RunResult, control_packets: int = 4) -> Measures:
    """All of it.

    Parameters
    ----------
    run : RunResult
        Of a discipline of `MODELS`.
    control_packets : int
        Packets of set-up and tear-down of a flow on the link.

    Returns
    -------
    dict of float
        For each part: ``short_s``, the simulated mean. For each model and part: ``ps_short``, model over simulated,
        the model told of the flows of the run; ``ps_nominal_short``, told of the law; ``ps_path_short``, with what
        the flow takes alone beyond its bytes on the link; ``ps_jobs_short``, the same flows as jobs over simulated.
        ``ps_raw_median_short`` and ``ps_raw_p90_short``: error over the exact sizes of the part, with its sign, and
        the 90 % quantile of its magnitude; ``ps_filtered_median_short`` and so on, of the means that passed the
        median filter; ``all`` for ``short``, all sizes. ``scatter``, ``lost_short``, ``lost_long`` and ``loss``, see
        :func:`losses_and_scatter`.
    """
    link = link_of(run, control_packets)
    queue = link.queue(run.records)
    laws = {"": queue, "nominal_": MG1(nominal_law(link), round(queue.rho, 2))}
    found: Measures = {"rho": queue.rho}
    for policy in MODELS[run.discipline.id]:
        for told, known in laws.items():
            flows = beside(run.records, policy, link, queue=known, **parameters_of(policy, link))
            for name, part in parts_of(flows):
                table = by_class(part, link, [1])
                found[f"{name}_s"] = table["simulated_mean_s"][0]
                found[f"{policy}_{told}{name}"] = 1 + table["error"][0]
            if not told:
                found |= figure_errors(policy, by_size(flows, WINDOW))
        with_path = beside(run.records, policy, link, queue=queue, path=True, **parameters_of(policy, link))
        for name, part in parts_of(with_path):
            found[f"{policy}_path_{name}"] = 1 + by_class(part, link, [1])["error"][0]
        for name, part in parts_of(replayed(run.records, policy, link, **parameters_of(policy, link))):
            found[f"{policy}_jobs_{name}"] = number(part["jobs_s"].mean()) / number(part["response_time_s"].mean())
    return found | losses_and_scatter(run, by_size(flows, WINDOW))


def parts_of(table: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Rows of each part that has some, and ``all``."""
    size = pl.col("size_packets")
    found = [("all", table)]
    for name, (low, high) in PARTS.items():
        part = table.filter((size >= low) & (size <= high) if high else size >= low)
        found += [(name, part)] if part.height else []
    return found


def figure_errors(policy: str, points: pl.DataFrame) -> Measures:
    """Errors over the points of a figure."""
    found: Measures = {}
    for name, part in parts_of(points):
        for kind, column in (("raw", "simulated_mean_s"), ("filtered", "filtered_s")):
            for figure, value in errors(part, column).items():
                found[f"{policy}_{kind}_{figure}_{name}"] = or_nan(value)
    return found


def losses_and_scatter(run: RunResult, points: pl.DataFrame) -> Measures:
    """Who loses packets, and how far the means of single sizes of long flows lie from their neighbours.

    Returns
    -------
    dict of float
        ``loss``, drops over arrivals at the queue; ``lost_short``, ``lost_long``, drops over packets of the flows up to
        20 and above 400 MSS; ``scatter``, the standard deviation of the logarithm of raw over filtered means above 400
        MSS.
    """
    done = run.records.filter(completed_tcp())
    found = {"loss": run.counters["drops"] / run.counters["arrivals"]}
    for name, chosen in (("short", pl.col("size_packets") <= 20), ("long", pl.col("size_packets") > 400)):
        own = done.filter(chosen)
        found[f"lost_{name}"] = number(own["drops"].sum()) / max(number(own["size_packets"].sum()), 1)
    long = points.filter(pl.col("size_packets") > 400)
    found["scatter"] = float(np.std(np.log((long["simulated_mean_s"] / long["filtered_s"]).to_numpy())))
    return found
