"""Runs of the kernel: what is refused, and tables that are those of the simulator."""

import os

import polars as pl
import pytest

import mayfly
from mayfly.discipline_registry import parse
from mayfly.engines import engine, guest, linux
from mayfly.engines.network import MANY_HOSTS, MOST_HOSTS
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.simulate.isolated import PathsAlone
from mayfly.workload.lists import flow_list

COUNTERS = {"packets": 50, "bytes": 70_000, "drops": 3, "backlog_packets": 1, "backlog_bytes": 1500}


def told(settings: dict, module: str = "", program: str = "") -> dict:
    """A run as a guest might tell of it: every transfer takes a tenth of a second."""
    flows = []
    for row in settings["flows"]:
        end = row["start_s"] + 0.1
        times = {"first_data_s": end - 0.05, "last_data_s": end - 0.01, "finish_s": end, "begun_s": row["start_s"]}
        if row["udp"]:
            arrived = row["packets"] - 1
            own = {"sent": row["packets"], "arrived": arrived, "received_bytes": arrived * row["payload_bytes"]}
            flows.append(own | {"settled": True, **times})
        else:
            ends = {"sender": {"segs_out": 7, "segs_in": 3, "total_retrans": 1, "delivered_ce": 0}}
            ends["receiver"] = {"segs_out": 3, "segs_in": 6}
            flows.append({"received_bytes": row["size_bytes"], "gave_up": False, **times, **ends})
    sample = {"time_s": 1.0, "queue_mean_packets": 0.5, "means": [0.5, 0.1], **COUNTERS}
    sample["progress"] = [1] * len(settings["watched"])
    zero, last = [dict.fromkeys(COUNTERS, 0)] * 2, [COUNTERS] * 2
    whole = {"kernel": "6.1.0", "end_s": settings["duration_s"], "leaf": {"drops": 3}}
    return whole | {"flows": flows, "samples": [sample], "first": zero, "last": last}


@pytest.fixture
def kernel(monkeypatch):
    """A kernel that does as `told`."""
    monkeypatch.setattr(guest, "kernel", lambda: None)
    monkeypatch.setattr(guest, "run", told)


FLOWS = pl.DataFrame(
    {
        "start_s": [0.0, 0.1, 0.2],
        "src": [1, 2, 9],
        "dst": [8, 9, 1],
        "direction": ["down", "down", "up"],
        "protocol": ["tcp", "udp", "tcp"],
        "size_bytes": [30_000, 14_720, 5000],
        "packet_bytes": [None, 1500, None],
        "rate_bps": [None, 1e6, None],
        "opened_by": ["sender", "sender", "receiver"],
    }
)


def test_tables_of_the_kernel_are_those_of_the_simulator(kernel, tmp_path):
    scenario = load_scenario("wired", {"duration": "2s"})
    result = mayfly.compare(scenario, "fifo,codel", FLOWS, engine=engine("both"))
    assert [row["label"] for row in result.summary["disciplines"]] == ["fifo", "fifo (linux)", "codel", "codel (linux)"]
    alone = mayfly.compare(scenario, "fifo", FLOWS)
    assert result.records.schema == alone.records.schema and result.samples.schema == alone.samples.schema
    assert set(result.write(tmp_path)) == {"flows", "samples", "report", "summary"}
    assert "tcp.initial_rto = 3 (1)" in result.summary["notes"][1]
    ratio = result.summary["engines"][0]
    assert ratio["label"] == "fifo" and ratio["short"] > 0


def test_records_tell_what_came_of_each_flow(kernel):
    result = mayfly.compare(load_scenario("wired", {"duration": "2s"}), "fifo", FLOWS, engine=engine("linux"))
    rows = result.records.to_dicts()
    assert [row["response_time_s"] for row in rows] == pytest.approx([0.1, 0.09, 0.1])
    # 7 packets of which 6 arrived; the SYN-ACK is counted by neither end that sends it.
    assert [row["drops"] for row in rows] == [1 + 1, 1, 2]
    assert [row["packets_sent"] for row in rows] == [7, 10, 8]
    assert [row["delivered_bytes"] for row in rows] == [30_000, 9 * 1472, 5000]
    assert result.samples.select("arrivals", "drops").row(0) == (54, 3)


