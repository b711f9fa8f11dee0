"""A drawn stream is the list of the same seed; a file is read in batches as it is read at once."""

import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.laws.registry import law_of
from mayfly.laws.sizes import wired
from mayfly.workload import streamed
from mayfly.workload.lists import read_flows, write_flows
from mayfly.workload.mix import synthetic
from mayfly.workload.offering import Part, Transfers
from mayfly.workload.renewal import WeibullGaps

SIDES = {"senders": range(1, 6), "receivers": range(8, 13)}


@pytest.mark.parametrize("exact_load", [False, True])
@pytest.mark.parametrize("up_share", [0.0, 0.3])
@pytest.mark.parametrize("law", [wired(), law_of("lognormal", {"mean": 4.0, "cov": 3.0})])
def test_a_drawn_stream_is_the_list_of_the_same_seed(monkeypatch, law, up_share, exact_load):
    # Batches of a size that divides nothing, so that ends of draws fall into their middle.
    monkeypatch.setattr(streamed, "BATCH", 777)
    for seed in (1, 7):
        transfers = Transfers(law, 8e6, up_share=up_share, exact_load=exact_load)
        parts = list(streamed.drawn(transfers, duration_s=300.0, seed=seed, **SIDES))
        whole = synthetic(transfers, duration_s=300.0, seed=seed, **SIDES)
        assert max(part.height for part in parts) <= 777 < whole.height
        assert pl.concat(parts).equals(whole)


def test_a_longer_stream_begins_with_the_shorter_one():
    transfers = Transfers(wired(), 8e6)
    short, long = (
        pl.concat(streamed.drawn(transfers, duration_s=duration_s, seed=3, **SIDES)) for duration_s in (50.0, 200.0)
    )
    assert long.head(short.height).equals(short) and long.height > short.height


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"arrivals": WeibullGaps(0.5)}, "arrivals"),
        ({"parts": (Part(0.5, rtt_s=0.1),)}, "part"),
        ({"users": 3}, "users"),
        ({"group": "students"}, "group"),
    ],
)
def test_what_a_stream_cannot_draw_is_refused_at_once(given, field):
    with pytest.raises(MayflyError, match=rf"workload\.{field}: must be left out of a stream"):
        streamed.drawn(Transfers(wired(), 8e6, **given), duration_s=10.0, seed=1, **SIDES)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_file_is_read_in_batches_as_at_once(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(streamed, "BATCH", 100)
    flows = synthetic(Transfers(wired(), 8e6, up_share=0.2), duration_s=60.0, seed=2, **SIDES)
    path = tmp_path / f"flows{ending}"
    write_flows(flows, path)
    file = streamed.File(path, 1460, 50.0)
    parts = list(file)
    assert len(parts) > 1
    assert pl.concat(parts).equals(read_flows(path).filter(pl.col("start_s") < 50.0))
    left, right = file.hosts()
    assert ({*map(int, left)}, {*map(int, right)}) == ({*SIDES["senders"]}, {*SIDES["receivers"]})


def test_files_with_other_flows_than_plain_transfers_are_refused(tmp_path):
    path = tmp_path / "flows.csv"
    path.write_text("start_s,size_bytes,protocol,rate_bps\n0,1000,udp,1e6\n", encoding="utf-8")
    with pytest.raises(MayflyError, match="protocol = udp: must be tcp in a stream"):
        list(streamed.File(path, 1460, 10.0))
    path.write_text("start_s,size_bytes,group\n0,1000,office\n", encoding="utf-8")
    with pytest.raises(MayflyError, match="column group: must be left out of a stream"):
        list(streamed.File(path, 1460, 10.0))
    path.write_text("start_s,size_bytes\n0,0\n", encoding="utf-8")
    with pytest.raises(MayflyError, match="size_bytes = 0"):
        list(streamed.File(path, 1460, 10.0))
    with pytest.raises(MayflyError, match="cannot be read"):
        streamed.File(tmp_path / "none.csv", 1460, 10.0)


def test_hosts_are_numbered_as_in_the_list_with_all_of_them():
    from mayfly.simulate.network.dumbbell import hosts

    flows = synthetic(Transfers(wired(), 8e6, up_share=0.3), duration_s=100.0, seed=2, **SIDES)
    sides = (SIDES["senders"], SIDES["receivers"])
    for found, listed in zip(streamed.numbers(flows, sides), hosts(flows), strict=True):
        assert (found == listed).all()
