"""No list of flows is cut in silence: it is whole, or refused in one line, or said to be a part."""

import json
import subprocess
import sys

import polars as pl
import pytest
from connection_captures import connection, write_ip
from packets import write_udp

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.limits import stopped_sentence
from mayfly.workload.capture import flows_of_capture
from mayfly.workload.connections import ReadOptions, connections, read_captures
from mayfly.workload.doubts import given_up, partial_sentences, refuse_partial
from mayfly.workload.formats.registry import read_flows_any


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """3,000 connections one after the other, all closed."""
    rows = [row for at in range(3_000) for row in connection(at * 0.1, port=1024 + at)]
    return write_ip(tmp_path_factory.mktemp("ended") / "ended.pcap", rows)


@pytest.fixture(scope="module")
def open_at_once(tmp_path_factory):
    """20 flows of UDP within a second."""
    rows = [(0.01 * at, f"10.0.0.{at}", "9.9.9.9", 5000, 53, 100) for at in range(1, 21)]
    return write_udp(tmp_path_factory.mktemp("open") / "open.pcap", rows)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """200 connections."""
    rows = [row for at in range(200) for row in connection(at * 0.1, f"10.0.{at % 20}.{at % 50}", port=1024 + at)]
    return write_ip(tmp_path_factory.mktemp("large") / "large.pcap", rows)


def test_finished_connections_are_held_below_any_number_of_open_ones(ended):
    frame, counts = connections(ended, max_flows=2)
    assert (frame.height, counts["evicted"]) == (3_000, 0)
    assert flows_of_capture(ended, max_flows=2).height == 6_000


def test_a_bound_of_all_that_are_held_counts_those_that_are_given_up(ended):
    reading = read_captures(ended, ReadOptions(max_held=100))
    assert (reading.connections.height, reading.counts["evicted"]) == (100, 2_900)
    with pytest.raises(MayflyError, match=r"^max_held = 0: must be 1 to 4294967294$"):
        ReadOptions(max_held=0)


def test_a_list_of_open_connections_beyond_the_bound_is_refused(open_at_once):
    with pytest.raises(MayflyError) as refused:
        flows_of_capture(open_at_once, max_flows=5)
    assert str(refused.value) == (
        f"{open_at_once}: 15 connections do not fit, since more than 5 were open at once: a flow list must be whole: "
        "cut the capture into parts (editcap -A and -B, or -c) and read each"
    )
    assert flows_of_capture(open_at_once, max_flows=20).height == 20


def at_once(monkeypatch):
    """A reader of few packets, which does not look at the limits in its haste, is stopped by one all the same."""

    def stopped(read):
        def looking(paths, options, look, *more):
            *tables, counts = read(paths, options, look, *more)
            return *tables, json.dumps(json.loads(counts) | {"stopped": not look(1, 1, 1)})

        return looking

    class Stopped:
        def __init__(self, paths, options, look, *more):
            self.read, self.goes_on = profiled(paths, options, look, *more), look(1, 1, 1)

        def __getattr__(self, name):
            return getattr(self.read, name)

        def answer(self):
            told = json.loads(self.read.answer())
            return json.dumps(told | {"counts": told["counts"] | {"stopped": not self.goes_on}})

    profiled = _native.profile_capture
    monkeypatch.setattr("mayfly.limits.reached", lambda share: ("0.12 GB of memory", "--memory 1gb"))
    monkeypatch.setattr("mayfly._native.read_capture", stopped(_native.read_capture))
    monkeypatch.setattr("mayfly._native.profile_capture", Stopped)


def test_every_list_of_a_capture_that_was_not_read_to_its_end_is_refused(large, monkeypatch):
    at_once(monkeypatch)
    for call in (flows_of_capture, read_flows_any):
        with pytest.raises(MayflyError) as refused:
            call(large)
        assert str(refused.value).startswith(f"{large}: reading reached 0.12 GB of memory after 1 packets, ")
        assert str(refused.value).endswith(
            "a flow list must be whole: use `mayfly --memory 1gb COMMAND`, or cut the capture into parts "
            "(editcap -A and -B, or -c) and read each"
        )


def test_what_compares_or_measures_connections_refuses_those_that_left_while_open(open_at_once, monkeypatch):
    from mayfly.workload.formats.convert import converted

    monkeypatch.setattr("mayfly.workload.captured.most_connections", lambda: 5)
    with pytest.raises(MayflyError) as refused:
        converted(open_at_once, open_at_once.with_name("flows.csv"))
    assert str(refused.value) == (
        f"{open_at_once}: 15 connections were open and had to leave memory: a flow list must be whole: "
        "use `mayfly --memory SIZE COMMAND` with more, or cut the capture into parts (editcap -A and -B, or -c) "
        "and read each"
    )
    assert not open_at_once.with_name("flows.csv").exists()
    [said] = partial_sentences({"evicted": 0, "parted": 15, "duration_s": 9.0})
    assert said.startswith("Partial: 15 connections were open and had to leave memory: what they sent later counts")


def test_a_verified_capture_must_be_whole(large, monkeypatch):
    from types import SimpleNamespace

    from mayfly.verify.predicted import connections_of

    at_once(monkeypatch)
    with pytest.raises(MayflyError, match="a verified capture must be whole: use `mayfly --memory 1gb COMMAND`"):
        connections_of(SimpleNamespace(), SimpleNamespace(capture=large, clock_s=0.0, steps=[]))


def test_a_guess_from_a_part_says_so(large, monkeypatch):
    from mayfly.profile.link import guess_link

    at_once(monkeypatch)
    assert guess_link(large).sentences()[0].startswith("Partial: reading stopped at 0.12 GB of memory, after ")


