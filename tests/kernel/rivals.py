"""fq_codel and cake in the simulator and in the kernel, side by side; as a program, tables of docs/kernel/engine.md.

Two experiments. `rivals.py datagrams`: datagrams whose times do not depend on what becomes of them, so that what is
different is the discipline. `rivals.py gaming`: cases of `mayfly gaming` with today's hosts, where it may be TCP too.
"""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
import polars as pl

import mayfly
from mayfly.engines import engine as engine_named
from mayfly.engines import linux, transport
from mayfly.packs.gaming import cases
from mayfly.scenario.attacks import ATTACKS, attack
from mayfly.scenario.scenario import load_scenario

NAMES = ("fq_codel", "cake")
PACKET_BYTES, HEADERS_BYTES = 1500, 28
SECONDS = 30.0
LAST_START_S = SECONDS - 3
ATTACKER, SHORT = 3, 4  # users 0 to 2 are the long ones


def _flow(start_s: float, user: int, packets: int, rate_bps: float, group: str) -> dict:
    size = packets * (PACKET_BYTES - HEADERS_BYTES)
    row = {"start_s": start_s, "src": user, "dst": user, "protocol": "udp", "size_bytes": size, "group": group}
    return row | {"packet_bytes": PACKET_BYTES, "rate_bps": rate_bps}


def _steady(user: int, rate_bps: float, group: str, flows: int = 1, start_s: float = 0.0) -> list[dict]:
    """A user with that rate in all, to the end, over equal flows that begin 0.7 ms after one another."""
    packets = int(rate_bps / flows * SECONDS / 8 / PACKET_BYTES)
    return [_flow(start_s + 0.0007 * k, user, packets, rate_bps / flows, group) for k in range(flows)]


def _bursts(load_bps: float, users: int, group: str, seed: int) -> list[dict]:
    """Transfers of 4 to 40 packets at twice the rate of the link, as the windows of TCP are."""
    draw = np.random.default_rng(seed)
    rows, now = [], 0.0
    while True:
        packets = min(40, int(4 + draw.exponential(6)))
        now += draw.exponential(packets * PACKET_BYTES * 8 / load_bps)
        if now > LAST_START_S:
            return rows
        rows.append(_flow(now, SHORT + int(draw.integers(users)), packets, 20e6, group))


def _new_ports(rate_bps: float) -> list[dict]:
    """A steady sender that takes another port as often as in the registry."""
    packets = int(attack("new-ports").fields["renew"])
    starts = np.arange(0.0, LAST_START_S, packets * PACKET_BYTES * 8 / rate_bps)
    return [_flow(start, ATTACKER, packets, rate_bps, "attacker") for start in starts]


def _long() -> list[dict]:
    """Three users at a third of the link each: what is left when others send is less."""
    return [row for user in range(3) for row in _steady(user, 3.3e6, "long", start_s=0.01 * user)]


def _beside(attacker: list[dict]) -> list[dict]:
    return _long() + _bursts(1e6, 12, "short", 1) + attacker


DATAGRAMS: dict[str, Callable[[], list[dict]]] = {
    "steady sender, 50 %": lambda: _beside(_steady(ATTACKER, 5e6, "attacker")),
    "new ports, 50 %": lambda: _beside(_new_ports(5e6)),
    "new ports, 90 %": lambda: _beside(_new_ports(9e6)),
    "split over 8": lambda: _beside(_steady(ATTACKER, 3.2e6, "attacker", flows=8)),
    "overload, 80 %": lambda: _long() + _bursts(8e6, 16, "flood", 2),
    "overload, 150 %": lambda: _long() + _bursts(15e6, 16, "flood", 2),
}


@dataclass(frozen=True)
class Outcome:
    """Of a group of datagrams: share of what came, loss, mean time in ms of bursts that came whole, how many did."""

    share: float
    loss: float
    mean_ms: float | None
    whole: int


