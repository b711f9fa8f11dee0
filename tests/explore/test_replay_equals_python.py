"""The list of flows that `crates/replay` makes of a capture is the one of Python, nanosecond by nanosecond."""

import gzip
import json
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest
from packets import FAR, NEAR, write_udp

from mayfly import _native
from mayfly.comparison.replay import replay_of
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.simulate import columns, probes, traces
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import native_settings, starting_in_time
from mayfly.workload import scripts
from mayfly.workload.closed_loop import closed
from mayfly.workload.mix import offered

ROOT = Path(__file__).parents[2]
DATA = next((up / "shared/data/pcap" for up in ROOT.parents if (up / "shared").is_dir()), ROOT / "shared/data/pcap")
OFFICE = ROOT / "captures/office.pcap.gz"
TINY = ROOT / "tests/data/tiny.pcapng.gz"

RATES_BPS = ((10_000_000, 10_000_000), (50_000_000, 10_000_000), (2_000_000, 1_000_000))
"""Down and up: the first ones are those of the office's link, the second ones more than it carried, the third less."""

ARCHIVES = ("tcpdump_tests.tar.gz", "ndpi_fuzz.tar.gz")
"""Hundreds of small captures, many of them damaged or strange."""

SEED = 7


def captures():
    """Captures beside the checkout; one that is not there is skipped visibly."""
    known = sorted(path for path in DATA.rglob("*") if ".pcap" in path.name or ".dmp" in path.name)
    return [OFFICE, TINY, *known] if known else [OFFICE, TINY, DATA]


def in_archives():
    if not DATA.exists():
        return
    for archive in ARCHIVES:
        with tarfile.open(DATA / archive) as files:
            for member in files:
                if member.isfile() and (file := files.extractfile(member)) is not None:
                    yield member.name, file.read()


def of_python(path, rates, internal=None, rtt=None):
    """The list of `mayfly whatif`, in the form of the native module, and what the command knows beside it."""
    down, up = rates
    found = replay_of(path, f"{down}bit/{up}bit", 300, internal=internal, rtt=rtt, overrides={"seed": SEED})
    scenario = found.scenario
    flows = closed(starting_in_time(found.flows, scenario.duration))
    alone, calls = traces.without_calls(flows)
    network, full = network_of(scenario), scenario.tcp.mss + scenario.tcp.headers_bytes
    probed, probing = probes.with_probes(scenario, alone, scenario.seed)
    ping = probes.ping_alone(probed)

    def native(rows):
        return columns.native_flows(rows, full, network.numbers(rows))

    load = offered(found.flows, **found.packets, span_s=found.span_s or 1.0)
    median = found.flows["rtt_s"].median()
    return {
        "span_s": found.span_s,
        "rtt_s": median,
        "duration_ns": native_settings(scenario, parse("fifo"), 1)["duration_ns"],
        "offered_bytes": [load["down"]["wire_bytes"], load["up"]["wire_bytes"]],
        "calls": [] if not calls.rows else list(zip(calls.rows, flows[traces.CALL].drop_nulls(), strict=True)),
        "call_trace_limit": calls.packets,
        "connection": found.flows["connection_id"].to_list(),
        "client": clients(flows),
        "back_bytes": backs(flows),
        "longest_wait_ns": waits(flows),
        "flows": plain(native(alone), alone),
        "probes": list(probing.names),
        "probed": plain(native(probed), probed),
        "alone": plain(native(ping), ping),
        "doubts": found.doubts,
    }


def clients(flows):
    return [dst if opened == "receiver" else src for src, dst, opened in flows["src", "dst", "opened_by"].iter_rows()]


def trains_of(flows):
    texts = flows["script"] if "script" in flows.columns else [None] * flows.height
    return [[] if text is None else scripts.parsed(text) for text in texts]


def backs(flows):
    ways = zip(flows["direction"], trains_of(flows), strict=True)
    return [sum(train.size_bytes for train in trains if train.direction != way) for way, trains in ways]


