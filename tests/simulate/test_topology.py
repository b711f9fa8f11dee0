"""Networks of several links: scenario, hosts, refusals, what comes out."""

import polars as pl
import pytest

from mayfly.comparison.comparison import compare, run
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import scenario_of
from mayfly.simulate.network.graph import graph_of
from mayfly.simulate.run import workload
from mayfly.simulate.settings import native_settings

LINKS = [
    {"from": "a", "to": "b", "rate": "4mbit", "delay": "5ms", "name": "slow"},
    {"from": "b", "to": "c", "rate": "8mbit", "discipline": "efd(threshold=20000)", "reverse_discipline": "compare"},
]
HOSTS = [
    {"at": "a", "name": "senders", "count": 2},
    {"at": "c", "name": "receivers", "first": 10, "count": 3, "access_rate": "20mbit", "access_rate_up": "1mbit"},
    {"at": "b", "name": "middle"},
]


def graph(links=LINKS, hosts=HOSTS, **rest):
    network = {"topology": "graph", "link": links, "hosts": hosts} | rest.pop("network", {})
    return scenario_of({"duration": "20s", "stop_when_idle": True, "network": network, **rest}, "test")


def flows(*rows):
    return pl.DataFrame(rows, schema=["start_s", "src", "dst", "size_bytes"], orient="row")


def test_every_interface_has_its_own_discipline_rate_and_buffer():
    scenario = graph(network={"buffer": 50, "reverse_buffer": 70, "access_delay": "2ms"})
    settings = native_settings(scenario, parse("las"), 1)
    slow, quick = settings["graph"]["links"]
    assert (slow["forward"]["rate_bps"], slow["reverse"]["rate_bps"]) == (4_000_000, 4_000_000)
    assert [side["discipline"][0] for side in (slow["forward"], slow["reverse"])] == ["las", "fifo"]
    assert quick["forward"]["discipline"] == ("efd", [("threshold", "20000")])
    assert quick["reverse"]["discipline"][0] == "las"
    assert (slow["forward"]["limit"], slow["reverse"]["limit"]) == ({"packets": 50}, {"packets": 70})
    assert (slow["forward"]["delay_ns"], quick["forward"]["delay_ns"]) == (5_000_000, 1_000_000)
    groups = settings["graph"]["hosts"]
    assert [group["up_bps"] for group in groups] == [100_000_000, 1_000_000, 100_000_000]
    assert [group["at"] for group in groups] == [0, 2, 1] and {group["delay_ns"] for group in groups} == {2_000_000}
    assert settings["rate_bps"] == 4_000_000


def test_hosts_of_a_flow_list_are_those_of_the_graph():
    scenario = graph()
    listed = flows((0.0, "senders-2", "12", 3000), (0.0, "middle", "senders-1", 3000), (1.0, "10", "11", 3000))
    assert [list(ends) for ends in graph_of(scenario).numbers(listed)] == [[1, 5, 2], [4, 0, 3]]
    result = run(scenario, "fifo", listed)
    assert result.records["delivered_bytes"].to_list() == [3000] * 3
    assert (result.records["slowdown"] - 1).abs().max() < 1e-9, "each is alone on its path"
    interfaces = result.summary["disciplines"][0]["interfaces"]
    assert [row["name"] for row in interfaces] == ["slow", "slow (back)", "b>c", "c>b"]
    # SYN, bare ACK, three segments, FIN, ACK of the FIN; the other way SYN-ACK, an ACK and the FIN-ACK.
    assert [row["sent"] for row in interfaces] == [7 + 3, 3 + 7, 7, 3]
    assert [row["arrivals"] for row in interfaces] == [row["sent"] for row in interfaces]
    assert [row["drops"] for row in interfaces] == [0] * 4


def test_a_whole_number_is_a_host_too():
    result = run(graph(hosts=[HOSTS[0] | {"first": 1}, HOSTS[1]]), "fifo", flows((0.0, 1, 10, 3000), (0.0, 2, 12, 100)))
    assert result.records["finish_s"].null_count() == 0


def test_the_link_of_interest_can_be_any():
    listed = flows((0.0, "middle", "12", 30_000))
    row = {
        watched: run(graph(network={"watched": watched}), "fifo", listed).summary["disciplines"][0]
        for watched in ("slow", "b>c")
    }
    assert row["slow"]["utilisation"] == 0 < row["b>c"]["utilisation"]
    assert row["b>c"]["utilisation"] == row["slow"]["interfaces"][2]["utilisation"]
    assert row["slow"]["interfaces"] == row["b>c"]["interfaces"]