def datagrams(case: str, name: str, engine: str) -> dict[str, Outcome]:
    """Outcome by group."""
    scenario = load_scenario("gaming-spaced", {"duration": f"{SECONDS}s", "sample_interval": "10s"})
    flows = pl.DataFrame(DATAGRAMS[case]()).sort("start_s")
    records = mayfly.compare(scenario, name, flows, engine=engine_named(engine)).records
    total, found = records["delivered_bytes"].sum(), {}
    for (group,), rows in records.group_by("group"):
        whole = rows.filter((pl.col("drops") == 0) & pl.col("last_data_s").is_not_null())
        mean = (whole["last_data_s"] - whole["start_s"]).mean() if group in ("short", "flood") else None
        found[str(group)] = Outcome(
            rows["delivered_bytes"].sum() / total,
            rows["drops"].sum() / rows["packets_sent"].sum(),
            None if mean is None else 1e3 * float(mean),
            whole.height,
        )
    return found


def without_rack() -> AbstractContextManager:
    """Hosts of the kernel that repeat no segment before three later ones are acknowledged, as the simulator's."""
    off = {"net.ipv4.tcp_recovery": "0", "net.ipv4.tcp_early_retrans": "0"}

    def changed(tcp):
        own = transport.transport_of(tcp)
        return replace(own, sysctl=own.sysctl | off)

    return mock.patch.object(linux, "transport_of", changed)


@dataclass(frozen=True)
class Users:
    """Of a case of the pack: goodput over fair share of who attacks and of the long ones, slowdown of the others."""

    attacker: float
    long: float
    slowdown: tuple[float | None, float | None]


PLAIN_HOSTS = ("spaced-50", "split-8", "overload-110")
"""Cases that run in the kernel without RACK too."""

SHOWN = (*PLAIN_HOSTS, *(case for row in ATTACKS for case in row.kernel_ids if case not in PLAIN_HOSTS))

GAMING = {case.id: case for case in cases(duration="120s", sample_interval="2s") if case.id in SHOWN}


def gaming(case: str, name: str, engine: str, hosts: AbstractContextManager | None = None) -> Users:
    """One case of the pack."""
    chosen = GAMING[case]
    with hosts or nullcontext():
        row = mayfly.compare(chosen.scenario, name, engine=engine_named(engine)).summary["disciplines"][0]
    groups = {group["group"]: group for group in row["groups"]}
    suffering = groups.get("short", groups.get("flood"))["slowdown"]
    ratios = [groups[group]["ratio"] for group in (chosen.part.group, "long")]
    return Users(*ratios, (suffering["p50"], suffering["p95"]))


def _number(value: float | None) -> str:
    return "∞" if value is None else f"{value:.3g}"


def datagrams_table() -> str:
    lines = [
        "| | | share of the attacker | its loss | loss of the short | their mean, ms |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for case in DATAGRAMS:
        for name in NAMES:
            both = [datagrams(case, name, engine) for engine in ("simulator", "linux")]
            attacker = "flood" if "flood" in both[0] else "attacker"
            short = "flood" if "flood" in both[0] else "short"
            cells = [
                " / ".join(f"{one[attacker].share:.3f}" for one in both),
                " / ".join(f"{one[attacker].loss:.3f}" for one in both),
                " / ".join(f"{one[short].loss:.3f}" for one in both),
                " / ".join(f"{one[short].mean_ms:.0f}" for one in both),
            ]
            lines.append(f"| {case} | `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def gaming_table() -> str:
    lines = [
        "| case | | attacker | long ones | short ones: slowdown 50 % | 95 % |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for case in SHOWN:
        for name in NAMES:
            rows = [gaming(case, name, "simulator"), gaming(case, name, "linux")]
            if case in PLAIN_HOSTS:
                rows.append(gaming(case, name, "linux", without_rack()))
            cells = [
                " / ".join(_number(get(one)) for one in rows)
                for get in (lambda u: u.attacker, lambda u: u.long, lambda u: u.slowdown[0], lambda u: u.slowdown[1])
            ]
            lines.append(f"| {case} | `{name}` | {' | '.join(cells)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    print({"datagrams": datagrams_table, "gaming": gaming_table}[sys.argv[1]]())