def test_hosts_of_either_side_are_those_of_the_flows():
    scenario = load_scenario("wired", {"network.exit_rate": "20mbit", "network.exit_delay": "3ms"})
    settings = linux.guest_settings(scenario, parse("fifo"), flow_list(FLOWS, mss=1460))
    sides = [(host["router"], host["out_bps"], host["delay_s"]) for host in settings["network"]["hosts"]]
    assert sides == [(0, 10**8, 0.001)] * 2 + [(1, 2 * 10**7, 0.003)] * 2
    assert [(row["src"], row["dst"]) for row in settings["flows"]] == [(0, 2), (1, 3), (3, 0)]
    udp = settings["flows"][1]
    assert (udp["packets"], udp["payload_bytes"], udp["gap_s"]) == (10, 1472, pytest.approx(0.012))


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("wlan", r"network.wlan: --engine linux has wired networks only"),
    ],
)
def test_what_the_kernel_engine_cannot_do_is_refused_before_anything_runs(scenario, message):
    with pytest.raises(MayflyError, match=message):
        mayfly.compare(scenario, "fifo", engine=engine("linux"))


def test_an_unknown_engine_is_refused():
    with pytest.raises(MayflyError, match="engine = ns3: must be one of simulator, linux, both"):
        mayfly.compare("wired", "fifo", engine=engine("ns3"))


def test_without_a_kernel_it_is_told_how_to_build_one(monkeypatch, tmp_path):
    monkeypatch.setenv("MAYFLY_KERNEL_CACHE", str(tmp_path))
    with pytest.raises(MayflyError, match=r"no test kernel in .*: build it once, 6 minutes of CPU: .*build.sh"):
        guest.kernel()


def test_the_newest_kernel_runs_where_it_is_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("MAYFLY_KERNEL_CACHE", str(tmp_path))
    for at, name in enumerate(("uml-6.1.2-a", "uml-7.3.4-b", "uml-6.12.1-c")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "linux").write_text("")
        os.utime(tmp_path / name / "linux", (at, at))
    assert guest.kernel().parent.name == "uml-6.1.2-a"
    monkeypatch.setenv("MAYFLY_KERNEL", "newest")
    assert guest.kernel().parent.name == "uml-6.12.1-c"
    with pytest.raises(MayflyError, match=r"no newest test kernel of 1000 .*: MAYFLY_KERNEL=newest .*build.sh"):
        guest.kernel(1000)
    monkeypatch.setenv("MAYFLY_KERNEL", "6.2")
    with pytest.raises(MayflyError, match=r"MAYFLY_KERNEL = 6.2: must be 6.1 or newest"):
        guest.kernel()


def test_packets_by_name_are_refused():
    named = {"network": {"impairment": [{"segment": 3, "do": "drop"}]}, "workload": {"load": "1mbit"}}
    with pytest.raises(MayflyError, match=r"network.impairment: must be absent with --engine linux"):
        mayfly.compare(scenario_of(named, "example"), "fifo", engine=engine("linux"))


def test_a_graph_is_links_with_what_the_network_says_and_paths_by_delay():
    links = [
        {"from": "a", "to": "c", "delay": "30ms"},
        {"from": "b", "to": "a", "rate": "5mbit", "delay": "5ms", "loss": 0.1, "discipline": "codel"},
        {"from": "b", "to": "c", "delay": "7ms", "reverse_delay": "40ms", "buffer": 50},
    ]
    hosts = [{"at": "a", "name": "one", "first": 10, "count": 300}, {"at": "c", "name": "two", "access_delay": "2ms"}]
    network = {"topology": "graph", "link": links, "hosts": hosts, "reverse_rate": "3mbit", "loss": 0.01}
    scenario = scenario_of({"network": network, "workload": {"load": "1mbit"}, "tcp": {"preset": "linux"}}, "example")
    flows = flows_of(src=["10", "300", "two"], dst=["two", "two", "10"], size_packets=[1] * 3)
    asked = linux.job(scenario, parse("fq_codel"), flows)
    ways = [way for link in asked.laid.links for way in link["ways"]]
    assert [way["rate_bps"] for way in ways] == [10**7, 3 * 10**6, 5 * 10**6, 5 * 10**6, 10**7, 3 * 10**6]
    assert [way["loss"] for way in ways] == [0.01, 0.01, 0.1, 0.1, 0.01, 0.01]
    assert [way["leaf"].split()[0] for way in ways[:3]] == ["fq_codel", "bfifo", "codel"] or ways[1]["leaf"]
    # Three hosts have flows. Forth by b, 12 ms; back 30 ms straight, where b would be 45.
    assert [(host["router"], host["number"]) for host in asked.laid.hosts] == [(0, 0), (0, 1), (1, 0)]
    assert [way["delay_s"] for way in asked.laid.path(0)] == [0.005, 0.007]
    assert [way["delay_s"] for way in asked.laid.path(2)] == [0.03]
    with pytest.raises(MayflyError, match="src = 9: no such host in the network"):
        linux.job(scenario, parse("fifo"), flows.with_columns(src=pl.lit("9")))


