"""Transports of their own: by source, by column of the flow list, and what is said where a name is none."""

import polars as pl
import pytest
from invocation import mayfly_here, refused_here

import mayfly
from mayfly import MayflyError, load_scenario, run
from mayfly.discipline_registry import parse
from mayfly.engines import engine, guest, linux
from mayfly.simulate.run import run_many
from mayfly.workload.lists import flow_list

LINK = {"duration": "15s", "tcp.preset": "linux", "network.delay": "18ms", "network.buffer": 60}
LISTED = pl.DataFrame(
    {
        "start_s": [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 3.5],
        "size_bytes": [4_000_000, 30_000, 3_000_000, 1448, 900_000, 50_000, 2**40],
        "src": ["1", "2", "3", "1", "2", "3", "4"],
        "dst": ["8", "9", "10", "9", "8", "10", "11"],
        "direction": ["down", "down", "up", "down", "down", "up", "down"],
    }
)
SACK = {"preset": "linux", "recovery": "sack", "tick": "1ns"}
FAST, SLOW = {"congestion": "bbr"}, {"preset": "qualnet-4.5-like"}


def scenario(**transports):
    return load_scenario("wired", LINK | ({"transports": transports} if transports else {}))


def records(given, flows):
    return run(given, "fq_codel", flows).records


def named(*names):
    return LISTED.with_columns(transport=pl.Series(names, dtype=pl.String))


def test_transports_of_equal_settings_give_the_run_of_one():
    plain = records(scenario(), LISTED)
    dealt = records(scenario(a={}, b={"congestion": "cubic"}), named("a", "b", None, "b", "a", None, "a"))
    assert "transport" not in plain.columns
    assert dealt["transport"].to_list() == ["a", "b", None, "b", "a", None, "a"]
    assert dealt.drop("transport").equals(plain)


def test_a_column_that_is_all_alike_is_the_setting_of_the_run():
    for own in (FAST, SLOW, {"congestion": "aimd", "initial_window": 2, "ecn": True, "pacing": True}):
        whole = {f"tcp.{name}": value for name, value in ({} if "preset" in own else {"preset": "linux"} | own).items()}
        whole |= {f"tcp.{name}": value for name, value in own.items()}
        expected = records(load_scenario("wired", LINK | whole), LISTED)
        found = records(scenario(own=own), named(*["own"] * LISTED.height))
        # Packets of a size are counted by the segments of [tcp]; slowdowns too are those of the flow's own transport.
        assert found.drop("transport", "size_packets").equals(expected.drop("size_packets"))
        assert found["slowdown"].drop_nulls().len() >= 4
        assert not expected.drop("size_packets").equals(records(scenario(), LISTED).drop("size_packets"))


def test_a_source_has_the_transport_that_it_names():
    sources = {
        "workload.permanent": [
            {"flows": 2, "users": 2, "transport": "fast", "group": "x"},
            {"flows": 2, "users": 2, "spread": "1s"},
        ],
        "workload.batch": [{"size": "100kB", "every": "3s", "transport": "slow"}],
        "workload.web": [{"sessions": 2, "transport": "slow"}],
        "workload.http": [{"sessions": 2, "transport": "fast"}],
        "workload.short_term": [{"sources": 3, "period": "5s", "transport": "fast"}],
        "workload.load": "1mbit",
        "workload.transport": "slow",
        "workload.part": [{"share": 0.5, "transport": "fast", "group": "part"}, {"share": 0.2, "group": "other"}],
    }
    given = load_scenario("wired", LINK | {"transports": {"fast": FAST, "slow": SLOW}} | sources)
    own = run(given, "fifo").records
    endless = own.filter(pl.col("size_bytes") == 2**40).sort("flow_id")
    assert sorted(endless["transport"].to_list(), key=str) == [None, None, "fast", "fast"]
    by_group = {key: set(part["transport"]) for (key,), part in own.group_by("group")}
    assert by_group["x"] == by_group["part"] == {"fast"} and by_group["other"] == {"slow"}
    assert by_group[None] == {None, "fast", "slow"}


def test_the_same_flows_are_drawn_with_and_without_transports():
    source = {"flows": 3, "users": 3, "spread": "5s"}
    one = load_scenario("wired", LINK | {"workload.load": "2mbit", "workload.permanent": [source]})
    own = {"workload.permanent": [source | {"transport": "a"}], "workload.transport": "a", "transports": {"a": {}}}
    two = load_scenario("wired", LINK | {"workload.load": "2mbit"} | own)
    found = run(two, "fifo").records
    assert found["transport"].null_count() == 0
    assert found.drop("transport").equals(run(one, "fifo").records)


def test_a_preset_of_its_own_takes_nothing_from_the_section_tcp():
    given = scenario(old=SLOW, near={"congestion": "bbr"})
    assert given.transport("old") == load_scenario("wired", {"tcp.preset": "qualnet-4.5-like"}).tcp
    assert given.transport("near") == load_scenario("wired", {"tcp.preset": "linux", "tcp.congestion": "bbr"}).tcp
    again = given.override(seed=2)
    assert again.transport("old") == given.transport("old") and again.transport("near") == given.transport("near")


def test_a_field_of_a_transport_is_set_from_the_command_line():
    given = load_scenario("wired", LINK | {"transports.near.congestion": "bbr", "transports.near.initial_window": 4})
    assert (given.transport("near").congestion, given.transport("near").initial_window) == ("bbr", 4)
    assert given.transport("near").mss == 1448
    with pytest.raises(MayflyError, match=r"unknown field transports\.near\.congestio"):
        load_scenario("wired", {"transports.near.congestio": "bbr"})