def test_the_workload_goes_between_the_groups_it_names():
    entries = {
        "load": "1mbit",
        "up_share": 0.5,
        "cbr": [{"rate": "100kbit", "from": "middle", "to": "receivers", "flows": 3}],
        "permanent": [{"flows": 2, "users": 2, "from": "receivers", "to": "senders"}],
        "batch": [{"size": 10, "from": "senders", "to": "middle"}],
    }
    listed = workload(graph(workload=entries))
    ends = {
        kind: {tuple(end.rstrip("-12") for end in row) for row in part.select("src", "dst").iter_rows()}
        for kind, part in {
            "cbr": listed.filter(protocol="udp"),
            "permanent": listed.filter(size_bytes=2**40),
            "batch": listed.filter((pl.col("size_bytes") == 14_600) & (pl.col("dst") == "middle")),
        }.items()
    }
    assert {source for source, _ in ends["cbr"]} == {"middle"} and ends["batch"] == {("senders", "middle")}
    pairs = listed.filter(size_bytes=2**40).select("src", "dst").rows()
    assert sorted(pairs) == [("10", "senders-1"), ("11", "senders-2")]
    up = listed.filter(direction="up")
    assert up.height > 5 and set(up["src"]) <= {"10", "11", "12"} and set(up["dst"]) <= {"senders-1", "senders-2"}


def test_fair_queues_in_a_parking_lot_give_the_long_flow_half():
    network = {"topology": "parking-lot", "bottlenecks": 3, "rate": "4mbit", "delay": "5ms", "buffer": 100}
    cross = [{"from": f"cross-{hop}", "to": f"cross-{hop}-to", "group": f"hop {hop}"} for hop in (1, 2, 3)]
    entries = {"permanent": [{"group": "long"}, *cross]}
    scenario = scenario_of({"duration": "60s", "network": network, "workload": entries}, "test")
    result = compare(scenario, "drr,fifo")
    rows = result.summary["disciplines"]
    got = {
        label: dict(result.records.filter(discipline=label).select("group", "delivered_bytes").iter_rows())
        for label in ("drr", "fifo")
    }
    # Payload of 1460 in 1500 bytes; the start, with few packets in flight, costs less than a second of 60.
    fair = 4e6 / 8 * 60 * 1460 / 1500 / 2
    assert got["drr"] == pytest.approx(dict.fromkeys(got["drr"], fair), rel=1 / 60)
    assert got["fifo"]["long"] < 0.9 * fair, "behind FIFO queues the longer path gets less"
    assert all(row["utilisation"] > 0.98 for row in rows[0]["interfaces"][::2])
    assert rows[0]["utilisation"] == rows[0]["interfaces"][0]["utilisation"]
    assert "interfaces" not in compare("wired", "fifo", flows=flows((0.0, 1, 2, 1000))).summary["disciplines"][0]


def test_replications_add_up():
    entries = {"load": "3mbit", "up_share": 0.1}
    scenario = graph(workload=entries, replications=2, seed=5)
    both = compare(scenario, "fifo").summary["disciplines"][0]["interfaces"]
    single = [
        compare(scenario.override(replications=1, seed=seed), "fifo").summary["disciplines"][0]["interfaces"]
        for seed in (5, 6)
    ]
    for row, *parts in zip(both, *single, strict=True):
        assert row["sent_bytes"] == sum(part["sent_bytes"] for part in parts)
        assert row["utilisation"] == pytest.approx(sum(part["utilisation"] for part in parts) / 2)