def flows_of(**columns) -> pl.DataFrame:
    count = len(next(iter(columns.values())))
    return flow_list(pl.DataFrame({"start_s": [0.1 * k for k in range(count)]} | columns), source="list")


def settings_of(flows: pl.DataFrame, **changes) -> dict:
    scenario = load_scenario("wired", {"tcp.preset": "linux", "duration": "2s"} | changes)
    linux.refuse_flows(scenario, flows)
    return linux.guest_settings(scenario, parse("fifo"), flows)


def test_marks_are_codes_that_routers_know():
    flows = flows_of(size_packets=[10, 10, 10], mark=[7, None, 300], group=["a", "b", "c"])
    settings = settings_of(flows, mark_of={"b": 7})
    assert settings["marks"] == {"1": 7, "2": 300} and [row["code"] for row in settings["flows"]] == [1, 1, 2]
    assert settings["sysctl"]["net.ipv4.tcp_reflect_tos"] == "1"
    plain = settings_of(flows.drop("mark"))
    assert plain["marks"] == {} and {row["code"] for row in plain["flows"]} == {0}
    many = flows_of(size_packets=[1] * 64, mark=list(range(1, 65)))
    with pytest.raises(MayflyError, match="mark: 64 marks: must be at most 63 with --engine linux"):
        settings_of(many)


def test_many_hosts_of_udp_share_a_namespace():
    count = MANY_HOSTS + 10
    senders = [*range(count), 3]
    flows = flows_of(
        src=senders,
        dst=[0] * (count + 1),
        size_bytes=[1000] * (count + 1),
        protocol=["udp"] * count + ["tcp"],
        packet_bytes=[1028] * count + [None],
        rate_bps=[1e6] * count + [None],
    )
    hosts = settings_of(flows)["network"]["hosts"]
    left = [host for host in hosts if host["router"] == 0]
    assert len(left) == count and sum(not host["crowd"] for host in left) == 1
    crowd = [host["number"] for host in left if host["crowd"]]
    assert sorted(crowd) == list(range(count - 1))
    assert [host["crowd"] for host in hosts if host["router"] == 1] == [False]
    count = MOST_HOSTS + 10
    tcp = flows_of(src=list(range(count)), size_bytes=[1000] * count)
    with pytest.raises(MayflyError, match="src: 1010 hosts with TCP: must be at most 1000 at a side"):
        settings_of(tcp)


def test_a_host_has_the_round_trip_time_of_its_flows():
    flows = flows_of(src=[0, 1, 2], size_packets=[10] * 3, rtt_s=[0.01, 0.2, None])
    left = [host["delay_s"] for host in settings_of(flows)["network"]["hosts"] if host["router"] == 0]
    # Half of it, less 1 ms of the link and 1 ms of the other end; the scenario's own 1 ms.
    assert left == pytest.approx([0.003, 0.098, 0.001])
    # Where the links take longer already, their delay stays, as in the simulator.
    assert settings_of(flows.with_columns(rtt_s=0.001))["network"]["hosts"][0]["delay_s"] == 0


def test_flows_of_one_host_with_other_round_trip_times_have_links_of_their_own():
    flows = flows_of(
        src=[1, 9, 1, 2],
        dst=[9, 1, 9, 9],
        size_packets=[10] * 4,
        rtt_s=[0.01, 0.2, None, 0.03],
        direction=["down", "up", "down", "down"],
    )
    settings = settings_of(flows)
    left = [host for host in settings["network"]["hosts"] if host["router"] == 0]
    # As the simulator: at the left end, which receives where the direction is up.
    assert [row["own"] for row in settings["flows"]] == [("src", 65_000), ("dst", 64_999), ("src", 64_998), None]
    delays = [0.003, 0.098, 0.001]
    assert left[0]["own"] == [(65_000 - k, pytest.approx(delay)) for k, delay in enumerate(delays)]
    assert left[1]["own"] == [] and left[1]["delay_s"] == pytest.approx(0.013) and settings["last_port"] == 64_997


def test_a_host_that_others_send_to_has_no_delay_of_its_own_flows():
    # Before: a ping between hosts that send to each other took its round-trip time twice.
    flows = flows_of(
        src=[1, 2], dst=[2, 1], direction=["down", "up"], size_packets=[10] * 2, rtt_s=[0.05, 0.05]
    )  # fmt: skip
    settings = settings_of(flows, **{"network.symmetric": True})
    assert [row["own"] for row in settings["flows"]] == [("src", 65_000), ("src", 65_000)]
    assert [host["delay_s"] for host in settings["network"]["hosts"]] == [0.001, 0.001]
    assert [row["own"] for row in settings_of(flows)["flows"]] == [None, None]


