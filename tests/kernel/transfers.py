"""Short transfers behind a bulk transfer, in the kernel and in the simulator; run as a program, the table of the docs.

The response time of a transfer runs from its SYN to the arrival of its last data. `phase` moves the starts of all short
transfers against the bulk transfer's: runs that differ in nothing else show what chance does.
"""

import statistics
from dataclasses import dataclass
from functools import cache

import guest
import polars as pl

import mayfly

SCENARIO = "linux-short-behind-bulk"
COUNT = 40
PHASES_S = tuple(tenth / 10 for tenth in range(10))
LEAVES = {
    # Discipline here: as tc takes it, and network.buffer here.
    "fifo": ("pfifo limit 100", 100),
    "fq_codel": ("fq_codel", 10240),
}


@dataclass(frozen=True)
class Run:
    """Response times in s in order of starts, None if unfinished; segments each repeated; bulk goodput; drops."""

    times_s: tuple[float | None, ...]
    repeated: tuple[int | None, ...]
    bulk_mbps: float
    drops: int

    def without_loss_s(self) -> list[float]:
        """Times of the transfers that repeated nothing."""
        return [time for time, repeated in zip(self.times_s, self.repeated, strict=True) if repeated == 0]


@cache
def in_kernel(discipline: str, phase_s: float, congestion: str = "cubic") -> Run:
    scenario = mayfly.load_scenario(SCENARIO)
    batch = scenario.workload.batch[0]
    end = scenario.duration + phase_s
    starts = [batch.start + phase_s + batch.every * k for k in range(int(scenario.duration - batch.start))]
    settings = {
        "rate_bps": scenario.network.rate,
        "delay_s": scenario.network.delay,
        "leaf": LEAVES[discipline][0],
        # Without it a connection starts from what earlier ones to the same host left behind.
        "sysctl": {"net.ipv4.tcp_no_metrics_save": "1"},
        "cubic": {},
        "congestion": congestion,
        "bulk_congestion": congestion,
        "size_bytes": batch.size[0],
        "starts_s": starts,
        "duration_s": end,
        "look_s": 1.0,
        "capture": False,
    }
    result = guest.run("transfers.py", settings)
    rows = result["transfers"][:COUNT]
    times = tuple(None if row["finish_s"] is None else row["finish_s"] - row["start_s"] for row in rows)
    repeated = tuple(row["total_retrans"] for row in rows)
    _, received = result["progress"][-1]
    return Run(times, repeated, received * 8e-6 / end, result["leaf"]["drops"])


@cache
def here(discipline: str, phase_s: float, congestion: str = "cubic") -> Run:
    given = mayfly.load_scenario(SCENARIO)
    batch = given.workload.batch[0]
    end = given.duration + phase_s
    changes = {"network.buffer": LEAVES[discipline][1], "duration": end, "tcp.congestion": congestion}
    scenario = mayfly.load_scenario(SCENARIO, changes)
    moved = batch.model_copy(update={"start": batch.start + phase_s})
    workload = scenario.workload.model_copy(update={"batch": (moved,)})
    result = mayfly.run(scenario.model_copy(update={"workload": workload}), discipline)
    short = result.records.filter(pl.col("group") == "short").sort("start_s").head(COUNT)
    bulk = result.records.filter(pl.col("group") == "bulk")
    row = result.summary["disciplines"][0]
    times, repeated = tuple(short["response_time_s"]), tuple(short["retransmits"])
    return Run(times, repeated, bulk["delivered_bytes"][0] * 8e-6 / end, row["drops"])


def table() -> str:
    """Means over all phases, Markdown."""
    lines = [
        "| discipline | | mean, ms | median | worst | without loss | their mean, ms | bulk, Mb/s | drops a run |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for discipline in LEAVES:
        for place, measured in (("kernel", in_kernel), ("Mayfly", here)):
            runs = [measured(discipline, phase) for phase in PHASES_S]
            times = [1e3 * time for run in runs for time in run.times_s if time is not None]
            smooth = [1e3 * time for run in runs for time in run.without_loss_s()]
            missing = COUNT * len(runs) - len(times)
            lines.append(
                f"| `{discipline}` | {place} | {statistics.mean(times):.1f} | {statistics.median(times):.1f} | "
                f"{max(times):.1f} | {len(smooth) / len(times):.0%} | {statistics.mean(smooth):.1f} | "
                f"{statistics.mean(run.bulk_mbps for run in runs):.3f} | "
                f"{statistics.mean(run.drops for run in runs):.0f} |" + (f" {missing} unfinished" if missing else "")
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
