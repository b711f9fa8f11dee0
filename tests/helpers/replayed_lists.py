"""The list of flows that a capture is replayed with: by the compiled module alone, and on the way of the commands.

Both give plain objects of one form, so that they can be compared with each other and with ``tests/data/gold``.
"""

import gzip
import json
import struct
import tarfile

import numpy as np
from packets import FAR, NEAR, write_udp

from mayfly import _native
from mayfly.comparison.replay import replay_of
from mayfly.discipline_registry import parse
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate import columns, probes, traces
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.run import starting_in_time
from mayfly.simulate.settings import native_settings
from mayfly.workload import scripts
from mayfly.workload.mix import offered
from mayfly.workload.replayed import another_hour, closed

SEED = 7

RATES_BPS = ((10_000_000, 10_000_000), (50_000_000, 10_000_000), (2_000_000, 1_000_000))
"""Down and up: the first ones are those of the office's link, the second ones more than it carried, the third less."""

ARCHIVES = ("tcpdump_tests.tar.gz", "ndpi_fuzz.tar.gz")
"""Hundreds of small captures, many of them damaged or strange."""


def in_archive(path):
    """Names and contents of the files of an archive."""
    with tarfile.open(path) as files:
        for member in files:
            if member.isfile() and (file := files.extractfile(member)) is not None:
                yield member.name, file.read()


def write_call(path):
    """A capture of one call, both directions."""
    ways = ((NEAR, FAR, 4000, 5000), (FAR, NEAR, 5000, 4000))
    return write_udp(path, [(0.02 * place, *ends, 172) for place in range(900) for ends in ways])


def disturbed(path, seed):
    """A pcap.gz of which packets are lost, all times are multiplied, and some are out of order."""
    pcap, rng = gzip.decompress(path.read_bytes()), np.random.default_rng(seed)
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


# By the compiled module alone: the form `users`.


def of_rust(path, content, links, internal=None):
    """The list over each link: rates, down and up, and the round-trip time or None."""
    scenario = load_scenario("whatif")
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
        link["missing"] = told["missing"] + link["missing"]
    return told["links"]


# On the way of the commands: all forms.


def of_command(path, rates=RATES_BPS[0], internal=None, rtt=None, hour=0, **how):
    """The list of `mayfly whatif`, in the form of the native module, and what the command knows of it.

    Parameters
    ----------
    path : path
    rates : (int, int)
        Down and up, bit/s.
    internal, rtt
        As :func:`mayfly.comparison.replay.replay_of` takes them.
    hour : int
        0 for the capture itself, else the number of the hour that is drawn from its sessions.
    how
        ``replay`` and ``load``, as there.
    """
    down, up = rates
    found = replay_of(path, f"{down}bit/{up}bit", 300, internal=internal, rtt=rtt, overrides={"seed": SEED}, **how)
    scenario = found.scenario
    own = another_hour(found.flows, scenario.seed, hour) if hour else found.flows
    flows = closed(starting_in_time(own, scenario.duration))
    alone, calls = traces.without_calls(flows)
    network, full = network_of(scenario), scenario.tcp.mss + scenario.tcp.headers_bytes
    probed, probing = probes.with_probes(scenario, alone, scenario.seed)
    ping = probes.ping_alone(probed)

    def native(rows):
        return columns.native_flows(rows, full, network.numbers(rows))

    load = offered(own, **found.packets, span_s=found.span_s or 1.0)
    return {
        "span_s": found.span_s,
        "rtt_s": scenario.probes.rtt,
        "duration_ns": native_settings(scenario, parse("fifo"), 1)["duration_ns"],
        "offered_bytes": [load["down"]["wire_bytes"], load["up"]["wire_bytes"]],
        "calls": [] if not calls.rows else list(zip(calls.rows, flows[traces.CALL].drop_nulls(), strict=True)),
        "call_trace_limit": calls.packets,
        "connection": own["connection_id"].to_list(),
        "client": _clients(flows),
        "back_bytes": _backs(flows),
        "longest_wait_ns": _waits(flows),
        "flows": _plain(native(alone), alone),
        "probes": list(probing.names),
        "probed": _plain(native(probed), probed),
        "alone": _plain(native(ping), ping),
        "doubts": found.doubts,
        "missing": found.missing,
    }


def _clients(flows):
    return [dst if opened == "receiver" else src for src, dst, opened in flows["src", "dst", "opened_by"].iter_rows()]


def _trains(flows):
    rows = flows["script"].to_list() if "script" in flows.columns else [None] * flows.height
    return [scripts.trains(row or []) for row in rows]


def _backs(flows):
    ways = zip(flows["direction"] == "up", _trains(flows), strict=True)
    return [sum(train.size_bytes for train in trains if train.up != up) for up, trains in ways]


def _waits(flows):
    return [max((train.wait_ns for train in trains), default=0) for trains in _trains(flows)]


def _plain(native, flows):
    """Columns as Rust has them: null for what a flow does not have."""
    udp = (flows["protocol"] == "udp").to_numpy()
    told = {name: native[name].tolist() for name in ("start_ns", "size_bytes", "src", "dst", "flags", "gap_ns")}
    told["rtt_ns"] = [None if rtt == columns.NEVER else int(rtt) for rtt in native["rtt_ns"]]
    told["packet_bytes"] = [
        int(size) if is_udp else None for size, is_udp in zip(native["packet_bytes"], udp, strict=True)
    ]
    for name in ("stage", "after"):
        told[name] = [None if stage == 2**32 - 1 else int(stage) for stage in native[name]]
    data = json.loads(_native.flow_data(native))
    told["bursts"] = data["bursts"]
    own = ("flow", "forward", "bytes", "wait_ns", "pace_ns", "done")
    told["scripts"] = {name: data["scripts"][name] for name in own}
    return told
