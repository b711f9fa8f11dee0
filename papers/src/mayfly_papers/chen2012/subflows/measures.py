"""Numbers of one run of EFD that the claims of Chen 2012, 5.1 and 5.3, need: sub-flows, flows, arrivals and models."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.ndimage import median_filter

from mayfly.arrays import number
from mayfly.laws.interarrival import fits
from mayfly.metrics.size_classes import completed_tcp
from mayfly.models.efd.cuts import Cuts
from mayfly.models.efd.flights import Flights
from mayfly.models.efd.subflow_law import FlowPackets, Splitting, SubflowLaw, measured_shares
from mayfly.models.efd.subflow_table import arrival_gaps, data_packets, flow_times
from mayfly.models.efd.variants import EfdModel
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Measures, or_nan

WARM_UP_S = 100.0
"""Data is collected from then on (Chen 2012, 5.2.2)."""

DURATION_S = 5000.0
"""Of a run (Chen 2012, 5.2.2)."""

RATE_BPS = 10e6
PACKET_S = 1500 * 8 / RATE_BPS

THRESHOLD = 20
"""``th`` in MSS (Chen 2012, 5.1)."""

SIZES = {"upto_th": (1, 20), "above_th": (21, 29), "short": (1, 29), "medium": (30, 299), "long": (300, 999)}
"""Ranges of flow size in MSS, both ends included."""

WINDOW = 11
"""Neighbouring sizes of the median filter; Chen 2012 does not give its bin."""


def variant(run: RunResult) -> Measures:
    """Measures of a variant of EFD.

    Parameters
    ----------
    run : RunResult
        With sub-flows.

    Returns
    -------
    dict of float
        Times in s, shares, coefficients of variation, distances.
    """
    subflows = run.subflows.filter(pl.col("queued_s") >= WARM_UP_S)
    records = run.records.filter(pl.col("start_s") >= WARM_UP_S)
    return laws(subflows, records) | flow_curves(subflows, records) | arrivals(subflows) | models(run, subflows)


def laws(subflows: pl.DataFrame, records: pl.DataFrame) -> Measures:
    """Sizes of flows and of sub-flows in each queue (Fig. 5.2, 5.12a): their packets with data, where they have any."""
    size = pl.col("high_packets") + pl.col("low_packets")
    found = {
        "small": float((data_packets(subflows) <= 3).mean()),
        "small_with_control": subflows.select((size <= 3).mean()).item(),
    }
    of = {
        "flows": records["size_packets"].to_numpy(),
        "all": data_packets(subflows),
        "high": subflows["high_data_packets"].to_numpy(),
        "low": subflows["low_data_packets"].to_numpy(),
    }
    for name, sizes in of.items():
        own = sizes[sizes > 0]
        found |= {f"cov_{name}": float(own.std() / own.mean()), f"tail_{name}": tail(own)}
    return found


def tail(sizes: np.ndarray) -> float:
    """Share of all packets that the largest 1 % carry: what the mass-weighted distribution shows."""
    ordered = np.sort(sizes)
    return float(ordered[-max(len(ordered) // 100, 1) :].sum() / ordered.sum())


def flow_curves(subflows: pl.DataFrame, records: pl.DataFrame) -> Measures:
    """Response, total and queueing times by size of flow (Fig. 5.11, 5.13, 5.14)."""
    done = records.filter(completed_tcp())
    flows = done.join(flow_times(subflows, RATE_BPS), on="flow_id").with_columns(
        ratio=pl.col("total_s") / pl.col("queueing_s")
    )
    found: Measures = {}
    for name in ("response_time_s", "total_s", "queueing_s"):
        for kind, (sizes, times) in curves(flows, name).items():
            found |= {f"{part}_{name}_{kind}": level(sizes, times, part) for part in SIZES}
    for part in SIZES:
        found[f"{part}_ratio"] = or_nan(flows.filter(pl.col("size_packets").is_between(*SIZES[part]))["ratio"].mean())
    return found


def curves(flows: pl.DataFrame, name: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Sizes and mean times: ``raw``, of all flows of a size, and ``filtered``, smoothed by the median filter."""
    means = flows.group_by("size_packets").agg(pl.col(name).mean()).sort("size_packets")
    sizes, raw = means["size_packets"].to_numpy(), means[name].to_numpy()
    return {"raw": (sizes, raw), "filtered": (sizes, median_filter(raw, size=WINDOW, mode="reflect"))}


