"""``mayfly tree`` from files to answer, and a tree in a scenario."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from invocation import mayfly, mayfly_here, refused_here

from mayfly.comparison.comparison import compare
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import scenario_of
from mayfly.simulate.network.tree import CIRCUIT
from mayfly.trees.answer import tree
from mayfly.trees.subtree_run import Part, simulated
from mayfly.trees.tables import CIRCUITS
from mayfly.workload.lists import flow_list

ROOT = Path(__file__).parents[2]
PROVIDER = ROOT / "captures" / "provider"
FILES = (PROVIDER / "network.json", "--devices", PROVIDER / "ShapedDevices.csv")
OFFICE = ROOT / "captures" / "office.pcap.gz"


def test_a_capture_goes_to_the_circuits_that_have_its_addresses(tmp_path):
    ended = mayfly_here("tree", *FILES, "--capture", OFFICE, "-d", "fifo,fq_codel", "--out", tmp_path / "out")
    assert ended.status == 0, ended.err
    assert "Use fq_codel at the leaves" in ended.out and "Full at times: AP north" in ended.out
    rows = pl.read_parquet(tmp_path / "out" / "circuits.parquet")
    assert dict(rows.schema) == CIRCUITS.schema
    flows = dict(rows.filter(discipline="fifo").select("circuit", "flows").iter_rows())
    assert flows["Fir"] == 0 and all(flows[name] > 10 for name in ("Alder", "Birch", "Cedar", "Dogwood", "Elm"))
    # Pings of a circuit without traffic are those of its path.
    fir = rows.filter(circuit="Fir")
    assert (fir["ping_p95_ms"] - fir["ping_least_ms"]).max() < 0.1 and fir["pings"].min() > 300
    # A fifo of 1000 packets is worse than a queue that is managed, by far.
    worst = rows.filter(circuit="Elm").sort("discipline")
    assert worst["ping_p95_ms"][0] > 500 and worst["ping_p95_ms"][1] < 60
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").count("<h2>") >= 3
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["best"] == "fq_codel"


def test_without_a_capture_each_circuit_has_a_household_and_the_seed_repeats_it(tmp_path):
    def run(seed):
        given = ("tree", *FILES, "-d", "fifo", "--duration", "5s", "--json", "--seed", seed, "--out", tmp_path / seed)
        ended = mayfly(*given)
        assert ended.status == 0, ended.err
        return ended.document

    first, again, other = run("3"), run("3"), run("4")
    assert first["command"] == "tree" and first["seed"] == 3 and first["circuits"] == 6
    assert first["disciplines"] == again["disciplines"] != other["disciplines"]


def test_what_makes_no_sense_is_refused_in_one_line(tmp_path):
    assert "castle: no such file; ready scenarios are" in refused_here("tree", *FILES, "--household", "castle")
    assert "no network file" in refused_here("tree", OFFICE, "--devices", FILES[2])
    assert "no column 'Circuit ID'" in refused_here("tree", FILES[0], "--devices", FILES[0])
    assert "unknown discipline" in refused_here("tree", *FILES, "-d", "nothing")
    assert "must be a dumbbell whose sides differ" in refused_here("tree", *FILES, "--set", "network.symmetric=true")
    assert "rate with [network.tree]: must be left out" in refused_here("tree", *FILES, "--set", "network.rate=5mbit")
    assert "[probes]: must be left out" in refused_here("tree", *FILES, "--set", "probes.ping=true")
    shutil.copy(FILES[0], tmp_path / "network.json")
    devices = FILES[2].read_text(encoding="utf-8").replace("10.10.0", "10.99.0")
    (tmp_path / "d.csv").write_text(devices, encoding="utf-8")
    elsewhere = ("tree", FILES[0], "--devices", tmp_path / "d.csv", "--capture", OFFICE)
    assert "no host of it is in a circuit of the tree" in refused_here(*elsewhere)


def test_hosts_of_no_circuit_are_named(tmp_path):
    kept = FILES[2].read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "d.csv").write_text("".join(line for line in kept if "Alder" not in line), encoding="utf-8")
    found = tree(FILES[0], tmp_path / "d.csv", [OFFICE], disciplines="fifo")
    [note] = found.summary["notes"]
    assert "of the bytes are of hosts in no circuit: 10.10.0.11" in note


def shaped(**fields):
    circuits = [
        {"name": f"c{at}", "parent": "ap", "ceil": "8mbit", "reverse_ceil": "2mbit", "rate": "1mbit"} for at in range(3)
    ]
    network = {"tree": {"node": [{"name": "ap", "ceil": "12mbit"}], "circuit": circuits}, "access_rate": "1gbit"}
    return {"duration": "20s", "network": network | fields, "tcp": {"preset": "linux"}}


def test_a_scenario_with_a_tree_is_compared_and_endless_transfers_share_the_node():
    # Three downloads that never end, 8 Mbit/s each at most, under a node of 12: 4 each.
    permanent = [{"flows": 1, "to": f"c{at}"} for at in range(3)]
    found = compare(scenario_of(shaped() | {"workload": {"permanent": permanent}}, "shared"), "fifo,fq_codel")
    for label in ("fifo", "fq_codel"):
        rows = found.records.filter(discipline=label)
        rates = rows["delivered_bytes"] * 8 / 20 / 1e6
        assert rates.sum() == pytest.approx(12 * 1448 / 1500, rel=0.03)
        # Turns are of 12.5 kB, and what slow start lost at the beginning.
        assert rates.min() > 0.9 * rates.max(), rates
    assert found.summary["disciplines"][0]["utilisation"] == pytest.approx(1.0, abs=0.03)


def test_an_idle_circuit_lends_what_it_does_not_use():
    permanent = [{"flows": 1, "to": "c0"}]
    found = compare(scenario_of(shaped() | {"workload": {"permanent": permanent}}, "alone"), "fq_codel")
    # Its ceiling, not its rate and not that of the node.
    assert found.records["delivered_bytes"].item() * 8 / 20e6 == pytest.approx(8 * 1448 / 1500, rel=0.03)


def test_short_transfers_of_a_circuit_are_exchanges():
    """Before, every request and every answer counted: 4."""
    circuits = [{"name": "c", "ceil": "10mbit", "reverse_ceil": "5mbit"}]
    network = {"tree": {"circuit": circuits}, "access_rate": "1gbit"}
    scenario = scenario_of({"duration": "20s", "network": network, "tcp": {"preset": "linux"}}, "one")
    script = "up 300 | down 20000 | wait 1s | up 300 | wait 1s | down 20000"
    flows = flow_list(pl.DataFrame({"start_s": [0.0], "script": [script], "rtt_s": [0.04], "src": ["s"], "dst": ["c"]}))
    flows = flows.with_columns(pl.lit("c").alias(CIRCUIT))
    row = simulated(scenario, parse("fifo"), Part(scenario.network.tree.circuit), flows, 1.0).rows.row(0, named=True)
    assert row["short_flows"] == 2
    # Handshake, request, and an answer in two flights; the server's second is no part of it.
    assert 0.08 < row["short_p95_s"] < 0.5


@pytest.mark.parametrize(
    ("tree_", "message"),
    [
        ({"circuit": []}, "circuit"),
        ({"circuit": [{"name": "a", "ceil": "1mbit", "rate": "2mbit"}]}, "rate = 2000000 of a: must be at most ceil"),
        ({"circuit": [{"name": "a", "ceil": "1mbit", "parent": "x"}]}, "parent = 'x' of a: must be a node of the tree"),
        (
            {"node": [{"name": "x", "ceil": "1mbit", "parent": "y"}], "circuit": [{"name": "a", "ceil": "1mbit"}]},
            "parent = 'y' of x: must be a node listed before it",
        ),
        (
            {
                "circuit": [
                    {"name": "a", "ceil": "1mbit", "hosts": ["h"]},
                    {"name": "b", "ceil": "1mbit", "hosts": ["h"]},
                ]
            },
            "host h is in a and in b: must be in one circuit",
        ),
    ],
)
def test_what_is_no_tree_is_refused(tree_, message):
    with pytest.raises(MayflyError) as refused:
        scenario_of({"network": {"tree": tree_}}, "example")
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_a_tree_has_the_rates():
    with pytest.raises(MayflyError, match=r"rate with \[network.tree\]: must be left out"):
        scenario_of(shaped(rate="5mbit"), "example")
    with pytest.raises(MayflyError, match="must be in a dumbbell whose sides differ"):
        scenario_of(shaped(topology="parking-lot"), "example")
    with pytest.raises(MayflyError, match="host 99: in no circuit of the tree"):
        flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [1000], "dst": ["99"], "src": ["1"]})
        compare(scenario_of(shaped(), "example"), "fifo", flows)