def waits(flows):
    return [max((train.wait_ns for train in trains), default=0) for trains in trains_of(flows)]


def plain(native, flows):
    """Columns as Rust has them: null for what a flow does not have."""
    udp = (flows["protocol"] == "udp").to_numpy()
    told = {name: native[name].tolist() for name in ("start_ns", "size_bytes", "src", "dst", "flags", "gap_ns")}
    told["rtt_ns"] = [None if rtt == columns.NEVER else int(rtt) for rtt in native["rtt_ns"]]
    told["packet_bytes"] = [
        int(size) if is_udp else None for size, is_udp in zip(native["packet_bytes"], udp, strict=True)
    ]
    for name in ("stage", "after"):
        told[name] = [None if stage == 2**32 - 1 else int(stage) for stage in native[name]]
    told["bursts"] = {name: values.tolist() for name, values in native["bursts"].items()}
    own = ("flow", "forward", "bytes", "wait_ns", "pace_ns", "done")
    told["scripts"] = {name: native["scripts"][name].tolist() for name in own}
    return told


def of_rust(path, content, links, internal=None):
    """The same of `crates/replay`, for each link: rates and round-trip time."""
    scenario = replay_scenario()
    tcp = scenario.tcp
    asked = {
        "name": str(path),
        "internal": internal,
        "mss": tcp.mss,
        "header_bytes": tcp.headers_bytes,
        "initial_window": tcp.initial_window,
        "delayed_ack": tcp.delayed_ack > 0,
        "links": [
            {"down_bps": down, "up_bps": up, "rtt_s": rtt, "ping_interval_s": scenario.probes.interval, "seed": SEED}
            for (down, up), rtt in links
        ],
    }
    told = json.loads(_native.replay_flows(content, json.dumps(asked)))
    for link in told["links"]:
        link["client"] = [link["hosts"][host] for host in link["client"]]
        link["calls"] = [tuple(call) for call in link["calls"]]
        link["doubts"] = told["doubts"]
    return told["links"]


def replay_scenario():
    from mayfly.scenario.scenario import load_scenario

    return load_scenario("whatif")


def differences(ours, theirs, path=""):
    """Where two answers differ: names of columns and the first rows that do."""
    if isinstance(ours, dict):
        assert isinstance(theirs, dict)
        for name in ours:
            yield from differences(ours[name], theirs[name], f"{path}.{name}" if path else name)
    elif ours != theirs:
        if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
            rows = [row for row, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]]
            yield f"{path}: {len(rows)} of {len(ours)} rows: " + "; ".join(
                f"{row}: {ours[row]} / {theirs[row]}" for row in rows[:3]
            )
        else:
            yield f"{path}: {str(ours)[:200]} / {str(theirs)[:200]}"


def check(path, content, internal=None, rates=RATES_BPS, rtts=(None,)):
    """Both lists are equal, or both refuse the capture in the same words; whether there is a list."""
    links = [(rate, rtt) for rate in rates for rtt in rtts]
    try:
        python = [of_python(path, rate, internal, rtt) for rate, rtt in links]
    except MayflyError as error:
        with pytest.raises(ValueError) as refused:
            of_rust(path, content, links, internal)
        assert str(refused.value) == str(error)
        return False
    rust = of_rust(path, content, links, internal)
    for link, ours, theirs in zip(links, python, rust, strict=True):
        names = set(ours)
        found = list(differences(ours, {name: theirs[name] for name in names}))
        assert not found, f"{path}, {link}: python / rust\n" + "\n".join(found)
    return True


def of_office():
    return OFFICE, OFFICE.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name)
def test_the_list_of_a_capture_is_that_of_python(path):
    if not path.is_file():
        pytest.skip("shared/data/pcap is not beside the checkout")
    check(path, path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("internal", [["10.0.0.0/8", "2001::/16"], ["0.0.0.0/1", "::/2"]], ids=lambda one: one[0])
@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name)
def test_named_networks_and_times_are_those_of_python(path, internal):
    if not path.is_file():
        pytest.skip("shared/data/pcap is not beside the checkout")
    check(path, path.read_bytes(), internal, rates=((3_000_000, 400_000),), rtts=(0.03,))


