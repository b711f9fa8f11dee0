"""The engine of the page against the commands that a user would type in its place."""

import json
import math
from pathlib import Path

import pytest
from connection_captures import connection, ip, write_ip
from packets import write_udp

from mayfly import _native
from mayfly.comparison.comparison import compare, run
from mayfly.comparison.replay import replay_of
from mayfly.comparison.whatif import whatif
from mayfly.explore.catalogue import PRESETS
from mayfly.explore.documents import preset, template, text
from mayfly.scenario.attacks import ATTACKS
from mayfly.scenario.scenario import load_scenario

ROOT = Path(__file__).parents[2]
FIGURES = ("short", "long", "ping", "call", "pages", "downloads", "uploads")


@pytest.fixture(scope="module")
def engine():
    found = _native.Explorer()
    for name in PRESETS:
        found.load(text(preset(name)))
    return found


def outcome(engine, **request):
    return json.loads(engine.run(json.dumps(request)))


def link(rate_bps, up_bps=None, packets=300, rtt_s=None):
    return {"rate_bps": rate_bps, "reverse_rate_bps": up_bps, "buffer": {"packets": packets}, "rtt_s": rtt_s}


def assert_alike(found, expected, where=""):
    """Equal up to the rounding of sums; what is null is null in both."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert_alike(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_alike(one, other, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found is not None and math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9), (where, found, expected)
    else:
        assert found == expected, where


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("discipline", ["fifo", "lfq"])
def test_a_preset_gives_the_figures_of_mayfly_simulate(engine, name, discipline):
    scenario = load_scenario(
        name,
        {"network.rate": "15mbit", "network.reverse_rate": "6mbit", "network.buffer": 200, "network.delay": "18ms"},
    )
    own = scenario.network
    rtt_s = 2 * (own.delay + own.access_delay + own.exit_delay)
    found = outcome(engine, workload=name, link=link(15_000_000, 6_000_000, 200, rtt_s), discipline={"id": discipline})
    users = run(scenario, discipline).summary["disciplines"][0]["users"]
    for figure in FIGURES:
        assert_alike(found["figures"][figure], users[figure], figure)


@pytest.mark.parametrize("rtt", [None, "60ms"])
def test_a_capture_gives_the_figures_of_mayfly_whatif(rtt):
    capture = ROOT / "captures/office.pcap.gz"
    engine = _native.Explorer()
    options = {"internal": ["10.10.0.0/24"], "template": template()}
    engine.open("office.pcap.gz", capture.read_bytes(), json.dumps(options))
    asked = link(10_000_000, rtt_s=None if rtt is None else 0.06)
    told = whatif(
        capture,
        "10mbit",
        300,
        internal=["10.10.0.0/24"],
        disciplines="fifo,lfq",
        rtt=rtt,
        overrides={"replications": 1},
    )
    for row in told.summary["disciplines"]:
        found = outcome(engine, workload="office.pcap.gz", link=asked, discipline={"id": row["id"]})
        for figure in FIGURES:
            assert_alike(found["figures"][figure], row["users"][figure], f"{row['id']}.{figure}")


def test_what_a_capture_lacks_is_told_to_the_page(tmp_path):
    """The notes of the page are those of `mayfly whatif`: here two packets in three are in a tunnel."""
    rows = [row for at in range(20) for row in connection(at * 0.1, port=5000 + at)]
    esp = [(0.005 * at, ip("10.0.0.2", "9.9.9.8", 50, bytes(40), 1400)) for at in range(320)]
    path = write_ip(tmp_path / "esp.pcap", rows + esp)
    told = _native.Explorer().open(
        "esp.pcap", path.read_bytes(), json.dumps({"internal": None, "template": template()})
    )
    note, replayed = json.loads(told)["notes"]
    assert note == ("What this capture cannot answer: who sends what inside ESP (IP protocol 50) (94.1 % of the bytes)")
    assert replayed.startswith("94.1 % of the bytes are of IP protocols that are not looked into: these packets are ")
    found = replay_of(path, "5mbit", 200)
    assert (found.missing, found.doubts) == ([note], [replayed])


def test_long_transfers_get_no_more_than_the_link_carries():
    """In a capture a connection brings both ways: each byte counts once, and where it went."""
    engine = _native.Explorer()
    options = {"internal": ["10.10.0.0/24"], "template": template()}
    engine.open("office.pcap.gz", (ROOT / "captures/office.pcap.gz").read_bytes(), json.dumps(options))
    for name in ("fifo", "lfq"):
        found = outcome(engine, workload="office.pcap.gz", link=link(10_000_000), discipline={"id": name})
        for way in ("down", "up"):
            assert 0 < found["long"][f"{way}_mbps"] < found["link"][way]["throughput_mbps"]


@pytest.mark.parametrize("row", [row for row in ATTACKS if row.page is not None], ids=lambda row: row.id)
@pytest.mark.parametrize("discipline", ["fifo", "fq_codel"])
def test_an_attack_is_a_source_of_the_scenario(engine, row, discipline):
    """What the engine adds is what the sources ``cbr`` and ``batch`` draw: the victims have the same figures."""
    workload = row.workload({**row.page, row.strength.field: {"rate": "5mbit", "flows": 8}[row.strength.field]})
    scenario = load_scenario("attack", {f"workload.{name}": value for name, value in workload.items()})
    users = run(scenario, discipline).summary["disciplines"][0]["users"]
    attack = {"kind": row.id, "rate_bps": 5_000_000, "connections": 8}
    asked = link(10_000_000, 10_000_000)
    found = outcome(engine, workload="attack", link=asked, discipline={"id": discipline}, attack=attack)
    for figure in FIGURES:
        assert_alike(found["figures"][figure], users[figure], figure)
    assert found["attacker"]["share"] > 0


def test_an_attack_under_fifo_takes_more_than_its_share(engine):
    attack = {"kind": "spaced", "rate_bps": 7_000_000, "connections": 1}
    asked = {"workload": "attack", "link": link(10_000_000), "attack": attack}
    fifo, fair = (outcome(engine, discipline={"id": name}, **asked)["attacker"] for name in ("fifo", "lfq"))
    assert fifo["share"] > 2 * fifo["fair_share"]
    assert fair["share"] < 1.25 * fair["fair_share"]


def test_the_packets_are_those_of_the_time_asked_for(engine):
    asked = {"workload": "office", "link": link(20_000_000), "discipline": {"id": "fifo"}}
    found = outcome(engine, inside={"from_s": 2.0, "to_s": 2.5}, **asked)
    packets = found["inside"]["packets"]
    gone = [
        min(filter(None, times), default=math.inf)
        for times in zip(packets["received_ns"], packets["dropped_ns"], strict=True)
    ]
    assert all(sent < 2.5e9 for sent in packets["sent_ns"]) and all(left >= 2.0e9 for left in gone)
    assert len(packets["flow"]) > 300 and set(packets["flow"]) == set(found["inside"]["flows"]["id"])
    # Tracing changes nothing.
    assert outcome(engine, **asked)["figures"] == found["figures"]
    [down, up] = found["waits"]
    assert down["direction"] == "down" and sum(down["packets"]) > 1000 and sum(up["packets"]) > 1000


def test_the_same_request_gives_the_same_text(engine):
    asked = json.dumps({"workload": "home", "link": link(30_000_000, 5_000_000), "discipline": {"id": "cake"}})
    assert engine.run(asked) == engine.run(asked)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"workload": "nothing"}, "workload = nothing: must be loaded or opened first"),
        ({"link": link(10)}, "link.rate_bps = 10: must be from 8 kbit/s to 100 Gbit/s"),
        ({"link": link(10_000_000, packets=0)}, "link.buffer = 0 packets: must be from 1"),
        ({"link": link(10_000_000, rtt_s=0.0)}, "link.rtt_s = 0: must be from 0.0001 to 10"),
        ({"link": link(10_000_000, rtt_s=0.0005)}, "link.rtt_s = 0.0005: must be at least"),
        ({"discipline": {"id": "nothing"}}, "nothing"),
        ({"discipline": {"id": "efd", "options": {"threshold": "none"}}}, "threshold"),
        ({"discipline": {"id": "efd", "options": {"threshold": []}}}, "must be text or a number"),
        ({"attack": {"kind": "rude", "rate_bps": 1, "connections": 1}}, "attack.kind = rude: must be one of spaced, "),
        ({"attack": {"kind": "split", "rate_bps": 5000, "connections": 0}}, "attack.connections = 0: must be from 1"),
        ({"attack": {"kind": "spaced", "rate_bps": 999, "connections": 1}}, "attack.rate_bps = 999: must be"),
        ({"inside": {"from_s": 2, "to_s": 1}}, "inside = 2 to 1 s: must ascend"),
        ({"more": 1}, "unknown field `more`"),
    ],
)
def test_a_request_out_of_bounds_is_refused_in_one_line(engine, changed, told):
    asked = {"workload": "office", "link": link(20_000_000), "discipline": {"id": "fifo"}} | changed
    with pytest.raises(ValueError, match=r"^[^\n]*$") as refused:
        engine.run(json.dumps(asked))
    assert told in str(refused.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 1}', "null"])
def test_what_is_no_document_is_refused(engine, text):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        engine.load(text)


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"GET / HTTP/1.1\r\n\r\n", b"\x0a\x0d\x0d\x0a" * 8, b"\x1f\x8b\x08"]
)
def test_what_is_no_capture_is_refused(content):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        _native.Explorer().open("x.pcap", content, json.dumps({"internal": None, "template": template()}))


@pytest.mark.parametrize(
    ("rates", "packets"), [((10, 10), 300), ((20, 20), 300), ((20, 5), 50), ((100, 100), 300), ((1, 1), 300)]
)
def test_page_and_command_say_the_same_of_the_same_runs(rates, packets):
    """Before: the page said lfq and "nothing here gets worse", the command efd (10 Mbit/s)."""
    names = ["fifo", "fq_codel", "efd", "lfq"]
    engine = _native.Explorer()
    options = {"internal": ["10.10.0.0/24"], "template": template()}
    engine.open("office.pcap.gz", (ROOT / "captures/office.pcap.gz").read_bytes(), json.dumps(options))
    down, up = (rate * 1_000_000 for rate in rates)
    ran = [
        outcome(engine, workload="office.pcap.gz", link=link(down, up, packets), discipline={"id": name})
        for name in names
    ]
    told = json.loads(_native.advise(json.dumps([one["asked"] for one in ran])))
    found = whatif(
        ROOT / "captures/office.pcap.gz",
        f"{rates[0]}mbit/{rates[1]}mbit",
        packets,
        internal=["10.10.0.0/24"],
        disciplines=names,
        overrides={"replications": 1},
    ).summary
    loaded = [one["discipline"] for one in found["recommendation"]["as_loaded"]]
    assert sorted(told["to_load"]) == sorted(loaded)
    busy = {one["figures"]["ping"]["while_busy"] for one in ran}
    shaped = {f"{way}_bps": told["shapes"][way]["rate_bps"] for way in ("down", "up")} if told["to_load"] else {}
    ran += [
        outcome(
            engine,
            workload="office.pcap.gz",
            link=link(down, up, packets),
            discipline={"id": name},
            as_loaded={**shaped, "while_busy": busy == {True}},
        )
        for name in told["to_load"]
    ]
    told = json.loads(_native.advise(json.dumps([one["asked"] for one in ran])))
    found = found["recommendation"]
    assert told["sentence"] == found["sentence"]
    assert told["at_the_link"] == found["at_the_link"]
    assert (told["kind"], told["discipline"], told["doubt"]) == (found["kind"], found["discipline"], found["doubt"])
    if found["discipline"]:
        load = next(one["load"] for one in ran if one["discipline"]["id"] == found["discipline"])
        assert load == told["load"] == found["command"]


def much_udp(path):
    rows = [(at * 1250 * 8 / 3e6, "10.0.0.2", "9.9.9.8", 4000, 443, 1250) for at in range(1500)]
    return write_udp(path, rows)


def much_esp(path):
    web = [row for at in range(20) for row in connection(at * 0.1, port=5000 + at)]
    return write_ip(path, web + [(0.002 * at, ip("10.0.0.2", "9.9.9.8", 50, bytes(40), 1400)) for at in range(1_000)])


@pytest.mark.parametrize(
    ("made", "said"),
    [(much_udp, "for this traffic: "), (much_esp, "for this traffic: 98.0 % of the bytes are of IP protocols ")],
)
def test_page_and_command_withhold_the_same_verdicts(tmp_path, made, said):
    """Before: the page said "overloaded ... Buy rate" and "never full" where the command withheld it."""
    path = made(tmp_path / "much.pcap")
    engine = _native.Explorer()
    options = {"internal": ["10.0.0.0/8"], "template": template()}
    engine.open("much.pcap", path.read_bytes(), json.dumps(options))
    ran = [
        outcome(engine, workload="much.pcap", link=link(2_500_000, 2_500_000, 100), discipline={"id": name})
        for name in ("fifo", "fq_codel")
    ]
    told = json.loads(_native.advise(json.dumps([one["asked"] for one in ran])))
    one_run = {"replications": 1}
    found = whatif(path, "2500kbit", 100, internal=["10.0.0.0/8"], disciplines="fifo,fq_codel", overrides=one_run)
    assert told["kind"] == found.summary["recommendation"]["kind"] == "unanswered"
    assert told["sentence"] == found.summary["recommendation"]["sentence"] and said in told["sentence"]


@pytest.mark.parametrize("name", ["office", "home"])
def test_page_and_compare_say_the_same_of_a_preset(engine, name):
    names = ["fifo", "fq_codel", "efd"]
    scenario = load_scenario(name, {"network.rate": "15mbit", "network.reverse_rate": "6mbit", "network.buffer": 200})
    own = scenario.network
    rtt_s = 2 * (own.delay + own.access_delay + own.exit_delay)
    ran = [
        outcome(engine, workload=name, link=link(15_000_000, 6_000_000, 200, rtt_s), discipline={"id": one})
        for one in names
    ]
    told = json.loads(_native.advise(json.dumps([one["asked"] for one in ran])))
    found = compare(scenario, names).summary["recommendation"]
    assert told["sentence"] == found["sentence"] and told["kind"] == found["kind"]
