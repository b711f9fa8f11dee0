"""What a captured link did, of captures of which it is known: the simulator records them."""

import numpy as np
import polars as pl
import pytest
from scripted import texts

import mayfly
from mayfly.comparison.replay import replay_of, run_replay
from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.recording import Recording
from mayfly.workload import scripts
from mayfly.workload.connections import read_captures
from mayfly.workload.lists import flow_list
from mayfly.workload.replayed import replayed_flows

RTTS_S = (0.012, 0.03, 0.08)
RATES_BPS = (10e6, 2e6)
LINK = {"network.rate": "10mbit", "network.reverse_rate": "2mbit", "network.buffer": 200, "network.reverse_buffer": 60}
THINK_MS = 70.0
"""Of the servers that think."""


def users(seed, *, thinking=False, bulk=3, transport=None):
    """Users who ask servers for files one by one and think, and downloads that fill the link from the start."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(bulk):
        rows.append((0.02 * number, "up 300 | down 4000000", "10.1.0.2", f"10.2.1.{number}", RTTS_S[2], None, None))
    for user in range(8):
        for asked in range(25):
            think_s = random.exponential(1.0) if asked else random.uniform(0.5, 2.0)
            size, server = int(random.lognormal(9.5, 1.0)), int(random.integers(3))
            script = f"up 300 | {f'wait {THINK_MS:g}ms | ' if thinking else ''}down {size} | done"
            number = 100 * user + asked
            waits = (number, number - 1 if asked else None)
            rows.append((think_s, script, f"10.1.0.{server}", f"10.2.0.{user}", RTTS_S[server], *waits))
    frame = pl.DataFrame(rows, schema=["start_s", "script", "dst", "src", "rtt_s", "stage", "after"], orient="row")
    named = {} if transport is None else {"transport": pl.lit(transport)}
    return flow_list(frame.with_columns(direction=pl.lit("up"), opened_by=pl.lit("sender"), **named))


def scenario(**more):
    return load_scenario("whatif", LINK | {"duration": "60s", "probes.ping": True} | more)


def captured(tmp_path, flows, discipline):
    """The run, and a capture of it beside the clients."""
    path = tmp_path / f"{discipline}.pcap"
    result = mayfly.run(scenario(), discipline, flows, recording=Recording(str(path), "client"))
    return result, path


@pytest.mark.parametrize(("discipline", "transport"), [("fifo", None), ("fq_codel", None), ("fifo", "quic")])
def test_paths_are_found_through_a_queue_that_never_empties(tmp_path, discipline, transport):
    _, path = captured(tmp_path, users(1, transport=transport), discipline)
    flows = replayed_flows(path, "users", ["10.2.0.0/16"], rates_bps=RATES_BPS)
    # The tap is beside the clients: the path to a server is nearly all of a round trip.
    known = dict(flows.group_by("dst").agg(pl.col("rtt_s").median()).iter_rows())
    found = [known[f"10.1.0.{server}"] for server in range(3)]
    off = np.abs(np.array(found) - np.array(RTTS_S))
    if discipline == "fq_codel":
        # A packet there and one back, beside the path.
        assert off.max() < 0.002
        return
    # What the queue changes in the windows beside: ten full packets. The least that passed has more than that left.
    assert off.max() < 0.012
    if transport == "quic":
        # Its datagrams take the link 6 ms there and back, which is no path.
        assert off.max() < 0.001
        return
    seen = read_captures(path).connections.filter(responder="10.1.0.0")["handshake_to_responder_s"].min()
    assert off[0] <= seen - RTTS_S[0] + 1e-9


def waits_ms(flows):
    """Think times of the servers in scripts of a request and an answer."""
    trains = [scripts.trains(script) for script in flows["script"].drop_nulls().to_list()]
    return np.array([own[1].wait_ns * 1e-6 for own in trains if (len(own) >= 2 and not own[1].done) or len(own) == 2])


@pytest.mark.parametrize("thinking", [False, True])
def test_queues_are_no_think_times_and_think_times_are(tmp_path, thinking):
    _, path = captured(tmp_path, users(2, thinking=thinking), "fifo")
    found = {
        how: replay_of(path, "10mbit/2mbit", "200/60", internal=["10.2.0.0/16"], replay=how).flows
        for how in ("users", "trains")
    }
    users_ms, trains_ms = (waits_ms(found[how]) for how in ("users", "trains"))
    truth = THINK_MS if thinking else 0.0
    assert np.median(users_ms) == pytest.approx(truth, abs=8.0)
    assert np.quantile(np.abs(users_ms - truth), 0.8) <= 42.0  # what a delayed acknowledgement hides
    assert np.abs(users_ms - truth).mean() < np.abs(trains_ms - truth).mean() + 1.0


def short_s(records, trains):
    """Median time from the start of a short connection to its last byte, s."""
    ends = trains.group_by("flow_id").agg(pl.col("end_s").max(), pl.col("end_s").is_null().any().alias("open"))
    short = records.filter(pl.col("size_bytes") < 100_000).join(ends, on="flow_id").filter(~pl.col("open"))
    return float((short["end_s"] - short["start_s"]).median())


@pytest.mark.parametrize(("source", "target"), [("fifo", "fq_codel"), ("fifo", "fifo"), ("fq_codel", "fifo")])
def test_a_replay_says_what_the_same_users_have_under_another_discipline(tmp_path, source, target):
    """Twelve runs of the same law of users: the mean error over them is that of the replay."""
    errors = []
    for seed in (3, 4, 5):
        flows = users(seed)
        _, path = captured(tmp_path, flows, source)
        found = replay_of(
            path, "10mbit/2mbit", "200/60", internal=["10.2.0.0/16"], overrides={"duration": "60s", "replications": 1}
        )
        (replayed,) = run_replay(found.scenario, [parse(target)], found.flows)
        direct = mayfly.run(scenario(), target, flows)
        medians = [short_s(run.records, run.trains) for run in (replayed, direct)]
        errors.append(medians[0] / medians[1] - 1)
    assert abs(float(np.mean(errors))) < 0.12, errors


@pytest.mark.parametrize(("source", "target"), [("fifo", "fq_codel"), ("fifo", "fifo"), ("fq_codel", "fifo")])
def test_quic_is_replayed_as_transfers_that_slow_down(tmp_path, source, target):
    """The same of QUIC, over ten draws of the law of users."""
    errors = []
    for seed in range(3, 13):
        flows = users(seed, transport="quic")
        _, path = captured(tmp_path, flows, source)
        found = replay_of(
            path, "10mbit/2mbit", "200/60", internal=["10.2.0.0/16"], overrides={"duration": "60s", "replications": 1}
        )
        replayed_as = found.flows.filter(protocol="tcp")  # but for the ping of the run
        assert found.udp.quic > 0.99 and replayed_as["transport"].unique().to_list() == ["quic"]
        assert replayed_as["size_bytes"].sum() == pytest.approx(flows["size_bytes"].sum(), rel=0.02)
        (replayed,) = run_replay(found.scenario, [parse(target)], found.flows)
        direct = mayfly.run(scenario(), target, flows)
        medians = [short_s(run.records, run.trains) for run in (replayed, direct)]
        errors.append(medians[0] / medians[1] - 1)
    assert abs(float(np.mean(errors))) < 0.12, errors


def test_requests_and_answers_of_quic_have_their_bytes(tmp_path):
    flows = users(1, bulk=0, transport="quic")
    _, path = captured(tmp_path, flows, "fifo")
    connections = read_captures(path).connections
    frame = connections.filter("quic")
    # The other one is the ping of the run.
    assert frame.height == flows.height == connections.height - 1 and not frame["quic_probably"].any()
    assert (frame["mss_bytes"] == 1472).all()
    asked = sorted(trains[1].size_bytes for trains in map(scripts.trains, flows["script"].to_list()))
    # Of a packet nobody knows which of its bytes are of which frame: a few of each.
    off = np.abs(np.array(sorted(frame["responder_distinct_bytes"].to_list())) / np.array(asked) - 1)
    assert np.median(off) < 0.01 and off.max() < 0.1
    assert set(frame["opener_distinct_bytes"].to_list()) == {300}


def test_the_middle_of_a_connection_of_quic_is_probably_quic(tmp_path):
    """Without its beginning: what is left of a download, at port 443."""
    rows = [(0.0, "up 300 | down 6000000", "10.1.0.0", "10.2.0.0", 0.03)]
    frame = pl.DataFrame(rows, schema=["start_s", "script", "dst", "src", "rtt_s"], orient="row")
    flows = flow_list(frame.with_columns(direction=pl.lit("up"), opened_by=pl.lit("sender"), transport=pl.lit("quic")))
    _, path = captured(tmp_path, flows, "fifo")
    middle = tmp_path / "middle.pcap"
    header, records = records_of(path.read_bytes())
    assert len(records) > 4000
    for port, known in ((443, True), (4433, False)):
        middle.write_bytes(header + b"".join(with_port(record, port) for record in records[2000:]))
        (row,) = read_captures(middle).connections.filter(pl.col("responder_wire_bytes") > 1e6).rows(named=True)
        assert (row["quic"], row["quic_probably"]) == (False, known)
        if known:
            # Who answers at the port of HTTP/3 is the server, also where it sent the first packet.
            assert row["responder"] == "10.1.0.0" and row["responder_distinct_bytes"] > 2e6
    middle.write_bytes(header + b"".join(with_port(record, 443) for record in records[2000:]))
    found = replay_of(middle, "5mbit/2mbit", "100", internal=["10.2.0.0/16"])
    assert found.udp.quic > 0.98 and found.udp.probably == found.udp.quic  # the rest is the ping of the run
    assert any("probably: the beginning of these connections" in doubt for doubt in found.doubts)


def test_what_the_captured_link_held_up_is_faster_over_a_faster_link(tmp_path):
    """Downloads of QUIC that fill a link of 2 Mbit/s, over one of 10; new connections show how long packets waited."""
    rows = [(0.05 * k, "up 300 | down 1500000 | done", "10.1.0.0", f"10.2.0.{k}", 0.03) for k in range(3)]
    rows += [(0.2 + 0.3 * k, "up 300 | down 3000 | done", "10.1.0.1", f"10.2.1.{k}", 0.03) for k in range(60)]
    frame = pl.DataFrame(rows, schema=["start_s", "script", "dst", "src", "rtt_s"], orient="row").sort("start_s")
    flows = flow_list(frame.with_columns(direction=pl.lit("up"), opened_by=pl.lit("sender"), transport=pl.lit("quic")))
    path = tmp_path / "slow.pcap"
    slow = scenario(**{"network.rate": "2mbit", "network.reverse_rate": "1mbit"})
    taken = mayfly.run(slow, "fifo", flows, recording=Recording(str(path), "client"))
    found = replay_of(path, "10mbit/2mbit", "200/60", internal=["10.2.0.0/16"])
    (fast,) = run_replay(found.scenario, [parse("fifo")], found.flows)
    large = [run.records.filter(pl.col("size_bytes") > 1_000_000) for run in (taken, fast)]
    lasted_s = [(own["finish_s"] - own["start_s"]).mean() for own in large]
    # At the pace of the captured link they would last as long.
    assert lasted_s[1] < 0.5 * lasted_s[0], lasted_s


def records_of(data):
    """Header of a pcap, and its records with their headers."""
    at, records = 24, []
    while at < len(data):
        length = int.from_bytes(data[at + 8 : at + 12], "little")
        records.append(data[at : at + 16 + length])
        at += 16 + length
    return data[:24], records


def with_port(record, port):
    """A record over IPv4 whose server, with the lower port, has this one."""
    place = min((50, 52), key=lambda place: int.from_bytes(record[place : place + 2], "big"))
    return record[:place] + port.to_bytes(2, "big") + record[place + 2 :]


def test_a_train_of_the_application_keeps_its_pace_and_one_of_the_link_does_not(tmp_path):
    # An answer of 150 packets, one each 40 ms, while nothing else uses the link; and one that shares it with four.
    paced = "up 300 | down 217200 pace 40ms | done"
    rows = [(0.0, paced, "10.1.0.0", "10.2.0.0", 0.012)]
    rows += [(10.0 + 0.01 * k, "up 300 | down 3000000 | done", "10.1.0.1", f"10.2.0.{k}", 0.03) for k in range(5)]
    frame = pl.DataFrame(rows, schema=["start_s", "script", "dst", "src", "rtt_s"], orient="row")
    flows = flow_list(frame.with_columns(direction=pl.lit("up"), opened_by=pl.lit("sender")))
    _, path = captured(tmp_path, flows, "fifo")
    found = replay_of(path, "10mbit/2mbit", "200/60", internal=["10.2.0.0/16"]).flows.sort("start_s")
    first, *others = texts(found.filter(pl.col("script").is_not_null()))
    assert "pace" in first or first.count("wait") > 20
    assert not any("pace" in text for text in others)