def level(sizes: np.ndarray, times: np.ndarray, part: str) -> float:
    """Geometric mean of a curve over a range of sizes: each size counts once, as it does for the eye."""
    least, most = SIZES[part]
    return float(np.exp(np.log(times[(sizes >= least) & (sizes <= most)]).mean()))


def arrivals(subflows: pl.DataFrame) -> Measures:
    """Kolmogorov distances of the laws of the times between arrivals, the mean held as measured (Fig. 5.15)."""
    found: Measures = {}
    for which, own in (("all", subflows), ("data", subflows.filter(pl.col("high_data_packets") > 0))):
        gaps, _ = arrival_gaps(own)
        found |= {f"ks_{fit.law}_{fit.by}_{which}": fit.ks for fit in fits(gaps)}
        found[f"cov_gaps_{which}"] = float(gaps.std() / gaps.mean())
    return found


@dataclass(frozen=True, eq=False)
class AsMeasured:
    """Sub-flows of a law as they are: flows are not cut, only the queue is modelled (Fig. 5.12)."""

    shares: np.ndarray

    def counts(self, flows: FlowPackets) -> np.ndarray:
        """As many of each as carry the packets of the flows."""
        return self.shares * (flows.mean / SubflowLaw(self.shares).packets)

    def totals(self, cost: np.ndarray) -> np.ndarray:
        """Of a flow that is one sub-flow."""
        return cost


def models(run: RunResult, subflows: pl.DataFrame) -> Measures:
    """What the models say of sub-flows and flows up to the threshold (Fig. 5.12, 5.16, 5.17), s and shares.

    Notes
    -----
    The input is the workload that was drawn (Chen 2012, 5.2.2): sizes of its flows, and the load of their full packets.
    """
    sizes = run.records["size_packets"].to_numpy()
    flows = FlowPackets(np.bincount(sizes)[1:] / len(sizes))
    rho = float(sizes.sum()) * PACKET_S / DURATION_S
    measured = measured_shares(data_packets(subflows))
    name = named(run)
    least = int(sizes.min())
    found: Measures = {}
    guesses: dict[str, Splitting] = {
        "flights": Flights(),
        "cuts": Cuts(measured),
        "measured": AsMeasured(measured),
    }
    for guess, splitting in guesses.items():
        model = EfdModel(flows, rho, THRESHOLD, splitting)
        times = model.subflow_response(name, np.arange(1, THRESHOLD + 1)) * PACKET_S
        found |= {
            f"{guess}_small": model.subflows.upto(3),
            f"{guess}_cov_high": model.subflows.high(THRESHOLD).cov,
            f"{guess}_distance": distance(model.subflows.shares, measured),
            f"{guess}_subflow_s": float(np.exp(np.log(times).mean())),
        }
        if guess == "measured":
            continue
        at = np.arange(least, THRESHOLD + 1)
        for kind, control in (("control", True), ("bare", False)):
            times = model.flow_response(name, at, control=control) * PACKET_S
            found[f"{guess}_{kind}_s"] = float(np.exp(np.log(times).mean()))
    return found | {"subflow_s": subflow_level(subflows)}


def subflow_level(subflows: pl.DataFrame) -> float:
    """Geometric mean over sizes up to the threshold of the time that sub-flows with so much data are in the queue, s.

    Notes
    -----
    Control packets in a sub-flow do not count: one that came alone did so because the link was free.
    """
    size = pl.col("high_data_packets") + pl.col("low_data_packets")
    sent = pl.col("left_s") + pl.col("last_wire_bytes") * (8 / RATE_BPS) - pl.col("queued_s")
    own = subflows.filter(pl.col("left_s").is_not_null(), size.is_between(1, THRESHOLD))
    return float(np.exp(number(own.group_by(size.alias("size")).agg(sent.mean().alias("time"))["time"].log().mean())))


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Largest distance between the distribution functions of two laws of whole sizes.

    Examples
    --------
    >>> distance(np.array([1.0]), np.array([0.5, 0.5]))
    0.5
    """
    length = max(len(one), len(other))
    padded = (np.r_[shares, np.zeros(length - len(shares))] for shares in (one, other))
    return float(np.abs(np.subtract(*map(np.cumsum, padded))).max())


def named(run: RunResult) -> str:
    """High queue + low queue of a run."""
    options = dict(run.discipline.native[1])
    return f"{options.get('high', 'fifo')}+{options.get('low', 'fifo')}"