def test_scripts_are_trains_of_the_flow_and_against_it():
    flows = flows_of(script=["up 400 | wait 20ms | down 3000 parts 3000,100 pace 1ms", None], size_bytes=[3400, 10])
    first, second = settings_of(flows.with_columns(direction=pl.lit("down"), opened_by=pl.lit("receiver")))["flows"]
    up, down = first["script"]
    assert (up["forward"], up["bytes"], down["forward"], down["wait_ns"]) == (False, 400, True, 20_000_000)
    assert down["pace_ns"] == 1_000_000 and down["parts"] == [(100, 2), (3000, 1)] and second["script"] is None
    streams = flows_of(script=["down 90000 streams 30000,60000"])
    with pytest.raises(MayflyError, match="script: streams: --engine linux has TCP, where a connection is one stream"):
        settings_of(streams)


def test_applications_in_the_loop_are_refused():
    video = "call(duration_s=60, start_bps=300000, min_bps=100000, max_bps=2500000, fps=30, variation=0.15, "
    video += "audio_bytes=160, pacing=1.5, feedback_s=0.1)"
    with pytest.raises(MayflyError, match="application: --engine linux has no applications in the loop"):
        settings_of(flows_of(application=[video]))


def test_a_traced_datagram_waits_for_what_is_not_the_links(monkeypatch):
    flows = flows_of(
        protocol=["udp"], size_bytes=[3 * 972], packet_bytes=[1000], rate_bps=[1e6], group=["call"]
    )  # fmt: skip
    scenario = load_scenario("wired", {"tcp.preset": "linux", "duration": "2s", "trace": ["call"]})
    # 1000 bytes on 100, 10 and 100 Mbit/s, and 1 ms three times; the second one waits 2 ms, the third is lost.
    links_s = 0.003 + 8000 * (1e-8 + 1e-7 + 1e-8)

    def heard(settings, module="", program=""):
        found = told(settings)
        came = [links_s, 0.008 + links_s + 0.002, None]
        found["flows"][0] |= {"sent_s": [0.0, 0.008, 0.016], "received_s": came, "returned_s": [None] * 3}
        return found

    monkeypatch.setattr(guest, "run", heard)
    run, _ = linux.run_one(scenario, parse("fifo"), flows, 0, PathsAlone())
    waits = (run.packets["departed_s"] - run.packets["queued_s"]).to_list()
    assert waits == [pytest.approx(0, abs=1e-9), pytest.approx(0.002), None]
    assert run.packets["received_s"].null_count() == 1 and run.packets["flow_id"].unique().to_list() == [0]
    mixed = flows_of(size_packets=[10], group=["call"])
    with pytest.raises(MayflyError, match="trace = call: --engine linux traces flows of UDP only"):
        linux.refuse_flows(scenario, mixed)


def test_a_kernel_that_looks_for_errors_is_not_the_one_that_scenarios_run_in(monkeypatch, tmp_path):
    monkeypatch.setenv("MAYFLY_KERNEL_CACHE", str(tmp_path))
    for name, config in (("uml-6.1.2-a", "CONFIG_NET=y\n"), ("uml-6.1.2-b", "CONFIG_NET=y\nCONFIG_KASAN=y\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config").write_text(config)
        (tmp_path / name / "linux").write_text("")
    os.utime(tmp_path / "uml-6.1.2-a" / "linux", (1, 1))
    assert guest.kernel() == tmp_path / "uml-6.1.2-a" / "linux"
    (tmp_path / "uml-6.1.2-a" / "linux").unlink()
    with pytest.raises(MayflyError, match="no test kernel"):
        guest.kernel()


def test_a_kernel_with_other_ticks_is_not_the_one_that_scenarios_run_in(monkeypatch, tmp_path):
    monkeypatch.setenv("MAYFLY_KERNEL_CACHE", str(tmp_path))
    for at, (name, config) in enumerate(
        (("uml-6.1.2-a", "CONFIG_HZ=100\n"), ("uml-6.1.2-b", "CONFIG_HZ=100\nCONFIG_HZ=1000\n"))
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config").write_text(config)
        (tmp_path / name / "linux").write_text("")
        os.utime(tmp_path / name / "linux", (at, at))
    assert [guest.kernel(hz).parent.name for hz in (100, 1000)] == ["uml-6.1.2-a", "uml-6.1.2-b"]
    (tmp_path / "uml-6.1.2-b" / "linux").unlink()
    with pytest.raises(MayflyError, match=r"no test kernel of 1000 ticks a second in .*build.sh .* config.packetdrill"):
        guest.kernel(1000)
