"""What a seed draws of the workload of Chen 2012, 4.4.2, and whether one seed can have been the run of the thesis.

The thesis ran once. The classes of Table 4.2 and the table of LAS in Table 4.1 follow from the draw: a transfer stays
in that table from its first packet to the first visit, every 5 s, that finds it idle for 30 s (4.6.1).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.network.registry import network_of
from mayfly.workload.sources.transfers import transfer_flows

IDLE_S, VISIT_S = 30.0, 5.0
DURATION_S = 1000.0


@dataclass(frozen=True)
class Draws:
    """Numbers by seed, each of shape ``(n_seeds,)``.

    Parameters
    ----------
    transfers : ndarray
        That start within the run.
    offered_mbps : ndarray
        Load, bytes of packets with data.
    short_packets, long_packets : ndarray
        Mean sizes of the classes of Table 4.2, MSS: long ones are the largest that together have half of the bytes.
    table : ndarray
        Mean number of entries of LAS, were every transfer over in no time.
    """

    transfers: np.ndarray
    offered_mbps: np.ndarray
    short_packets: np.ndarray
    long_packets: np.ndarray
    table: np.ndarray


@cache
def draws(load_bps: int, seeds: int) -> Draws:
    """What seeds 1, 2, ... draw at a load.

    Parameters
    ----------
    load_bps : int
        Mean load of the scenario ``wired``, bit/s.
    seeds : int
        How many.
    """
    scenario = load_scenario("wired", {"workload.load": load_bps, "duration": f"{DURATION_S:g}s"})
    given, mss, header = scenario.workload, scenario.tcp.mss, scenario.tcp.headers_bytes
    transfers = given.drawn(network_of(scenario).ends(given.from_, given.to))
    found = []
    for seed in range(1, seeds + 1):
        flows = transfer_flows(transfers, DURATION_S, seed, mss, header)
        packets = flows["size_bytes"].to_numpy() // mss
        short, long = class_means(packets)
        table = mean_table(flows["start_s"].to_numpy())
        found.append((packets.size, packets.sum() * (mss + header) * 8e-6 / DURATION_S, short, long, table))
    return Draws(*np.array(found, dtype=float).T)


def class_means(packets: np.ndarray) -> tuple[float, float]:
    """Mean sizes of short and long transfers.

    Examples
    --------
    >>> class_means(np.array([1, 3, 2]))
    (1.5, 3.0)
    """
    ordered = np.sort(packets)[::-1]
    before = np.cumsum(ordered) - ordered
    long = 2 * before < ordered.sum()
    return float(ordered[~long].mean()), float(ordered[long].mean())


def mean_table(starts_s: np.ndarray) -> float:
    """Mean number of entries of LAS over the run, for transfers without duration.

    Examples
    --------
    >>> mean_table(np.array([1.0])) * DURATION_S
    34.0
    """
    leave = np.ceil((starts_s + IDLE_S) / VISIT_S) * VISIT_S
    return float((np.minimum(leave, DURATION_S) - starts_s).sum() / DURATION_S)
