"""Agreement with ns-3.37 in a wireless cell: endless transfers, and the mixed workload on its own list of flows.

A run starts 1 s after the reference's, whose stations associate first: its [11, T] s are our [10, T - 1] s.
"""

import math
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import mayfly
from mayfly.metrics.size_classes import classes

NS3 = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns3"
MORE = Path(__file__).with_name("ns3_wlan_more.csv")
"""Runs of the reference's driver with other buffers and seeds, with its columns."""
MIXED_MORE = Path(__file__).with_name("ns3_wlan_mixed_more.csv")
"""Means of the classes in a run of the reference's mixed workload with another seed."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not NS3.exists(), reason="needs the ns-3 results in ../shared/reference/ns3"),
]

SEEDS = 30
RATES = {"11a": "54mbit", "11b": "11mbit"}
# Ad hoc, the reference acknowledges at the rate of the data in 802.11b.
ACK_RATES = {("11b", "adhoc"): "11mbit"}
MIXED_SEEDS = range(1, 17)
# Round trips of 0.86 s next to a timeout of 1 s: ns-3 times every segment, so that its timeouts are shorter.
# Of three runs of ns-3 with 10 packets one loses 18 % of the data, the others 27 and 28 %.
DISAGREE = {
    ("11b", 300): "spurious timeouts of downloads, docs/validation.md",
    ("11a", 10): "data loss in one run of ns-3, docs/validation.md",
}


def reference() -> pl.DataFrame:
    """Endless transfers: means over the seeds, and the shares lost at the access point."""
    if not NS3.exists():
        return pl.DataFrame()
    files = [pl.read_csv(file, infer_schema_length=None) for file in (NS3 / "wlan_longlived.csv", MORE)]
    runs = pl.concat(files, how="vertical_relaxed").filter(pl.col("mode") == "long")
    keys = ["std", "bss", "n_up", "n_down", "buffer_pkts", "sim_s"]
    shares = {f"{kind}_loss": pl.col(f"ap_drop_{kind}") / pl.col(f"ap_in_{kind}") for kind in ("data", "ack")}
    named = {"up": pl.col("up_mbps"), "down": pl.col("down_mbps")} | shares
    return runs.group_by(keys, maintain_order=True).agg(**{name: value.mean() for name, value in named.items()})


def rows(single: bool) -> list:
    """Parameters of the tests: rows of the reference with one transfer, or with several."""
    found = [row for row in reference().iter_rows(named=True) if (row["n_up"] + row["n_down"] == 1) == single]
    return [pytest.param(row, id="-".join(map(str, list(row.values())[:5])), marks=known(row)) for row in found]


def known(row: dict) -> list:
    reason = DISAGREE.get((row["std"], row["buffer_pkts"])) if row["n_up"] + row["n_down"] == 10 else None
    return [] if reason is None else [pytest.mark.xfail(reason=reason)]


def settings(row: dict) -> dict:
    permanent = [
        {"flows": row[f"n_{way}"], "users": row[f"n_{way}"], "spread": "100ms", "group": way, "direction": way}
        for way in ("down", "up")
        if row[f"n_{way}"]
    ]
    given = {
        "duration": f"{row['sim_s'] - 1:g}s",
        "network.buffer": row["buffer_pkts"],
        "network.wlan.standard": f"802.{row['std']}",
        "network.wlan.rate": RATES[row["std"]],
        "workload.permanent": permanent,
    }
    ack_rate = ACK_RATES.get((row["std"], row["bss"]))
    return given | ({} if ack_rate is None else {"network.wlan.ack_rate": ack_rate})


def ours(row: dict, seeds: int) -> dict[str, float]:
    """As a row of the reference: payload after the warm-up, losses from the beginning."""
    # Single transfers of 31 s have a warm-up of 2 s in the reference.
    warm_up = 2 if row["sim_s"] == 31 else 10
    found = {}
    for begin_s in (0, warm_up):
        more = {"warm_up": f"{begin_s}s", "replications": seeds}
        result = mayfly.run(mayfly.load_scenario("wlan-ns3", settings(row) | more), "fifo")
        cell = result.summary["disciplines"][0]["wlan"]
        found |= {way: cell["goodput_mbps"][way]["mean"] for way in ("down", "up")}
        if not begin_s:
            found |= {f"{name.removesuffix('s')}_loss": cell["access_point"][name]["loss"] for name in ("data", "acks")}
    return found


@pytest.mark.parametrize("row", rows(single=True))
def test_a_transfer_alone_is_as_fast(row):
    found = ours(row, 2)
    way = "up" if row["n_up"] else "down"
    assert found[way] == pytest.approx(row[way], rel=0.01)


@pytest.mark.parametrize("row", rows(single=False))
def test_uploads_and_downloads_share_the_cell_alike(row):
    found = ours(row, SEEDS)
    fair = row["down"] > row["up"] / 2
    assert found["up"] == pytest.approx(row["up"], rel=0.05 if fair else 0.02)
    if fair:
        assert found["down"] == pytest.approx(row["down"], rel=0.05)
    else:
        assert abs(math.log2(found["down"] / row["down"])) < 1
    for kind in ("data_loss", "ack_loss"):
        assert found[kind] == pytest.approx(row[kind], abs=0.03), kind


def mixed_list() -> pl.DataFrame:
    """The reference names the station first, whichever way the data goes; here the sender is ``src``."""
    flows = pl.read_csv(NS3 / "wlan_flows_10M_400s.csv.gz")
    down = pl.col("direction") == "d"
    return flows.with_columns(
        src=pl.when(down).then(pl.format("host {}", "dst")).otherwise(pl.col("src").cast(pl.String)),
        dst=pl.when(down).then(pl.col("src").cast(pl.String)).otherwise(pl.format("host {}", "dst")),
        direction=pl.when(down).then(pl.lit("down")).otherwise(pl.lit("up")),
    )


def class_means(flows: pl.DataFrame) -> dict[tuple[str, str], float]:
    """Mean time to the last payload by direction and class."""
    found = {}
    for way in ("down", "up"):
        own = flows.filter(pl.col("direction") == way)
        classed = own.with_columns(classes(own)).drop_nulls("class").group_by("class").agg(pl.col("time_s").mean())
        found |= {(way, name): mean for name, mean in classed.iter_rows()}
    return found


@cache
def mixed() -> tuple[dict, dict]:
    """Means of the classes over some seeds, ours and those of ns-3."""
    given = mixed_list()
    runs = []
    for seed in MIXED_SEEDS:
        more = {"duration": "400s", "warm_up": "0s", "seed": seed}
        result = mayfly.run(mayfly.load_scenario("wlan-ns3", more), "fifo", given)
        runs.append(class_means(result.records.with_columns(time_s=pl.col("last_data_s") - pl.col("start_s"))))
    theirs = pl.read_csv(NS3 / "wlan_mixed_10M.csv.gz").with_columns(
        time_s=pl.col("finish_data_s") - pl.col("start_s"),
        direction=pl.col("direction").replace_strict({"d": "down", "u": "up"}),
        protocol=pl.lit("tcp"),
        size_bytes=pl.col("size_packets") * 1460,
        finish_s=pl.when(pl.col("finish_data_s") > 0).then(pl.col("finish_data_s")),
    )
    all_theirs = [class_means(theirs)]
    for _, other in pl.read_csv(MIXED_MORE).group_by("seed"):
        all_theirs.append({(way, name): mean for way, name, _, mean in other.iter_rows()})
    return mean_of(runs), mean_of(all_theirs)


def mean_of(runs: list[dict]) -> dict:
    return {key: sum(run[key] for run in runs) / len(runs) for key in runs[0]}


@pytest.mark.parametrize("way", ["down", "up"])
@pytest.mark.parametrize("name", ["short", "long"])
def test_classes_of_the_mixed_workload_take_as_long(way, name):
    found, theirs = mixed()
    assert found[way, name] == pytest.approx(theirs[way, name], rel=0.1)
