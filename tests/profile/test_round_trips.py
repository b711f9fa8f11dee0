"""Round-trip times of a profile by what they are from."""

from pathlib import Path

import polars as pl
import pytest
from rows import connections, row

from mayfly.profile.answer import profile
from mayfly.profile.overview import round_trip_overview
from mayfly.profile.round_trips import round_trips, round_trips_document


def table():
    made = [
        {"class": "lc-rp", "side": "external", "rtt_s": 0.1, "to": (0.002, 4, 0.08, 6), "ts": (0.003, 2, 0.09, 1)},
        {"class": "lc-rp", "side": "external", "rtt_s": None, "to": (None, 0, 0.06, 2), "ts": (None, 0, None, 0)},
        {"class": "lc-ls", "side": "internal", "rtt_s": 0.001, "to": (0.001, 1, 0.003, 9), "ts": (None, 0, None, 0)},
    ]
    rows = []
    for one in made:
        found = {"protocol": "tcp", **{name: one[name] for name in ("class", "side", "rtt_s")}}
        for kind, name in (("data_ack", "to"), ("timestamp", "ts")):
            keys = [f"{kind}_to_{end}_{what}" for end in ("opener", "responder") for what in ("mean_s", "samples")]
            found |= dict(zip(keys, one[name], strict=True))
        rows.append(found)
    return pl.DataFrame(rows, infer_schema_length=None)


def test_a_connection_counts_with_its_mean_and_a_path_with_both_parts():
    found = round_trips(table())
    assert {name: part["value"].to_list() for name, part in found.items()} == {
        "handshake": [0.1, 0.001],
        "data_ack_to_opener": [0.002, 0.001],
        "data_ack_to_responder": [0.08, 0.06, 0.003],
        "data_ack": [pytest.approx(0.082), pytest.approx(0.004)],
        "timestamp_to_opener": [0.003],
        "timestamp_to_responder": [0.09],
        "timestamp": [pytest.approx(0.093)],
    }
    document = round_trips_document(table())
    assert [document[kind]["samples"] for kind in ("handshake", "data_ack_to_responder", "data_ack")] == [2, 17, 5]
    assert document["data_ack_to_responder"]["lc-rp"]["n"] == 2 and "lc-ls" not in document["timestamp"]


def test_a_table_without_them_has_handshakes_alone():
    found = connections([row("10.0.0.1", "9.9.9.9", rtt_s=0.1)]).frame
    found = found.with_columns(pl.lit("lc-rp").alias("class"), pl.lit("external").alias("side"))
    assert list(round_trips_document(found)) == ["handshake"]


def test_the_office_has_them_in_document_table_and_page(tmp_path):
    found = profile(["captures/office.pcap.gz"], internal=["10.10.0.0/24"], bin_s=5.0, bootstrap=0)
    of = found.document()["round_trips"]
    frame = found.connections.frame.filter(pl.col("protocol") == "tcp")
    assert of["data_ack_to_opener"]["samples"] == frame["data_ack_to_opener_samples"].sum() > 10_000
    assert of["timestamp"]["all"]["n"] > 400
    # Handshakes are part of the way that data goes, before queues are full.
    assert of["data_ack"]["all"]["q50"] > of["handshake"]["all"]["min"]
    files = found.write(tmp_path / "out")
    assert "Round-trip times, medians" in str([table.title for table in found.details() if hasattr(table, "title")])
    assert "<h2>Round-trip times by class</h2>" in Path(files["report"]).read_text(encoding="utf-8")


def test_data_of_one_way_times_its_end_and_the_handshake_has_the_rest():
    """An upload seen near its sender: 80 ms of the handshake's 82 ms are beyond the tap, and data took 120 ms there."""
    ends = {"data_ack_to_responder_mean_s": 0.12, "data_ack_to_responder_min_s": 0.08}
    one = {"protocol": "tcp", "opener": "a", "responder": "b", "rtt_s": 0.082, **ends}
    one |= {"data_ack_to_opener_mean_s": None, "data_ack_to_opener_min_s": None}
    types = {f"data_ack_to_opener_{of}_s": pl.Float64 for of in ("mean", "min")}
    found = round_trip_overview(pl.DataFrame([one], schema_overrides=types))
    assert found["median_s"] == pytest.approx(0.122)
    assert (found["least_s"], found["above_median_s"]) == (pytest.approx(0.082), pytest.approx(0.04))
    # Without a handshake half of the path is not known.
    assert round_trip_overview(pl.DataFrame([one | {"rtt_s": None}], schema_overrides=types))["connections"] == 0