def test_a_list_longer_than_memory_is_whole(tmp_path):
    """Before: rc 0, a sixth of the flows, and `lost` []; then a line that refused it."""
    rows = [(at / 500, f"10.{at >> 16}.{(at >> 8) % 256}.{at % 256}", "9.9.9.9", 5000, 53, 1) for at in range(200_000)]
    capture = write_udp(tmp_path / "wide.pcap", rows)
    base = [sys.executable, "-m", "mayfly.cli", "--memory", "300mb"]
    out = tmp_path / "flows.csv"
    converted = subprocess.run(
        [*base, "workload", "convert", capture, out], capture_output=True, text=True, check=False
    )
    assert (converted.returncode, converted.stderr) == (0, "")
    assert pl.read_csv(out).height == 200_000


def test_memory_of_a_command_refuses_what_a_run_cannot_hold(large, monkeypatch, tmp_path):
    at_once(monkeypatch)
    from mayfly.comparison.comparison import run
    from mayfly.scenario.scenario import load_scenario

    with pytest.raises(MayflyError, match="a flow list must be whole: use `mayfly --memory 1gb COMMAND`, or cut the"):
        run(load_scenario("wired", {"duration": "5s"}), "fifo", large)


def test_a_tree_says_first_that_it_is_of_a_part(large, monkeypatch, tmp_path, capsys):
    from mayfly.cli.session import Session
    from mayfly.trees.answer import tree

    devices, network = tmp_path / "ShapedDevices.csv", tmp_path / "network.json"
    heads = (
        "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min Mbps,"
        "Download Max Mbps,Upload Max Mbps,Comment"
    )
    devices.write_text(f"{heads}\n1,one,1,one,,,10.0.0.0/16,,1,1,10,10,\n", encoding="utf-8")
    network.write_text("{}", encoding="utf-8")
    at_once(monkeypatch)
    monkeypatch.setattr("mayfly.limits.memory_reached", lambda share: False)
    found = tree(network, devices, [large], disciplines="fifo,fq_codel", overrides={"duration": "2s"}, workers=1)
    partial = found.summary["notes"][0]
    assert partial.startswith("Partial: reading stopped at 0.12 GB of memory")
    assert found.sentences()[0] == partial
    monkeypatch.undo()
    Session(False, True, tmp_path).tell(found)
    assert capsys.readouterr().out.splitlines()[0] == partial
    report = tmp_path / "out"
    found.write(report)
    assert partial.split(":")[0] in (report / "report.html").read_text(encoding="utf-8")


def test_what_was_written_with_those_that_waited_in_a_file_is_whole():
    assert given_up({"evicted": 500, "lost": 0}) == 0
    refuse_partial({"evicted": 500, "lost": 0}, "connections.parquet", "a flow list")
    assert partial_sentences({"evicted": 0, "stopped": None, "duration_s": 1.0}) == []


def test_both_limits_are_said():
    found = {"at": "3 s", "packets": 9, "connections": 4, "more": "--time 6s"}
    counts = {"stopped": found, "evicted": 7, "duration_s": 12.0}
    stopped, open_ = partial_sentences(counts)
    assert stopped == stopped_sentence(counts, 12.0)
    assert open_.startswith("Partial: more than 1,000,000 connections were open at once, and 7 that were silent")


def test_what_memory_did_not_hold_is_said_to_be_so(tmp_path, monkeypatch):
    """Before: `more than 1,000,000 connections were open at once`, of a flood of 3,000 SYNs."""
    from site_captures import SYN, packet, written

    from mayfly.profile.listed import listed

    flood = [(at * 10, packet(f"2.{at // 250}.{at % 250}.9", "10.0.0.1", (5000, 80), at, 0, SYN)) for at in range(3000)]
    capture = written(tmp_path / "flood.pcap", flood)
    monkeypatch.setattr("mayfly.profile.listed.most_connections", lambda: 100)
    (partial,) = listed([capture]).document()["account"][0]["partial"]
    assert partial.startswith("Partial: memory held no more connections, and 2,900 that were silent for longest are ")
    assert "use `mayfly --memory SIZE COMMAND` with more" in partial


def test_a_capture_without_flows_says_why(tmp_path):
    """Before: `no flows after the header`, as of CSV."""
    from connection_captures import ip

    gre = write_ip(tmp_path / "gre.pcap", [(0.1 * at, ip("10.0.0.1", "9.9.9.9", 47, bytes(40))) for at in range(60)])
    with pytest.raises(MayflyError) as refused:
        read_flows_any(gre)
    said = "none of its 1 connection carries TCP payload or UDP; there are packets of other protocols: GRE "
    assert str(refused.value) == f"{gre}: no flow in it: {said}(IP protocol 47)"
    ping = write_ip(tmp_path / "ping.pcap", [(0.0, ip("10.0.0.1", "9.9.9.9", 1, b"\x08" + bytes(40)))])
    with pytest.raises(MayflyError, match="no flow in it: none of its 1 connection carries TCP payload or UDP"):
        read_flows_any(ping)


def test_loads_of_a_part_of_the_packets_are_said_to_be_so(large):
    """Before: a mean load of 5.2 in place of 11.9 Mbit/s, and no word (1.2 million connections)."""
    from mayfly.profile.answer import profile
    from mayfly.profile.sentences import verdict

    document = profile([large], bootstrap=0).document()
    assert not any("Partial" in sentence for sentence in verdict(document))
    counts = read_captures(large, ReadOptions(max_volumes=100)).counts
    assert counts["volumes_left_out"] == 1_200
    document["counts"] |= {"volumes_left_out": 1_200}
    (said,) = [sentence for sentence in verdict(document) if "Partial" in sentence]
    assert verdict(document)[0] == said
    assert said.startswith("Partial: 75.0 % of the packets are in no load over time, since at most ")
    assert said in partial_sentences(counts)
