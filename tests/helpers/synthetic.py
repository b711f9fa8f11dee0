"""Plausible tables of a run, made from a seed: the simulator is not needed to test what is written about it."""

import numpy as np
import polars as pl

from mayfly.metrics import answer, summarise

MSS_BYTES = 1460
RATE_BPS = 10e6
COUNTERS = {
    "drops": 613,
    "marks": 0,
    "utilisation": 0.795,
    "queue_mean_packets": 84.7,
    "flow_table_mean": 2.0,
    "flow_table_max": 31,
    "flow_table_bytes": 6416,
    "cpu_s": 0.2,
    "packet_hops": 3_121_357,
    "throughput_down_mbps": 7.9,
    "throughput_up_mbps": 0.1,
    "udp_packets": 0,
    "udp_lost": 0,
}
# What each discipline does to the queueing delay of short flows and to the service of long ones.
LAWS = {
    "fifo": (1.0, 1.0),
    "las": (0.1, 1.12),
    "run2c": (0.2, 1.1),
    "efd": (0.15, 1.07),
    "lars": (0.11, 1.09),
    "scfq": (0.3, 1.05),
    "run2cack": (0.21, 1.1),
    "efdack": (0.16, 1.06),
    "xprotect": (0.25, 1.08),
    "sift": (0.22, 1.1),
}

# A future registry, whoever is in it today; waiting and service of each as above.
FAMILIES = {
    "plain": ["fifo"],
    "size-based": [
        "las",
        "lasack",
        "lars",
        "run2c",
        "run2cack",
        "sift",
        "xprotect",
        "efd",
        "pefd",
        "efdack",
        "srpt",
        "pias",
    ],
    "fair queueing": ["scfq", "drr", "sfq", "fq", "fq_codel", "fq_pie", "cake"],
    "queue management": ["red", "choke", "codel", "pie", "dualpi2", "estmred"],
}
FAMILY = {name: family for family, names in FAMILIES.items() for name in names}
for at, name in enumerate(name for name in FAMILY if name not in LAWS):
    waits = {"size-based": 0.1, "fair queueing": 0.3, "queue management": 0.6}[FAMILY[name]]
    LAWS[name] = (round(waits + 0.02 * at, 2), 1.1)


def flow_records(labels=("fifo", "las", "run2c", "efd"), flows=4000, duration_s=200.0, seed=1):
    """Flow records of one replication: Pareto sizes, Poisson arrivals, response times by discipline."""
    rng = np.random.default_rng(seed)
    size = np.ceil((rng.pareto(1.1, flows) + 1) * 4).clip(1, 9000).astype(np.int64)
    start_s = np.sort(rng.uniform(0, duration_s * 0.98, flows))
    waiting_s, luck = rng.exponential(0.3, flows), rng.random(flows)
    frames = []
    for place, label in enumerate(labels):
        wait, service = LAWS[label.split("(")[0]]
        pace = np.where(size <= 20, wait, service + (wait - service) / (size / 20) ** 0.7)
        time_s = (
            0.01
            + waiting_s * np.maximum(pace, wait)
            + size * 1500 * 8 / RATE_BPS * service * (1 + 0.1 * rng.random(flows))
        )
        finish_s = start_s + time_s
        lost = (luck < 0.004) if place == 0 else (size > np.quantile(size, 0.999))
        done = ~lost & (finish_s <= duration_s)
        delivered = np.where(done, size * MSS_BYTES, (size * MSS_BYTES * rng.random(flows)).astype(np.int64))
        frames.append(
            pl.DataFrame(
                {
                    "flow_id": np.arange(flows),
                    "start_s": start_s,
                    "direction": "down",
                    "protocol": "tcp",
                    "size_bytes": size * MSS_BYTES,
                    "discipline": label,
                    "replication": pl.Series(np.zeros(flows), dtype=pl.Int32),
                    "size_packets": size,
                    "finish_s": pl.Series(np.where(done, finish_s, np.nan)).fill_nan(None),
                    "response_time_s": pl.Series(np.where(done, time_s, np.nan)).fill_nan(None),
                    "delivered_bytes": delivered,
                    "packets_sent": size + 3,
                    "drops": rng.poisson(0.05, flows),
                }
            )
        )
    return pl.concat(frames)


def sample_rows(records, period_s=0.2, duration_s=200.0, seed=2):
    """Make samples of the same runs: a wandering queue, a flow table, and the progress of the three largest flows."""
    rng = np.random.default_rng(seed)
    time_s = np.arange(0.0, duration_s, period_s)
    frames = []
    for label in records["discipline"].unique(maintain_order=True):
        run = records.filter(pl.col("discipline") == label)
        walk = np.abs(np.cumsum(rng.normal(0, 12, time_s.size))) % 300
        backlog = walk.astype(np.int64)
        two = label.startswith(("efd", "run2c"))
        high = np.minimum(rng.poisson(6, time_s.size), backlog)
        table = {"fifo": np.zeros(time_s.size), "las": 390 + walk}.get(label, rng.poisson(2, time_s.size))
        columns = {
            "time_s": time_s,
            "discipline": label,
            "replication": pl.Series(np.zeros(time_s.size), dtype=pl.Int32),
            "backlog_packets": backlog,
            "backlog_bytes": backlog * 1500,
            "high_backlog_packets": pl.Series(high if two else [None] * time_s.size, dtype=pl.Int64),
            "flow_table": np.asarray(table).astype(np.int64),
            "arrivals": rng.poisson(100, time_s.size),
            "drops": rng.poisson(1, time_s.size),
        }
        for rank, flow in enumerate(run.sort("size_bytes", "flow_id", descending=[True, False]).head(3).to_dicts(), 1):
            life_s = (flow["finish_s"] or duration_s) - flow["start_s"]
            done = np.clip((time_s - flow["start_s"]) / life_s, 0, 1)
            steps = np.floor(done * 6) / 6 if label == "las" else done
            columns[f"progress_{rank}_bytes"] = (steps * flow["size_bytes"]).astype(np.int64)
        frames.append(pl.DataFrame(columns))
    return pl.concat(frames)


