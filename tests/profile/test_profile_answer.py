"""The whole profile: of tables written by hand, of the committed capture, of real captures, and by command."""

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from invocation import mayfly_here, refused_here
from rows import SILENT, connections, frame, row

from mayfly.errors import MayflyError
from mayfly.profile.answer import FILES, profile
from mayfly.profile.classes import classified
from mayfly.profile.distributions import cdf, mass_cdf, samples, summary
from mayfly.profile.ratios import host_traffic, ratios_document
from mayfly.profile.table import read_connections
from mayfly.workload.connections import connections as of_capture
from mayfly.workload.connections import write_connections
from mayfly.workload.sides import sides_of

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures" / "office.pcap.gz"
TINY = ROOT / "tests" / "data" / "tiny.pcapng.gz"
SHARED = ROOT.parent / "shared" / "data" / "pcap"
ROLES = {"10.0.0.1": "client", "10.0.0.2": "client", "10.0.0.8": "server"}


def shared(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the checkout")
    return path


def sizes(up, down):
    return {"up": {"distinct_bytes": up, "payload_bytes": up}, "down": {"distinct_bytes": down, "payload_bytes": down}}


MADE = [
    row("10.0.0.1", "9.9.9.9", 0.0, 2.0, **sizes(10, 90), rtt_s=0.1),
    row("10.0.0.1", "10.0.0.8", 1.0, 1.5, **sizes(100, 100), rtt_s=0.002),
    row("10.0.0.2", "10.0.0.8", 1.0, 4.0, **sizes(0, 700), rtt_s=0.004),
    # Begun before, not ended, never answered: each is missing where it must be.
    row("10.0.0.1", "9.9.9.9", 3.0, 9.0, **sizes(1, 0), opener_from="port"),
    row("10.0.0.2", "9.9.9.9", 7.0, 9.0, **sizes(5, 5), state="established"),
    row("10.0.0.2", "9.9.9.9", 8.0, 8.0, state="half_open", up=sizes(0, 0)["up"], down=SILENT),
]


def made():
    table = frame(MADE)
    sides = sides_of(table, ["10.0.0.0/8"])
    return classified(table, sides, ROLES), sides


def test_samples_hold_what_they_should():
    found = {name: table["value"].to_list() for name, table in samples(made()[0]).items()}
    assert found["size_bytes"] == [100.0, 200.0, 700.0, 1.0, 10.0]
    assert found["duration_s"] == [2.0, 0.5, 3.0]
    assert found["gap_s"] == [1.0, 0.0, 6.0, 1.0]
    assert found["rtt_s"] == [0.1, 0.002, 0.004]


def test_document_of_a_table_written_by_hand():
    found = profile(connections(MADE), internal=["10.0.0.0/8"], hosts=ROLES, bin_s=3.0).document()
    assert found["size_bytes"]["all"]["n"] == 5 and found["size_bytes"]["internal"]["mean"] == 450.0
    assert found["size_bytes"]["carried_by_largest_5_percent"] == pytest.approx(700 / 1011)
    assert found["duration_s"]["begun_before"] == 1 and found["duration_s"]["not_ended"] == 1
    assert found["rtt_s"]["lc-ls"]["q50"] == 0.002
    assert found["gap_s"]["lc-ls"]["n"] == 1 and found["gap_s"]["external"]["mean"] == 4.0
    assert found["load"]["start_s"] == [0.0, 3.0, 6.0] and found["periods"]["found"] == []
    # Too few values for a law.
    assert found["fits"] == {}
    json.dumps(found, allow_nan=False)


def test_retransmissions_are_those_seen_twice_and_those_lost_before():
    copies = {"up": {"data_packets": 30, "retransmits": 1, "lost_before": 2}, "down": {"data_packets": 10}}
    rows = [row("10.0.0.1", "9.9.9.9", **copies), row("10.0.0.1", "9.9.9.9", **copies, protocol="udp", state="two_way")]
    found = profile(connections(rows), bootstrap=0).document()["retransmission"]
    counts = {"data_packets": 40, "retransmits": 1, "lost_before": 2, "missing_bytes": 0}
    assert found["all"] == counts | {"rate": 3 / 40}
    assert found["lc-rp"] == found["external"] == found["all"] and "lc-ls" not in found


def test_ratios_of_hosts():
    rows = [
        row("10.0.0.1", "9.9.9.9", up={"wire_bytes": 10, "packets": 1}, down={"wire_bytes": 100, "packets": 2}),
        row("10.0.0.1", "10.0.0.8", up={"wire_bytes": 30, "packets": 4}, down={"wire_bytes": 300, "packets": 5}),
        row("10.0.0.2", "10.0.0.8", up={"wire_bytes": 50, "packets": 1}, down={"wire_bytes": 25, "packets": 1}),
        row("10.0.0.1", "224.0.0.1", protocol="udp", state="one_way", down=SILENT),
    ]
    table = frame(rows)
    sides = sides_of(table, ["10.0.0.0/8"])
    hosts = host_traffic(classified(table, sides, ROLES), sides, ROLES)
    first, second, server = hosts.iter_rows(named=True)
    assert (first["connections"], second["connections"], server["connections"]) == (3, 1, 2)
    assert first["internal_external_bytes"] == 330 / 110 and first["internal_external_packets"] == 9 / 3
    assert first["down_up_internal_bytes"] == 10.0 and first["down_up_external_packets"] == 2.0
    assert second["internal_external_bytes"] is None and second["down_up_internal_bytes"] == 0.5
    assert (server["internal_up_bytes"], server["internal_down_bytes"]) == (325, 80)
    found = ratios_document(hosts)
    assert (found["hosts"], found["clients"], found["chosen"]) == (3, 2, 1)
    assert found["internal_external"]["bytes"]["q50"] == 3.0
    assert [found["traffic_bytes"][name] for name in ("n", "min", "q50", "max")] == [3, 75.0, 405.0, 440.0]
    assert found["traffic_bytes"]["below_1_MB"] == 1.0
    assert found["down_up_internal"]["bytes"]["n"] == 2 and found["down_up_external"]["bytes"]["n"] == 1


def test_thinned_curves_keep_their_ends_and_lie_on_the_whole():
    values = np.random.default_rng(1).pareto(1.1, 50_000)
    for function in (cdf, mass_cdf):
        x, y = function(values)
        whole = dict(zip(*(array.tolist() for array in function(values, 10**6)), strict=True))
        assert len(x) <= 200 and (np.diff(y) > 0).all() and y[-1] == 1.0 and x[0] == values.min()
        assert all(whole[at] == share for at, share in zip(x.tolist(), y.tolist(), strict=True))


def test_summary_of_nothing():
    assert summary([]) == dict.fromkeys(("mean", "cov", "min", "max", "q05", "q25", "q50", "q75", "q95")) | {"n": 0}


class TestCaptures:
    def test_office(self):
        """Counts of captures/README.md; wire bytes there are frames, here IP packets: 14 bytes less for each."""
        found = profile([OFFICE], internal=["10.10.0.0/24"], bin_s=5.0, bootstrap=0).document()
        assert (found["dataset"]["tcp"], found["dataset"]["udp"]) == (523, 184)
        assert found["dataset"]["packets"] == 71_394 - 4 and found["dataset"]["local_hosts"] == 6
        assert found["dataset"]["bytes"] == 48_518_400 + 9_399_427 - 14 * 71_390
        assert found["load"]["start_s"] == [5.0 * bin for bin in range(15)]
        whole = sum(
            rate * covered / 8
            for rate, covered in zip(found["load"]["by_class_bps"]["all"], found["load"]["covered_s"], strict=True)
        )
        assert whole == pytest.approx(found["dataset"]["bytes"], rel=1e-9)

    def test_two_captures_are_one(self):
        both = read_connections([TINY, OFFICE])
        alone = [of_capture(path) for path in (OFFICE, TINY)]
        assert both.frame.height == sum(table.height for table, _ in alone)
        assert both.counts["packets"] == sum(count["packets"] for _, count in alone)
        assert both.first_epoch_s == pytest.approx(min(count["first_epoch_s"] for _, count in alone), abs=1e-6)
        assert both.sources == (TINY.name, OFFICE.name)

    def test_a_table_saved_is_the_profile_again(self, tmp_path):
        one = profile([OFFICE], bootstrap=9)
        files = one.write(tmp_path / "out")
        again = profile([files["connections"]], bootstrap=9)
        # A table of connections does not say when each packet went.
        kept = set(one.document()) - {"captures", "link", "account"}
        assert one.document()["link"]["guess"] is not None and again.document()["link"]["guess"] is None
        [whole], [table] = one.document()["account"], again.document()["account"]
        assert whole | {"source": ["connections.parquet"]} == table
        assert {name: one.document()[name] for name in kept} == {name: again.document()[name] for name in kept}

    def test_every_capture_at_hand(self):
        for path in sorted(shared("echo_connections.pcap.gz").parent.glob("*.gz")):
            if path.name.endswith("tar.gz"):
                continue
            read = read_connections([path])
            found = profile(read, bootstrap=0, bin_s=max(read.duration_s / 1000, 1.0)).document()
            json.dumps(found, allow_nan=False)
            rows = found["composition"]
            for measure in ("connections", "bytes", "packets"):
                assert sum(row[measure] for row in rows) == found["dataset"][measure], path.name
            if not read.counts["evicted"] and not read.counts["fragments"]:
                assert found["dataset"]["packets"] == read.counts["decoded"], path.name

    def test_the_lab_with_its_outside_server(self):
        """README of the data: 172.18.38.0/23 is the site, 10.10.10.5 an outside server."""
        found = profile([shared("enterprise_ad_lab.pcap.gz")], internal=["172.18.0.0/16"], bootstrap=0)
        assert "10.10.10.5" in found.sides.external
        assert {"172.18.38.5", "172.18.39.5", "172.18.39.6"} <= found.sides.internal
        assert found.roles["172.18.38.5"] == "server"


class TestCommand:
    def test_files_table_and_document(self, tmp_path):
        out = tmp_path / "out"
        ended = mayfly_here(
            "profile", OFFICE, "--internal", "10.10.0.0/24", "--bin", "5s", "--out", out, "--bootstrap", 0
        )
        assert ended.status == 0, ended.err
        assert "Is the link full?" in ended.out and "lc-rp" not in ended.out
        assert len(ended.out.splitlines()) <= 40
        assert sorted(os.listdir(out)) == sorted(FILES)
        document = json.loads((out / "profile.json").read_text())
        same = mayfly_here("profile", "--json", OFFICE, "--bin", "5s", "--out", out, "--bootstrap", "0").document
        assert same["composition"] == document["composition"] and set(same["files"]) == {
            "report",
            "profile",
            "connections",
            "hosts",
        }

    def test_laws_and_classes_are_shown_on_request(self, tmp_path):
        ended = mayfly_here(
            "profile", OFFICE, "--internal", "10.10.0.0/24", "--out", tmp_path, "--bootstrap", 0, "--laws"
        )
        assert "lc-rp  external          707  100.0" in ended.out and "Laws of flow sizes" in ended.out

    def test_connections_alone_are_those_of_the_whole_profile(self, tmp_path):
        whole, alone = tmp_path / "whole", tmp_path / "alone"
        given = (OFFICE, "--internal", "10.10.0.0/24", "--json")
        document = mayfly_here("profile", *given, "--out", whole, "--bootstrap", 0).document
        listed = mayfly_here("profile", *given, "--out", alone, "--connections").document
        assert os.listdir(alone) == ["connections.parquet"]
        assert listed["files"] == {"connections": str(alone / "connections.parquet")}
        assert all(listed[name] == document[name] for name in ("captures", "counts", "dataset", "site"))
        assert pl.read_parquet(alone / "connections.parquet").equals(pl.read_parquet(whole / "connections.parquet"))
        again = mayfly_here("profile", listed["files"]["connections"], "--out", whole, "--bootstrap", 0, "--json")
        assert again.document["counts"] == document["counts"]

    def test_connections_alone_with_trains_and_in_words(self, tmp_path):
        ended = mayfly_here("profile", TINY, "--connections", "--trains", "--out", tmp_path)
        assert ended.status == 0 and "connections: " in ended.out and "found by" in ended.out
        assert sorted(os.listdir(tmp_path)) == ["connections.parquet", "trains.parquet"]
        said = refused_here("profile", "missing.pcap", "--connections", "--out", tmp_path / "out")
        assert "missing.pcap" in said and not (tmp_path / "out").exists()

    def test_the_name_of_the_command_may_be_said(self, tmp_path):
        ended = mayfly_here("profile", "captures", TINY, "--out", tmp_path, "--bootstrap", 0)
        assert ended.status == 0 and "tiny.pcapng.gz" in ended.out

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--internal", "10.0.0.0/99"], "internal = '10.0.0.0/99'"),
            (["--bin", "0s"], "bin"),
            (["--bin", "soon"], "soon"),
            (["--bootstrap", "-1"], "bootstrap = -1: must be 0 or more"),
            (["--seed", "-1"], "seed = -1: must be 0 or more"),
            (["--hosts", "missing.csv"], "missing.csv: cannot be read"),
        ],
    )
    def test_refused(self, tmp_path, arguments, said):
        assert said in refused_here("profile", OFFICE, "--out", tmp_path / "out", *arguments)
        assert not (tmp_path / "out").exists()

    def test_files_refused(self, tmp_path):
        table, out = tmp_path / "table.parquet", tmp_path / "out"
        pl.DataFrame({"a": [1]}).write_parquet(table)
        assert "not a connection table" in refused_here("profile", table, "--out", out)
        assert "a table beside other files" in refused_here("profile", OFFICE, table, "--out", out)
        assert "cannot be read: No such file" in refused_here("profile", tmp_path / "x.pcap", "--out", out)
        write_connections(frame(MADE).drop("opener_packets"), {}, table)
        assert "column opener_packets is missing" in refused_here("profile", table, "--out", out)
        write_connections(frame(MADE).clear(), {}, table)
        assert "no connection to profile" in refused_here("profile", table, "--out", out)
        table.write_bytes(b"PAR1 and nothing")
        assert "table.parquet" in refused_here("profile", table, "--out", out)
        assert not out.exists()

    def test_a_table_without_counts(self, tmp_path):
        table = tmp_path / "table.parquet"
        write_connections(frame(MADE), {}, table)
        found = mayfly_here("profile", table, "--out", tmp_path / "out", "--json").document
        assert found["dataset"]["date"] is None and found["dataset"]["duration_s"] == 9.0


def test_no_file():
    with pytest.raises(MayflyError, match=r"captures = \[\]"):
        profile([])


def test_trains_are_written_where_asked_for(tmp_path):
    found = profile([OFFICE], bootstrap=0, trains=True)
    files = found.write(tmp_path / "out")
    trains = pl.read_parquet(files["trains"])
    counted = found.frame.select(pl.sum_horizontal("opener_trains", "responder_trains")).sum().item()
    assert trains.height == counted > 1000
    with pytest.raises(MayflyError, match=r"holds no trains; profile the captures$"):
        profile([files["connections"]], trains=True)
