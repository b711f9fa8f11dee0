"""Samples that an estimator of non-responsive traffic reads: the mean queue, and who does not respond."""

import polars as pl
import pytest

from mayfly import MayflyError, load_scenario, run

MICE = {"sources": 20, "size": 10, "period": "1s", "group": "stf"}
SETTINGS = {"duration": "5s", "warm_up": "1s", "sample_interval": "33ms", "workload.short_term": [MICE]}


def _sums(records):
    return records.group_by("group").agg(pl.col("packets_sent").sum()).to_dicts()


def samples(**more):
    return run(load_scenario("red-ns2", SETTINGS | more), "fifo")


def test_datagrams_are_told_apart_and_groups_beside_them_when_named():
    plain, named = samples(), samples(nonresponsive=["stf"])
    sent = {row["group"]: row["packets_sent"] for row in _sums(plain.records)}
    # Packets of the last samples are on their way.
    assert plain.samples["nonresponsive_arrivals"].sum() == pytest.approx(sent["ltnrf"], abs=200)
    assert named.samples["nonresponsive_arrivals"].sum() == pytest.approx(sent["ltnrf"] + sent["stf"], abs=300)
    assert named.samples.drop("nonresponsive_arrivals", "nonresponsive_drops").equals(
        plain.samples.drop("nonresponsive_arrivals", "nonresponsive_drops")
    )


def test_parts_are_within_the_whole():
    found = samples().samples
    for name in ("arrivals", "drops"):
        assert (found[f"nonresponsive_{name}"] <= found[name]).all()
    assert found["drops"].sum() > found["nonresponsive_drops"].sum() > 0


def test_the_mean_queue_of_samples_is_that_of_the_run():
    found = samples(warm_up="0s", duration="3.3s")
    mean = found.summary["disciplines"][0]["queue_mean_packets"]
    assert found.samples["queue_mean_packets"].mean() == pytest.approx(mean, rel=1e-9)


def test_an_unknown_group_is_refused_with_those_there_are():
    with pytest.raises(
        MayflyError, match="nonresponsive = 'mice': must be a group of the flows; groups are ltnrf, ltrf, stf"
    ):
        samples(nonresponsive=["mice"])
