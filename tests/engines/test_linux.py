"""Runs of the kernel: what is refused, and tables that are those of the simulator."""

import polars as pl
import pytest

import mayfly
from mayfly.discipline_registry import parse
from mayfly.engines import engine, guest, linux
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario, scenario_of
from mayfly.workload.lists import flow_list

COUNTERS = {"packets": 50, "bytes": 70_000, "drops": 3, "backlog_packets": 1, "backlog_bytes": 1500}


def told(settings: dict, module: str = "") -> dict:
    """A run as a guest might tell of it: every transfer takes a tenth of a second."""
    flows = []
    for row in settings["flows"]:
        end = row["start_s"] + 0.1
        times = {"first_data_s": end - 0.05, "last_data_s": end - 0.01, "finish_s": end}
        if row["udp"]:
            flows.append({"sent": row["packets"], "arrived": row["packets"] - 1, "settled": True, **times})
        else:
            ends = {"sender": {"segs_out": 7, "segs_in": 3, "total_retrans": 1, "delivered_ce": 0}}
            ends["receiver"] = {"segs_out": 3, "segs_in": 6}
            flows.append({"received_bytes": row["size_bytes"], "gave_up": False, **times, **ends})
    sample = {"time_s": 1.0, "queue_mean_packets": 0.5, "progress": [1] * len(settings["watched"]), **COUNTERS}
    zero = {"forward": dict.fromkeys(COUNTERS, 0), "reverse": dict.fromkeys(COUNTERS, 0)}
    last = {"forward": COUNTERS, "reverse": COUNTERS}
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
    from mayfly.workload.lists import flow_list

    settings = linux.guest_settings(scenario, parse("fifo"), flow_list(FLOWS, mss=1460))
    sides = [(host["side"], host["out_bps"], host["delay_s"]) for host in settings["hosts"]]
    assert sides == [("left", 10**8, 0.001)] * 2 + [("right", 2 * 10**7, 0.003)] * 2
    assert [(row["src"], row["dst"]) for row in settings["flows"]] == [(0, 2), (1, 3), (3, 0)]
    udp = settings["flows"][1]
    assert (udp["packets"], udp["payload_bytes"], udp["gap_s"]) == (10, 1472, pytest.approx(0.012))


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("wlan", r"network.wlan: --engine linux has wired dumbbells only"),
        ("parking-lot", r"network.topology = parking-lot: --engine linux has dumbbells only"),
        ("pages", r"(stage|script|after): --engine linux has no "),
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


def test_losses_of_the_link_are_refused():
    lossy = scenario_of({"network": {"loss": 0.1}, "workload": {"load": "1mbit"}}, "example")
    with pytest.raises(MayflyError, match=r"network.loss = 0.1: must be 0 with --engine linux"):
        mayfly.compare(lossy, "fifo", engine=engine("linux"))


def test_marks_are_refused():
    marked = load_scenario("wired", {"mark_of": {"gold": 3}})
    with pytest.raises(MayflyError, match=r"mark_of.gold: --engine linux marks no packets"):
        mayfly.compare(marked, "fifo", engine=engine("linux"))
    flows = flow_list(pl.DataFrame({"start_s": [0.0], "size_packets": [10], "mark": [3]}), source="list")
    with pytest.raises(MayflyError, match="mark: --engine linux has no marks of packets"):
        linux.refuse_flows(flows)