@pytest.mark.slow
def test_strange_captures_give_the_list_or_the_refusal_of_python(tmp_path):
    lists, refusals = 0, 0
    for number, (_, content) in enumerate(in_archives()):
        path = tmp_path / str(number)
        path.write_bytes(content)
        if check(path, content, rates=((2_000_000, 1_000_000),)):
            lists += 1
        else:
            refusals += 1
    if not lists:
        pytest.skip("shared/data/pcap is not beside the checkout")
    assert lists >= 300 and refusals >= 500


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_a_capture_with_holes_and_another_clock_is_that_of_python(number, tmp_path):
    """The office's, of which packets are lost, all times are multiplied, and some are out of order."""
    content = disturbed(gzip.decompress(OFFICE.read_bytes()), np.random.default_rng(number))
    path = tmp_path / "disturbed.pcap"
    path.write_bytes(content)
    assert check(path, content, rates=((10 ** (5 + number // 2), 10 ** (7 - number // 2)),))


def disturbed(pcap, rng):
    packets, place = [], 24
    while place + 16 <= len(pcap):
        seconds, fraction, kept, length = struct.unpack_from("<IIII", pcap, place)
        packets.append((seconds, fraction, kept, length, pcap[place + 16 : place + 16 + kept]))
        place += 16 + kept
    first, last = np.sort(rng.integers(0, len(packets), 2))
    slower, lost, swapped = rng.choice([0.2, 1.0, 3.7]), rng.choice([0.0, 0.02, 0.3]), rng.choice([0.0, 0.001])
    parts, origin = [pcap[:24]], packets[0][0]
    unit = 10**9 if pcap[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 10**6
    for seconds, fraction, kept, length, data in packets[first : max(last, first + 3000)]:
        ticks = int(((seconds - origin) * unit + fraction) * slower)
        ticks = max(ticks - int(unit * 0.05 * (rng.random() < swapped)), 0)
        if rng.random() >= lost:
            parts.append(struct.pack("<IIII", origin + ticks // unit, ticks % unit, kept, length) + data)
    return b"".join(parts)


def test_a_small_capture_is_that_of_python():
    check(TINY, TINY.read_bytes(), rtts=(None, 0.03))


def test_the_office_is_that_of_python():
    path, content = of_office()
    # More than it carried: the queue is not looked for, which takes a while in Python.
    assert check(path, content, ["10.10.0.0/24"], rates=RATES_BPS[1:2], rtts=(None, 0.05))


def test_a_call_of_the_capture_is_that_of_python(tmp_path):
    ways = ((NEAR, FAR, 4000, 5000), (FAR, NEAR, 5000, 4000))
    speech = [(0.02 * place, *ends, 172) for place in range(900) for ends in ways]
    path = write_udp(tmp_path / "call.pcap", speech)
    assert check(path, path.read_bytes())
    (link,) = of_rust(path, path.read_bytes(), [(RATES_BPS[0], None)])
    assert link["calls"] == [(0, 900), (1, 900)] and link["probes"] == ["ping"]


@pytest.mark.parametrize("internal", [["10.99.0.0/24"], ["10.10.0.1/24"], ["10.10.0.0/33"], []])
def test_networks_that_cannot_be_are_refused_alike(internal):
    path, content = of_office()
    assert not check(path, content, internal, rates=RATES_BPS[1:2])


def test_years_between_packets_are_refused_alike(tmp_path):
    for apart_s in (4e7, 7e7, 2e9):
        path = write_udp(tmp_path / "years.pcap", [(0.0, NEAR, FAR, 1, 2, 9), (apart_s, NEAR, FAR, 3, 4, 9)])
        assert not check(path, path.read_bytes())