REFUSED = [
    (
        {"workload.permanent": [{"transport": "x"}]},
        r"workload\.permanent\.transport = 'x': must be the NAME of a .*: a, b",
    ),
    (
        {"workload.transport": "x"},
        r"workload\.transport = 'x': must be the NAME of a section \[transports\.NAME\]: a, b",
    ),
    ({"transports": {"a": {"congestion": "vegas"}}}, r"transports\.a\.congestion = 'vegas': must be 'aimd', "),
    ({"transports": {"a": {"colour": "red"}}}, r"unknown field transports\.a\.colour"),
    ({"transports": {"a": {"congestion_of": {}}}}, r"unknown field transports\.a\.congestion_of"),
    (
        {"transports": {"a": {"max_rto": "100ms"}}},
        r"transports\.a\.max_rto = 0\.1: must be at least transports\.a\.min_rto",
    ),
    ({"workload.cbr": [{"rate": "1mbit", "transport": "a"}]}, r"unknown field workload\.cbr\.0\.transport"),
]


@pytest.mark.parametrize(("fields", "says"), REFUSED)
def test_a_bad_transport_is_refused_in_one_line(fields, says):
    with pytest.raises(MayflyError, match=says) as refused:
        load_scenario("wired", LINK | {"transports": {"a": FAST, "b": SLOW}} | fields)
    assert "\n" not in str(refused.value)


def test_a_name_of_a_flow_list_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(
        MayflyError, match=r"^transport = x: must be the NAME of a section \[transports\.NAME\]: a, b, or a preset"
    ):
        records(scenario(a=FAST, b=SLOW), named("a", "x", None, "b", "a", None, "a"))
    with pytest.raises(
        MayflyError, match=r"^transport = a: must be the NAME of .*, of which there are none, or a preset such as quic$"
    ):
        records(scenario(), named(*["a"] * LISTED.height))
    udp = pl.DataFrame(
        {"start_s": [0.0], "size_bytes": [1], "protocol": ["udp"], "rate_bps": [1e6], "transport": ["a"]}
    )
    with pytest.raises(MayflyError, match=r"row 1: transport = a: must be empty unless protocol is tcp"):
        flow_list(pl.DataFrame(udp))


def test_an_own_transport_that_cannot_be_is_refused_by_its_name():
    given = load_scenario(
        "wired", {"transports": {"a": {"congestion": "bbr"}}, "workload.permanent": [{"transport": "a"}]}
    )
    with pytest.raises(
        MayflyError, match=r"^transports\.a: tcp\.congestion = bbr: must be used with tcp\.recovery = sack"
    ):
        run(given, "fifo")


def test_the_command_ends_with_status_2_and_one_line(tmp_path):
    path = tmp_path / "flows.csv"
    path.write_text("start_s,size_packets,transport\n0,10,fast\n")
    arguments = ["simulate", "wired", "--flows", str(path), "--discipline", "fifo", "--out", str(tmp_path / "out")]
    said = refused_here(*arguments)
    assert "transport = fast: must be the NAME of a section [transports.NAME], of which there are none" in said
    told = mayfly_here(*arguments, "--set", "transports.fast.initial_window=10")
    assert told.status == 0, told.err


def test_the_kernel_has_rules_of_sockets_and_refuses_other_differences(monkeypatch):
    monkeypatch.setattr(guest, "kernel", lambda: None)
    flows = flow_list(named("fast", "reno", None, "fast", "fast", None, "reno"))
    given = scenario(fast={"congestion": "bbr", "pacing": True}, reno={"congestion": "aimd"})
    rows = linux.guest_settings(given, parse("fifo"), flows)["flows"]
    of = {"fast": ("bbr", True), "reno": ("reno", False), None: ("cubic", False)}
    assert [(row["congestion"], row["paced"]) for row in rows] == [of[name] for name in flows["transport"]]
    other = scenario(fast={"congestion": "bbr", "ecn": True}, reno={"congestion": "aimd"})
    with pytest.raises(MayflyError, match=r"^transports\.fast\.ecn = classic: must be as in \[tcp\], off, "):
        mayfly.compare(other, "fifo", flows, engine=engine("linux"))


def test_seeds_differ_by_the_phases_of_the_clocks_of_any_transport():
    given = scenario(coarse={"tick": "10ms"}).override(replications=2)
    assert run_many(given, [parse("fifo")], flow_list(named(*["coarse"] * LISTED.height)))
    with pytest.raises(MayflyError, match=r"replications = 2: a given list of flows is one workload"):
        fine = scenario().override(replications=2, tcp=SACK, transports={"a": {}})
        run_many(fine, [parse("fifo")], flow_list(LISTED))


def test_a_sweep_varies_a_field_of_a_transport(tmp_path):
    sweep = """\
scenario = "wired"
disciplines = ["fifo"]
[set]
duration = "20s"
"tcp.preset" = "linux"
"workload.transport" = "own"
"network.buffer" = 10
[fields]
"transports.own.initial_window" = [2, 20]
"""
    (tmp_path / "windows.toml").write_text(sweep)
    told = mayfly_here("sweep", str(tmp_path / "windows.toml"), "--out", str(tmp_path / "out"), "--quiet")
    assert told.status == 0, told.err
