"""Loads of Zhao 2004, III.C, scaled to 12 Mb/s: the same for the kernel (tests/kernel/ponrt.py) and the simulator."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import Scenario
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly.workload.lists import flow_list
from mayfly_papers.declare.declaration import Experiment, Measures
from mayfly_papers.zhao2004.testbed.measures import LOOK_S, Series, judged

RATE_BPS = 12_000_000
PACKET = 1514
"""Bytes on the wire of a full packet, of UDP too."""
DELAY_S = 0.05
"""One way."""
SOURCES = 4
"""UDP sources that share each rate."""
TCP_FLOWS = 4
USERS, THINK_S = 10, 1.0
FILES = ((500, 350), (5_000, 500), (50_000, 140), (500_000, 9), (5_000_000, 1))
"""Sizes in bytes and weights of the files of WebStone 2.5 (III.B)."""
SETTLED_S = 10.0
"""Time after a change from which on the estimate should be right."""

Window = tuple[float, float]


@dataclass(frozen=True)
class Load:
    """One run.

    Parameters
    ----------
    udp : tuple of tuple
        Share of the link's rate, begin and end, s, of UDP at a constant rate.
    duration_s : float
        Of the run.
    web : tuple of float, optional
        When the web users come and go, s.
    windows : dict
        Parts of the run to be judged, s, by name.
    """

    udp: tuple[tuple[float, float, float], ...]
    duration_s: float
    web: Window | None = None
    windows: dict[str, Window] = field(default_factory=dict)

    def rates(self) -> list[list[float]]:
        """Rate, bit/s, begin and end of each UDP source."""
        return [[share * RATE_BPS / SOURCES, begin, end] for share, begin, end in self.udp for _ in range(SOURCES)]

    def cbr_packets(self, time_s: np.ndarray) -> np.ndarray:
        """UDP packets of the estimation intervals that end at some times."""
        sent = np.zeros_like(time_s)
        for rate, begin, end in self.rates():
            sent += np.diff(np.clip([0.0, *time_s], begin, end)) * rate / (8 * PACKET)
        return sent


LOADS = {
    "22-63": Load(((0.65, 0, 180),), 180),
    "22-76": Load(((0.78, 0, 180),), 180),
    "22-87": Load(((0.90, 0, 180),), 180),
    "23": Load(
        ((0.65, 0, 240), (0.25, 100, 170)),
        240,
        windows={"before": (60, 100), "during": (100 + SETTLED_S, 170), "after": (170 + SETTLED_S, 240)},
    ),
    "24": Load(
        ((0.65, 0, 230),),
        230,
        (90, 170),
        {"before": (60, 90), "during": (90 + SETTLED_S, 170), "after": (170 + SETTLED_S, 230)},
    ),
}
"""By figure and, in Figure 22, the load in per cent."""

DISCIPLINE = f"estmred(min_th=15,max_th=45,mean_packet={PACKET},rate={RATE_BPS},rtt=100ms,arithmetic=integers)"
SEEDS = 10


def experiment(name: str) -> Experiment:
    """A load in the simulator."""
    load = LOADS[name]
    rows = [
        {"rate": rate, "packet": PACKET, "start": begin, "stop": end, "spread": "10ms", "users": 1, "group": "ltnrf"}
        for rate, begin, end in load.rates()
    ]
    overrides = {
        "duration": load.duration_s,
        "warm_up": 0.0,
        "sample_interval": LOOK_S,
        "network.rate": RATE_BPS,
        "network.delay": DELAY_S,
        "network.buffer": 60,
        "tcp.preset": "linux-6.1",
        "tcp.congestion": "aimd",
        "tcp.mss": 1448,
        "tcp.header": PACKET - 1460,
        "tcp.receiver_window": 2172,
        "workload.permanent": [{"flows": TCP_FLOWS, "spread": "2s", "users": TCP_FLOWS, "group": "ltrf"}],
        "workload.cbr": rows,
        "nonresponsive": ["web"] if load.web else [],
    }
    flows = with_web(load.web) if load.web else None
    return Experiment(f"testbed-{name}", overrides, (DISCIPLINE,), SEEDS, measure(load), scenario="red", flows=flows)


def measure(load: Load) -> Callable[[RunResult], Measures]:
    """Run to its measures."""
    return lambda run: judged(simulated(run, load), load.windows)


def simulated(run: RunResult, load: Load) -> Series:
    """A run in the simulator by estimation interval, in packets; UDP as sent, web is the rest that does not respond."""
    names = ("time_s", "arrivals", "nonresponsive_arrivals", "nonresponsive_estimate")
    time_s, came, other, estimated = (run.samples[name].cast(float).to_numpy() for name in names)
    cbr = load.cbr_packets(time_s) if load.web else other
    return Series(time_s, came - other, cbr, other - cbr, estimated)


def with_web(window: Window) -> Callable[[Scenario, int], pl.DataFrame]:
    """Flow lists with users who fetch a file, think, and fetch the next.

    Parameters
    ----------
    window : tuple of float
        When they come and go, s.

    Returns
    -------
    callable
        Scenario and replication to the list.
    """

    def drawn(scenario: Scenario, replication: int) -> pl.DataFrame:
        """Long TCP and UDP of the scenario, and ten users who fetch files of WebStone's sizes and think for 1 s."""
        plain = workload(scenario, replication)
        rng = np.random.default_rng([scenario.seed + replication, 24])
        rows = [row for user in range(USERS) for row in fetches(user, window, rng)]
        ends = {name: pl.lit(plain[name].max()) for name in ("src", "dst")}
        web = pl.DataFrame(rows).with_columns(**ends, group=pl.lit("web"))
        both = pl.concat([plain.drop("flow_id"), web], how="diagonal_relaxed")
        flows = flow_list(both.sort("start_s", maintain_order=True), mss=scenario.tcp.mss)
        # What begins after the users have gone changes nothing before: a first run tells what that is.
        records = run_one(scenario, parse(DISCIPLINE), flows, replication).records
        kept = records.filter((pl.col("group") != "web") | (pl.col("start_s") < window[1]))
        return flows.filter(pl.col("flow_id").is_in(kept["flow_id"].implode()))

    return drawn


def fetches(user: int, window: Window, rng: np.random.Generator) -> list[dict]:
    """Fetches of a user: each waits for the one before and a time to think, exponential with a mean of 1 s.

    As many as fit between coming and going if each takes two round trips and its bytes at the rate of the link, which
    is more than do.
    """
    sizes, weights = (np.array(column, float) for column in zip(*FILES, strict=True))
    begin, end = window
    rows: list[dict[str, Any]] = []
    start, clock = begin + rng.uniform(0, 1), 0.0
    while begin + clock < end:
        size = int(rng.choice(sizes, p=weights / weights.sum()))
        stage = 10_000 * user + len(rows)
        rows.append({"start_s": start, "size_bytes": size, "stage": stage, "after": stage - 1 if rows else None})
        start = float(rng.exponential(THINK_S))
        clock += 4 * DELAY_S + 8 * size / RATE_BPS + start
    return rows


EXPERIMENTS = tuple(map(experiment, LOADS))