def test_a_transfer_of_many_segments_has_its_time_alone_too():
    sizes = [1460 * 400, 1460 * 900 + 1, 1460 * 1000]
    for size in sizes:
        one = run(graph(duration="60s"), "fifo", flows((0.0, "senders-1", "10", size))).records
        many = run(
            graph(duration="60s"), "fifo", flows(*((20.0 * n, "senders-1", "10", each) for n, each in enumerate(sizes)))
        ).records.filter(size_bytes=size)
        # A segment's time too much of 400 or more.
        assert many["slowdown"][0] == pytest.approx(one["slowdown"][0], abs=1 / 300)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link": []}, "0 [[network.link]] and 3 [[network.hosts]]: must be at least 1 and 2"),
        ({"hosts": HOSTS[:1]}, "2 [[network.link]] and 1 [[network.hosts]]: must be at least 1 and 2"),
        ({"link": [*LINKS, LINKS[0] | {"name": "x"}]}, "link between a and b is there twice"),
        ({"link": [*LINKS, {"from": "c", "to": "b"}]}, "link between b and c is there twice"),
        ({"link": [*LINKS, {"from": "c", "to": "a", "name": "slow"}]}, "link slow is there twice"),
        ({"link": [*LINKS, {"from": "c", "to": "c"}]}, "link c>c: must join two routers"),
        ({"link": [*LINKS, {"from": "x", "to": "y"}]}, "no path from a to x: links must join all routers"),
        ({"hosts": [*HOSTS, HOSTS[0]]}, "hosts senders is there twice"),
        ({"hosts": [*HOSTS, {"at": "a", "name": "x", "first": 12}]}, "host 12 is there twice"),
        ({"hosts": [*HOSTS, {"at": "z", "name": "x"}]}, "hosts x: at = 'z': must be a router of a link: a, b, c"),
        ({"watched": "fast"}, "watched = 'fast': must be a link: slow, b>c"),
        ({"topology": "dumbbell"}, "topology = 'dumbbell' with [[network.link]]: must be 'graph'"),
    ],
)
def test_what_makes_no_network_is_refused_in_a_line(change, message):
    with pytest.raises(MayflyError) as refusal:
        graph(network=change)
    assert str(refusal.value).endswith(message)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("count", 0, "network.hosts.0.count = 0: must be greater than or equal to 1"),
        ("access_rate", 0, "network.hosts.0.access_rate = 0: must be"),
        ("att", "a", "unknown field network.hosts.0.att; did you mean network.hosts.at?"),
    ],
)
def test_a_wrong_value_of_a_row_is_named(field, value, message):
    with pytest.raises(MayflyError) as refusal:
        graph(hosts=[HOSTS[0] | {field: value}, *HOSTS[1:]])
    assert message in str(refusal.value)


def test_hosts_that_are_not_there_are_refused():
    with pytest.raises(MayflyError, match=r"^src = senders-3: no such host in the network: must be one of senders-1, "):
        run(graph(), "fifo", flows((0.0, "senders-3", "10", 100)))
    with pytest.raises(MayflyError, match=r"^flow 0: sends to itself$"):
        run(graph(), "fifo", flows((0.0, "10", "10", 100)))
    with pytest.raises(MayflyError, match=r"^hosts 'lab': no such group in the network: must be one of senders, "):
        workload(graph(workload={"permanent": [{"from": "lab"}]}))
    with pytest.raises(MayflyError, match=r"^hosts 'lab': a dumbbell has senders and receivers only"):
        workload(scenario_of({"workload": {"permanent": [{"to": "lab"}]}}, "test"))
    with pytest.raises(MayflyError, match=r"users = 3: must be at most the hosts on either side, 2"):
        workload(graph(workload={"permanent": [{"users": 3, "flows": 3}]}))


def test_what_a_transfer_takes_alone_does_not_depend_on_how_many_hosts_there_are():
    many = graph(hosts=[group | {"count": 300} for group in HOSTS[:2]] + [HOSTS[2]])
    listed = flows((0.0, "senders-2", "12", 300_000), (9.0, "10", "11", 3000))
    few, lots = (run(scenario, "fifo", listed).records["slowdown"] for scenario in (graph(), many))
    assert few.to_list() == lots.to_list() == pytest.approx([1.0, 1.0], abs=1e-9)
    network = {"topology": "parking-lot", "bottlenecks": 100}
    scenario = scenario_of({"network": network, "workload": {"senders": 100_000, "permanent": [{}]}}, "test")
    with pytest.raises(MayflyError, match=r"hosts in a parking lot of 100 links: must be at most 1000000$"):
        workload(scenario)


def test_web_sessions_go_between_the_groups_they_name():
    web = [
        {"sessions": 3, "pages": 2, "from": "middle", "to": "receivers", "request": "400B"},
        {"sessions": 2, "pages": 2},
    ]
    listed = workload(graph(workload={"web": web}))
    objects = listed.filter(direction="down").select("src", "dst").unique().rows()
    assert {source for source, _ in objects} <= {"middle", "senders-1", "senders-2"}
    assert "middle" in {source for source, _ in objects} and {sink for _, sink in objects} <= {"10", "11", "12"}
    assert run(graph(workload={"web": web}, duration="60s"), "fifo").records["finish_s"].count() > 0
