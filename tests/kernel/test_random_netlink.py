"""Bounds of options and random requests where the kernel itself sees them (kernel/uml/bounds.py, random_netlink.py)."""

import os
import subprocess
import sys
import tempfile
from functools import cache

import guest
import pytest
import qdiscs

sys.path.insert(0, str(guest.UML))
import netlink

pytestmark = pytest.mark.kernel

MS, S = 10**6, 10**9
LIMIT = (1, 1 << 20, "limit: 1 to 1048576 packets")
BYTES = (1, (1 << 32) - 1, "limit: 1 to 4294967295 bytes")
FLOWS = (0, 1 << 20, "flows: 0 to 1048576")
SHARE, RED = 1 << 14, 1 << 31
BOUNDS = {
    "efd": {
        "LIMIT": LIMIT,
        "LIMIT_BYTES": BYTES,
        "COUNT": (0, 2, "count: bytes, packets or acked"),
        "THRESHOLD": (1, (1 << 32) - 1, "threshold: 1 to 4294967295"),
        "HIGH": (0, 1, "high: fifo or las"),
        "LOW": (0, 1, "low: fifo or las"),
        "FLOWS": FLOWS,
        "SPLIT": (0, 1, "split: 0 or 1"),
    },
    "las": {
        "LIMIT": LIMIT,
        "LIMIT_BYTES": BYTES,
        "COUNT": (0, 1, "count: bytes or acked"),
        "HALF_LIFE": (MS, 1_000_000 * S, "half_life: 1 ms to 1000000 s"),
        "VISIT": (MS, 1_000_000 * S, "visit: 1 ms to 1000000 s"),
        "TIMEOUT": (MS, 1_000_000 * S, "timeout: 1 ms to 1000000 s"),
        "FLOWS": FLOWS,
        "SPLIT": (0, 1, "split: 0 or 1"),
    },
    "run2c": {
        "LIMIT": LIMIT,
        "LIMIT_BYTES": BYTES,
        "COUNT": (0, 1, "count: bytes or acked"),
        "THRESHOLD": (1, (1 << 32) - 1, "threshold: 1 to 4294967295 bytes"),
        "VISIT": (MS, 1_000_000 * S, "visit: 1 ms to 1000000 s"),
        "TIMEOUT": (MS, 1_000_000 * S, "timeout: 1 ms to 1000000 s"),
        "FLOWS": FLOWS,
        "SPLIT": (0, 1, "split: 0 or 1"),
    },
    "lfq": {
        "LIMIT": LIMIT,
        "LIMIT_BYTES": BYTES,
        "USER": (0, 6, "user: pair, triple, dst, src, flow, mark or class"),
        "WEIGHTS": (0, 2, "weights: equal, mark or dscp"),
        "PREFIX": (1, 32, "prefix: 1 to 32"),
        "PREFIX6": (1, 128, "prefix6: 1 to 128"),
        "USER_LAG": (0, (1 << 32) - 1, ""),
        "FLOW_LAG": (0, (1 << 32) - 1, ""),
        "DEBT": (0, (1 << 32) - 1, ""),
        "PACE": (0, 1 << 24, "pace: 0 to 1"),
        "PROBATION": (0, 1_000_000 * S, "probation: 0 to 1000000 s"),
        "FLOWS": (8, 32_768, "flows: 8 to 32768"),
        "USERS": (8, 16_384, "users: 8 to 16384"),
        "LAG_TIME": (MS, 1_000_000 * S, "lag_time: 1 ms to 1000000 s"),
        "PATIENCE": (MS, 1_000_000 * S, "patience: 1 ms to 1000000 s"),
        "TARGET": (1000, 1000 * S, "target: 1 us to 1000 s"),
        "INTERVAL": (1000, 4 * S, "interval: 1 us to 4 s"),
        "MTU": (1, 1 << 30, "mtu: 1 to 1073741824 bytes"),
        "ECN": (0, 1, "ecn: 0 or 1"),
        "STEP": (1000, 1000 * S, "step: 1 us to 1000 s"),
        "SPLIT": (0, 1, "split: 0 or 1"),
        "LIMIT_TIME": (MS, 100 * S, "limit: 1 ms to 100 s"),
        "MEMLIMIT": (1 << 18, 1 << 30, "memlimit: 262144 to 1073741824 bytes"),
        "BANDWIDTH": (1000, 125 * 10**9, "bandwidth: 8 kbit/s to 1 Tbit/s"),
        "INGRESS": (0, 1, "ingress: 0 or 1"),
        "OVERHEAD": (-64, 256, "overhead: -64 to 256 bytes"),
        "MPU": (0, 256, "mpu: 0 to 256 bytes"),
        "FRAMING": (0, 2, "noatm, atm or ptm"),
        "NAT": (0, 1, "nat: 0 or 1"),
    },
    "estmred": {
        "LIMIT_BYTES": (0, 1, "limit: in packets or in bytes"),
        "LIMIT": (1, (1 << 32) - 1, "limit: 1 to 1048576 packets or 4294967295 bytes"),
        "BYTES": (0, 1, "min, max: in packets or in bytes"),
        "MIN": (0, (1 << 32) - 1, "min: at most 4294967295"),
        "MAX_TH": (0, (1 << 32) - 1, "max: at most 4294967295"),
        "AVPKT": (1, 10**9, "avpkt: 1 to 1000000000 bytes"),
        "PROBABILITY": (1, RED, "probability: above 0, at most 1"),
        "WEIGHT": (1, RED, "weight: above 0, at most 1"),
        "GENTLE": (0, 1, "gentle: on or off"),
        "WAIT": (0, 1, "spacing: uniform or wait"),
        "ECN": (0, 1, "ecn: on or off"),
        "MARK_MAX": (0, RED, "mark_max: 0 to 1"),
        "SPLIT": (0, 1, "split: 0 or 1"),
        "ESTIMATE": (0, 1, "estimate: on or off"),
        "METHOD": (0, 6, "method: one of seven"),
        "RATE": (0, 50 * 10**9, "bandwidth: at most 400 Gbit/s"),
        "RTT": (MS // 10, 60 * S, "rtt: 0.1 ms to 60 s"),
        "QUEUED_RTT": (0, 100 * S, "queued_rtt: at most 100 s"),
        "SAMPLING": (10_000, 100 * S, "sampling: 10 us to 100 s, or 0"),
        "PER_ESTIMATE": (1, 10**6, "per_estimate: 1 to 1000000"),
        "START": (0, 10**9 * S, "start: at most 1000000000 s"),
        "TICKS": (1, 10**6, "ticks: 1 to 1000000 a second"),
        "QUEUE_FILTER": (0, 16368, "queue_filter: 0 to 0.999"),
        "DROP_FILTER": (0, 16368, "drop_filter: 0 to 0.999"),
        "SMOOTHING": (0, 16368, "smoothing: 0 to 0.999"),
        "GAMMA_1": (0, 10**6 * SHARE, "gamma_1: 0 to 1000000"),
        "GAMMA_2": (2, 2 * SHARE - 1, "gamma_2: 0.0002 to 1.999"),
        "START_SHARE": (0, 16220, "start_share: 0 to 0.99"),
        "PER_ACK": (SHARE, 16 * SHARE, "per_ack: 1 to 16"),
        "ABOVE": (0, SHARE, "above: 0 to 1"),
        "BELOW": (0, SHARE, "below: 0 to 1"),
        "ZERO_INTERVALS": (1, 10**6, "zero_intervals: 1 to 1000000"),
    },
}
"""Of every option its smallest and largest value, and words of what the kernel says beyond them.

Those of 2026-11; of an option that is not here its table in kernel/options says it.
"""

ALSO_ZERO = {("las", "HALF_LIFE"), ("estmred", "SAMPLING"), ("lfq", "BANDWIDTH")}
BESIDE = {
    ("estmred", "ABOVE"): (),
    ("estmred", "BELOW"): (("ABOVE", SHARE),),
    ("estmred", "LIMIT"): (("LIMIT_BYTES", 1),),
    ("lfq", "LIMIT_TIME"): (("BANDWIDTH", 10**6),),
}
"""Options without which another one is refused for more than its bound."""
MEMORY = "1024M"
SECONDS = os.environ.get("MAYFLY_NETLINK_SECONDS", "")
"""How long the longest run takes, on the clock of the machine (CONTRIBUTING.md)."""


@cache
def declared() -> dict[str, dict[str, tuple[int, int, str]]]:
    """Bounds that the tables of options have, as a program compiled of them prints them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["make", "-s", "-C", guest.KERNEL, f"{folder}/options", f"OUT={folder}"], check=True)
        done = subprocess.run([f"{folder}/options"], capture_output=True, text=True, check=True)
    found: dict[str, dict[str, tuple[int, int, str]]] = {}
    for line in done.stdout.splitlines():
        kind, name, _, _, least, most, says = line.split(" ", 6)
        if says != "-":
            bound = int(least), int(most), says.removeprefix(f"{kind}: ")
            found.setdefault(kind, {})[name.removeprefix(f"TCA_{kind.upper()}_")] = bound
    return found


def test_every_option_has_a_bound_here_or_in_its_table():
    # What is no number has its cases in kernel/tdc.
    names = {kind: {row.name: row.size for row in rows if row.size} for kind, rows in netlink.attributes().items()}
    assert set(names) == {row.id for row in qdiscs.ROWS}
    known = {kind: set(rows) | set(declared().get(kind, ())) for kind, rows in BOUNDS.items()}
    assert known == {kind: set(rows) for kind, rows in names.items()}
    assert all(size in (1, 4, 8) for rows in names.values() for size in rows.values())


@pytest.mark.parametrize("kind", BOUNDS)
def test_the_kernel_takes_an_option_up_to_its_bounds_and_names_the_bound_beyond(kind):
    sizes = {row.name: row.size for row in netlink.attributes()[kind]}
    cases, expected = [], []
    for name, (least, most, says) in (declared().get(kind, {}) | BOUNDS[kind]).items():
        also = BESIDE.get((kind, name), ())
        for value in {least, most, *({0} if (kind, name) in ALSO_ZERO else ())}:
            cases.append((kind, [*also, (name, value)]))
            expected.append(None)
        for value in (least - 1, most + 1):
            if 0 <= value < 1 << 8 * sizes[name] and not (value == 0 and (kind, name) in ALSO_ZERO):
                cases.append((kind, [*also, (name, value)]))
                expected.append(f"{kind}: {says}")
    answers = guest.run("bounds.py", {"cases": cases}, modules=(f"sch_{kind}",), memory=MEMORY)
    assert len(answers) == len(cases)
    assert sum(says is not None for says in expected) >= len(BOUNDS[kind])
    for case, says, (error, reason) in zip(cases, expected, answers, strict=True):
        if says is None:
            assert not error, (case, error, reason)
        else:
            assert error == "ERANGE" and says in reason, (case, error, reason)


def random_run(**settings) -> dict:
    virtual = not settings.get("beside")
    found = guest.run("random_netlink.py", settings, modules=qdiscs.MODULES, memory=MEMORY, virtual=virtual)
    assert not found["log"], found["log"]
    assert "mf_" not in found["leaks"], found["leaks"]
    return found


def test_random_requests_and_packets_leave_the_kernel_whole():
    found = random_run(seed=1, requests=400)
    taken = sum(count for what, count in found["asked"].items() if what.endswith(" ok"))
    refused = found["requests"] - taken
    # Neither all of one kind: what is refused before it is read tests nothing.
    assert found["requests"] == 400 and taken > 80 and refused > 80, found["asked"]
    assert found["sent"] > 1000 and found["most"] > 0
    assert any("1 to 1048576 packets" in reason for reason in found["reasons"]), found["reasons"]


@pytest.mark.skipif(not SECONDS, reason="runs as long as MAYFLY_NETLINK_SECONDS says")
def test_random_requests_beside_another_process_that_sends(capsys):
    found = random_run(seed=int(SECONDS), seconds=float(SECONDS), beside=True)
    with capsys.disabled():
        print({key: value for key, value in found.items() if key not in ("log", "leaks")})
    assert found["requests"] > float(SECONDS)
