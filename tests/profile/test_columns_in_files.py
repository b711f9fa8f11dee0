"""Connections that do not fit into memory: every figure is that of a reading which holds them all."""

import json

import polars as pl
import pytest
from connection_captures import connection, ip, write_ip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packets import write_udp

from mayfly.diff.answer import diff
from mayfly.profile.answer import profile
from mayfly.profile.workload.measure import workload_from
from mayfly.workload.capture import flows_in_parts, flows_of_connections
from mayfly.workload.captured import read_captured
from mayfly.workload.formats.convert import converted
from mayfly.workload.formats.registry import read_flows_any


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """2,000 connections that end, begun by hosts on either side, by turns."""
    rows = []
    for at in range(2_000):
        client, server = f"10.0.{at % 7}.{at % 50}", f"192.0.2.{at % 9}"
        ends = (server, client) if at % 11 == 0 else (client, server)
        rows += connection(at * 0.05, *ends, port=1024 + at)
    rows.sort(key=lambda row: row[0])
    return write_ip(tmp_path_factory.mktemp("many") / "many.pcap", rows)


@pytest.fixture
def few_held(monkeypatch):
    """So many connections are in memory at most."""

    def held(count):
        monkeypatch.setattr("mayfly.workload.captured.most_connections", lambda: count)

    return held


def test_every_column_is_that_of_a_reading_that_holds_all(many, few_held):
    whole = read_captured([str(many)], max_volumes=10_000)
    few_held(300)
    found = read_captured([str(many)], max_volumes=10_000)
    assert found.read.is_stored() and not whole.read.is_stored()
    assert found.counts == whole.counts and found.site == whole.site
    assert sorted(found.columns.names) == sorted(whole.columns.names)
    # Tables have the classes at another place.
    frame = whole.columns.frame
    assert found.columns.frame.select(frame.columns).equals(frame)
    for name in whole.columns.names:
        if frame.schema[name] == pl.String:
            ours, theirs = found.columns.words(name), whole.columns.words(name)
            assert (ours.names, ours.codes.tolist()) == (theirs.names, theirs.codes.tolist())
        elif frame.schema[name] in (pl.Float64, pl.Int64, pl.Boolean):
            assert str(found.columns[name].tolist()) == str(whole.columns[name].tolist()), name
    volumes = [pl.DataFrame(one.read.volumes()) for one in (found, whole)]
    assert volumes[0].equals(volumes[1]) and volumes[0].height > 4_000


def test_every_answer_is_that_of_a_reading_that_holds_all(many, few_held, tmp_path):
    def answers(folder):
        folder.mkdir()
        whole = profile([many], bootstrap=0)
        whole.write(folder / "profile")
        converted(many, folder / "flows.csv")
        measured = workload_from([many], fit=["size"])
        changed = diff(many, many).document()
        return (
            json.dumps(whole.document()),
            (folder / "flows.csv").read_bytes(),
            (folder / "profile/report.html").read_bytes(),
            pl.read_parquet(folder / "profile/connections.parquet").sort("connection_id").rows(),
            measured,
            changed,
        )

    wanted = answers(tmp_path / "whole")
    few_held(250)
    assert answers(tmp_path / "few") == wanted


def test_a_list_in_one_part_is_the_list_of_all_formats(many, tmp_path):
    found = converted(many, tmp_path / "flows.csv.gz")
    assert found.flows.equals(read_flows_any(many))
    packed = (tmp_path / "flows.csv.gz").read_bytes()
    converted(many, tmp_path / "flows.csv.gz")
    assert (tmp_path / "flows.csv.gz").read_bytes() == packed
    assert found.document()["flows"] == found.flows.height == 4_000


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    begins=st.lists(st.floats(0, 20), min_size=1, max_size=40),
    udp=st.lists(st.floats(0, 20), max_size=20),
    rows=st.integers(1, 9),
)
def test_parts_are_the_whole_list_in_its_order(tmp_path_factory, begins, udp, rows):
    folder = tmp_path_factory.mktemp("parts")
    # Not in the order of time, as files of several processors are.
    packets = [row for at, start in enumerate(begins) for row in connection(start, port=1024 + at)]
    # Neither is in a list, and neither says which side is near.
    packets += [(at, ip("172.16.0.1", "172.16.0.2", (1, 47)[at > 10], b"\x08" + bytes(40))) for at in udp]
    capture = write_ip(folder / "tcp.pcap", packets)
    single = write_udp(folder / "udp.pcap", [(at, "10.0.0.9", "9.9.9.9", 5000, 53, 100) for at in [0.0, *udp]])
    for path in (capture, single):
        columns = read_captured([str(path)]).columns
        whole = flows_of_connections(columns.frame)
        parts = pl.concat(list(flows_in_parts(columns, rows=rows)))
        assert parts.equals(whole)


def test_files_of_columns_are_gone_with_them(many, few_held):
    import gc
    import os

    few_held(300)
    found = read_captured([str(many)])
    folder = found.folder.name
    assert found.columns["rtt_s"].shape == (2_000,) and "rtt_s" in os.listdir(folder)
    del found
    gc.collect()
    assert not os.path.exists(folder)
