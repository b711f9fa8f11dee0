"""Numbers of one run that the claims of Rai 2003 need; what starts in the first 2000 s does not count (4.1)."""

import numpy as np
import polars as pl

from mayfly.arrays import number
from mayfly.metrics import active_flows, blocks_in_time, deadline_misses, jitter, per_interval
from mayfly.metrics.loss import loss_rate, lossy_share_up_to
from mayfly.metrics.transmission import transmission_time
from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Measures, or_nan

WARM_UP_S = 2000.0
END_S = 12_000.0
INTERVAL_S = 100.0
"""Of Fig. 8b and 11 to 14."""

MEAN_DELAY_S = 0.5
"""Average transmission time in the deadline of 5.3.A."""

PAGE_PACKETS = 36
"""Three objects of 12 packets (4.2)."""

SHORT_PACKETS = 10
LARGE_PACKETS = 100
"""More than 80 % of the flows are below the first, less than 1 % above the second (4.1)."""


def counted(run: RunResult) -> pl.DataFrame:
    """Objects that start after the warm-up, with their transmission time."""
    web = (pl.col("group") == "web") & (pl.col("start_s") >= WARM_UP_S)
    return run.records.filter(web).with_columns(transmission_s=transmission_time())


def web(run: RunResult) -> Measures:
    """Sizes, transmission times, active flows and losses of the web flows (4.1 to 4.4, Fig. 6 to 10).

    Parameters
    ----------
    run : RunResult
        Web sessions in a group ``web``.

    Returns
    -------
    dict of float
        Times in s, shares, counts of flows.
    """
    flows = counted(run)
    return sizes(flows) | times(flows) | losses(flows) | populations(run)


def sizes(flows: pl.DataFrame) -> Measures:
    """Distribution of flow sizes (Fig. 6)."""
    size = flows["size_packets"].sort(descending=True).to_numpy()
    largest = size[: round(0.05 * size.size)]
    return {
        "below_10": float((size < SHORT_PACKETS).mean()),
        "above_100": float((size > LARGE_PACKETS).mean()),
        "mass_of_5_percent": float(largest.sum() / size.sum()),
    }


def times(flows: pl.DataFrame) -> Measures:
    """Mean transmission times by size (Fig. 7)."""
    size = pl.col("size_packets")
    near = size.is_between(PAGE_PACKETS - 6, PAGE_PACKETS + 6)
    ranges = {"short": size < SHORT_PACKETS, "page": near, "large": size > LARGE_PACKETS}
    found = {f"{name}_s": or_nan(flows.filter(chosen)["transmission_s"].mean()) for name, chosen in ranges.items()}
    # Sizes beyond the 99th percentile have too few flows each: their class is the percentile of 4.2.
    return found | {"below_p99_s": or_nan(flows.filter(size <= size.quantile(0.99))["transmission_s"].mean())}


def losses(flows: pl.DataFrame) -> Measures:
    """Losses by size (4.4, Fig. 9 and 10)."""
    one, large = flows.filter(pl.col("size_packets") == 1), flows.filter(pl.col("size_packets") > LARGE_PACKETS)
    few = flows.filter(pl.col("size_packets") < SHORT_PACKETS)
    return {
        "loss": or_nan(loss_rate(flows)),
        "lossy": float((flows["drops"] > 0).sum()),
        "lossy_one": float((one["drops"] > 0).sum()),
        **{f"lossy_below_{size}": or_nan(lossy_share_up_to(flows, size - 1)) for size in (2, 3, 10)},
        "one_with_loss": or_nan((one["drops"] > 0).mean()),
        "large_loss": or_nan(loss_rate(large)),
        "few_loss": or_nan(loss_rate(few)),
    }


def populations(run: RunResult) -> Measures:
    """Active web flows (4.3, Fig. 8)."""
    web = run.records.filter(pl.col("group") == "web")
    table = active_flows(web, END_S, INTERVAL_S, WARM_UP_S)
    return {"active_mean": or_nan(table["mean"].mean()), "active_max": or_nan(table["max"].mean())}


def ftp(run: RunResult) -> Measures:
    """Timeouts and packets of the long FTP flow in intervals of 100 s (5.1 and 5.2, Fig. 11 to 14).

    Parameters
    ----------
    run : RunResult
        With one traced flow.

    Returns
    -------
    dict of float
        Means per interval of ``received`` packets and ``timeouts``; ``silent``, the share of the intervals in which
        nothing arrived; ``early`` and ``late``, the means received before and after the middle.
    """
    table = per_interval(run.packets, run.timeouts, END_S, INTERVAL_S, WARM_UP_S)
    received = table["received"].to_numpy()
    early, late = np.array_split(received, 2)
    return {
        "received": float(received.mean()),
        "timeouts": table["timeouts"].mean(),
        "silent": float((received == 0).mean()),
        "early": float(early.mean()),
        "late": float(late.mean()),
        "utilisation": run.counters["utilisation"],
    }


def udp(run: RunResult) -> Measures:
    """Jitter, blocks in time and loss of the UDP flow (5.3, Fig. 15 and 16).

    Parameters
    ----------
    run : RunResult
        With one traced UDP flow.

    Returns
    -------
    dict of float
        ``jitter_s`` averaged over groups of 100 packets; ``in_time_3`` and ``in_time_4``, the share of the blocks of 20
        in time with a playout buffer of so many seconds; ``loss``, and ``worst``, the most lost of 100 packets; of the
        web flows beside it ``tcp_loss`` and mean transmission times.
    """
    web = counted(run)
    groups = jitter(run.packets, 100)
    found = {
        f"in_time_{playout_s}": or_nan(blocks_in_time(deadline_misses(run.packets, playout_s, MEAN_DELAY_S)))
        for playout_s in (1, 3, 4)
    }
    lost = run.packets["dropped_s"].count()
    return found | {
        "jitter_s": or_nan(groups["jitter_s"].mean()),
        "loss": lost / run.packets.height,
        "worst": float(number(groups["lost"].max())),
        "mean_delay_s": or_nan((run.packets["received_s"] - run.packets["sent_s"]).mean()),
        "tcp_loss": or_nan(loss_rate(web)),
        **times(web),
    }


def departures(run: RunResult) -> Measures:
    """When the packets of flows of 100 packets, and of a very large one, leave the queue (3.2, Fig. 4).

    Parameters
    ----------
    run : RunResult
        With traced groups ``hundred`` and ``large``.

    Returns
    -------
    dict of float
        Mean times from the first departure of a flow to that of its packets 50 and 100, s; for the large flow at packet
        500, 1000, 2000, 4000 and 8000.
    """
    first = run.packets.filter(pl.col("number") > 0).group_by("flow_id", "number").agg(pl.col("departed_s").min())
    since = first.with_columns(since_s=pl.col("departed_s") - pl.col("departed_s").min().over("flow_id"))
    group = run.records.select("flow_id", "group")
    table = since.join(group, on="flow_id").group_by("group", "number").agg(pl.col("since_s").mean())
    at = {(name, number): value for name, number, value in table.rows()}
    hundred = {f"hundred_{number}_s": at["hundred", number] for number in (25, 50, 100)}
    return hundred | {f"large_{number}_s": at["large", number] for number in (500, 1000, 2000, 4000, 8000)}