def summary_of(records, **more):
    """Summarise the records, as ``mayfly compare`` writes it."""
    labels = records["discipline"].unique(maintain_order=True).to_list()
    first = records.filter(pl.col("discipline") == labels[0]) if labels else records
    return {
        "schema": 1,
        "command": "compare",
        "seed": 1,
        "replications": 1,
        "duration_s": 200.0,
        "scenario": {"name": "wired", "network": {"rate": 10_000_000, "buffer": [300, "packets"]}},
        "workload": {
            "flows": first.height,
            "bytes": int(first["size_bytes"].sum()),
            "offered_mbps": 7.9,
            "largest_flows": first.sort("size_bytes", "flow_id", descending=[True, False])["flow_id"].head(3).to_list(),
        },
        "disciplines": [
            {"family": FAMILY.get(label.split("(")[0], "plain")}
            | summarise(records.filter(pl.col("discipline") == label), [COUNTERS])
            for label in labels
        ],
        "answer": answer(records, resamples=200),
    } | more


def with_users(summary, kind="use", unfinished=()):
    """The summary with what users feel, both directions and a recommendation, in the form of docs/tables.md.

    `unfinished` are labels whose long transfers never end.
    """
    rows = []
    for place, row in enumerate(summary["disciplines"]):
        pace = LAWS.get(row["id"].split("(")[0], (0.4, 1.1))[0] if place else 1.0
        short, long, ping = 0.05 + 0.5 * pace, 4.2 + 0.9 * (1 - pace), 8 + 104 * pace
        never = row["label"] in unfinished
        link = {
            "utilisation": 0.795,
            "peak_utilisation": 1.0,
            "drops": 613,
            "marks": 0,
            "queue_mean_packets": 84.7 * pace,
            "queue_delay_mean_s": 0.09 * pace,
            "throughput_mbps": 7.9,
        }
        users = {
            "transfers": {"down": [], "up": [], "all": []},
            "short": {
                "flows": 1200,
                "p50_s": short / 4,
                "p95_s": short,
                "p99_s": 2 * short,
                "p95_ci95": _around(short),
            },
            "long": {"flows": 40, "p50_s": long / 2, "p95_s": None if never else long}
            | {"p95_ci95": None if never else _around(long)},
            "ping": {"probes": 1500, "idle_ms": 6.0, "p50_ms": ping / 3, "p95_ms": ping, "p99_ms": 1.5 * ping}
            | {"mean_ms": ping / 2, "loss": 0.001, "grade": "A" if ping < 30 else "D", "p95_ci95": _around(ping)},
            "call": {"from": "synthetic", "mos": 4.4 - pace, "mos_ci95": _around(4.4 - pace)}
            | {way: {"delay_ms": 12.0, "jitter_ms": 2.0, "loss": 0.0, "mos": 4.4 - pace} for way in ("down", "up")},
            "pages": {"pages": 90, "p50_s": short, "p95_s": 3 * short, "p95_ci95": _around(3 * short)},
            "video": {"streams": 2, "stalls": 3, "stalled_share": 0.02 * pace},
            "downloads": {"flows": 40, "goodput_mbps_p50": 2.1, "goodput_mbps_p5": 0.4},
        }
        where = {"fifo": ["kernel"], "srpt": ["bound"], "efd": ["module", "bpf"]}.get(row["id"], ["simulation"])
        less = {"utilisation": 0.1, "peak_utilisation": 0.4, "drops": 0}
        rows.append(row | {"users": users, "links": {"down": link, "up": link | less}, "runs_on": where})
    best = rows[-1]["label"]
    link = {"rate_bps": 10_000_000, "buffer": [300, "packets"], "offered_mbps": 7.9, "load": 0.79}
    found = {
        "kind": kind,
        "discipline": best if kind == "use" else None,
        "equal": [],
        "runs_on": ["kernel"],
        "gives": ["short transfers 508 to 189 ms", "ping under load 112 to 11 ms"],
        "costs": ["the largest 1 % take 24 % longer [8, 36]"],
        "command": f"mayfly qdisc load eth0 --both-ways --down 9500kbit --up 9500kbit --discipline {best} --buffer 300"
        if kind == "use"
        else None,
        "sentence": f"Use {best}: it is in your kernel. Short transfers take 189 ms instead of 508 ms, a ping under "
        "load 11 ms instead of 112 ms; the largest 1 % take 24 % longer [8, 36]",
        "rule": "docs/choose.md",
    }
    return summary | {
        "disciplines": rows,
        "links": {"busier": "down", "down": link, "up": link | {"offered_mbps": 0.4, "load": 0.04}},
        "transport": {
            "preset": "linux",
            "other": {"preset": "newreno", "sentence": "With newreno the answer is the same."},
        },
        "recommendation": found,
    }


def _around(value):
    return [0.9 * value, 1.12 * value]
