"""The core of LFQ decides about every packet as crates/qdisc does: users, newcomers, full tables, weights."""

import random
import subprocess

import pytest
import traces
import user_traces
from test_same_decisions import compare, text_of

BUSY = {"flows": 40, "hosts": 8, "rate_bps": 1e7, "load": 1.3}
TINY = ("flows=8", "users=8")
OPTIONS = [
    (),
    ("user=triple",),
    ("user=triple", "weights=mark", "prefix=30"),
    ("user=dst", "probation=0"),
    ("user=src", "prefix=29", "pace=1"),
    ("user=flow", "pace=0", "debt=0"),
    ("user=mark", "weights=mark", "patience=0.001"),
    ("user_lag=0", "flow_lag=0", "probation=0.001"),
    ("user_lag=1099511627776", "flow_lag=5000", "lag_time=0.05"),
    ("target=0.0001", "interval=0.003", "ecn=off", "step=0.000001"),
    ("target=0.000001", "interval=0.001", "mtu=3000", "debt=1000000"),
    ("patience=0.000001", "user=flow", *TINY),
    ("user=src", "probation=0.5", *TINY),
    TINY,
]
"""Every option, and tables that are always full."""


def told(lines: list[str]) -> dict[str, int]:
    """Packets that came, were refused, pushed out, dropped early and sent with a mark."""
    words = [line.split() for line in lines]
    sent = [line for line in words if line[0] == "-" and line[1] != "-"]
    return {
        "came": sum(line[0] == "+" for line in words),
        "full": sum(line[0] == "+" and line[2] == "full" for line in words),
        "pushed_out": sum(line[4].count("pushed_out") for line in words),
        "early": sum(line[4].count("early") for line in words),
        "marked": sum(line[2] == "3" for line in sent),
        "sent": len(sent),
    }


@pytest.mark.parametrize("options", OPTIONS, ids="/".join)
def test_a_congested_link(programs, options):
    for seed, limit in enumerate(("30p", "1000p", "300000b")):
        text = "\n".join(user_traces.link(seed, 4000, **BUSY)) + "\n"
        found = told(compare(programs, "lfq", limit, options, text))
        assert found["came"] >= 4000 and found["sent"] > 1000, found
        assert found["pushed_out"] > 100 or limit != "30p", found


@pytest.mark.parametrize(
    "options", [(), TINY, ("user=src", *TINY), ("user=triple", "users=8"), ("probation=0",)], ids="/".join
)
@pytest.mark.parametrize("again", [0, 0.2, 0.8])
def test_a_flood_of_new_addresses(programs, options, again):
    for seed, limit in enumerate(("2p", "300p", "200000b")):
        text = "\n".join(user_traces.new_addresses(seed, 3000, again=again)) + "\n"
        compare(programs, "lfq", limit, options, text)


@pytest.mark.parametrize("rate_bps", [1e5, 1e6, 1e8, 1e10])
def test_charges_of_slow_and_of_fast_links(programs, rate_bps):
    text = "\n".join(user_traces.link(7, 6000, **BUSY | {"rate_bps": rate_bps})) + "\n"
    found = told(compare(programs, "lfq", "500p", (), text))
    assert found["sent"] > 3000, found


def test_more_flows_than_slots_and_more_hosts_than_users(programs):
    for hosts in (3, 300, 100_000):
        text = "\n".join(user_traces.link(hosts, 8000, **BUSY | {"flows": 2000, "hosts": hosts, "load": 2})) + "\n"
        found = told(compare(programs, "lfq", "600p", ("probation=0.001",), text))
        assert found["pushed_out"] > 500, found


def test_drops_and_marks_of_codel_and_of_the_step(programs):
    text = "\n".join(user_traces.link(3, 8000, **BUSY | {"flows": 6, "load": 1.05})) + "\n"
    found = told(compare(programs, "lfq", "5000p", ("interval=0.02", "debt=0"), text))
    assert found["early"] > 50 and found["marked"] > 50, found
    unmarked = told(compare(programs, "lfq", "5000p", ("interval=0.02", "debt=0", "ecn=off"), text))
    assert unmarked["early"] > found["early"] and unmarked["marked"] < found["marked"], (found, unmarked)


def test_without_hosts_every_connection_is_of_a_host_of_its_own(programs):
    lines = list(traces.drawn(5, 3000, 40))
    hosts = [f"{line} {int(line.split()[2]) >> 1 & 0xFFFFFFFF} 0 0" if line[0] == "+" else line for line in lines]
    first = compare(programs, "lfq", "30p", (), text_of(traces.drawn, 5, 3000, 40))
    assert first == compare(programs, "lfq", "30p", (), "\n".join(hosts) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_drawn_options_and_links(programs, seed):
    rng = random.Random(seed)
    options = {value.split("=")[0]: value for row in rng.sample(OPTIONS, 3) for value in row}
    shape = {"flows": rng.choice((3, 40, 1000)), "hosts": rng.choice((2, 60, 1000)), "load": rng.choice((0.6, 1.3, 3))}
    text = "\n".join(user_traces.link(seed, 20_000, rate_bps=rng.choice((1e6, 1e8)), **shape)) + "\n"
    compare(programs, "lfq", rng.choice(("3p", "300p", "700000b")), tuple(options.values()), text)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_packet_leaves_once_whatever_changes_and_is_deleted(core, seed):
    """kernel/test/soak.c; of 10^9 packets docs/kernel/index.md tells."""
    done = subprocess.run([core.with_name("soak"), "1500000", str(seed)], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    told = dict(zip(done.stdout.split()[::2], map(int, done.stdout.split()[1::2]), strict=True))
    assert told["sent"] > 1_000_000 and told["dropped"] > 50_000 and told["refused"] > 1000, told
    assert told["changes"] >= 30 and told["deletions"] == 1, told


@pytest.mark.parametrize("user", ["pair", "src", "dst", "triple", "flow"])
@pytest.mark.parametrize("rate_bps", [1e6, 4e6])
def test_a_recorded_office(programs, user, rate_bps):
    found = told(compare(programs, "lfq", "400p", (f"user={user}", "users=16"), text_of(traces.recorded, rate_bps)))
    assert found["came"] > 50_000 and found["early"] + found["pushed_out"] > 1000, found
