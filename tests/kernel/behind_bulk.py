"""Transfers of 40 kB behind a bulk transfer in the kernel, ours and its own; as a program, the table of the docs."""

import statistics
from functools import cache

import guest
import qdiscs

LIMIT = "limit 100"
OURS = {row.id: f"{row.id} {LIMIT} {row.for_short}".strip() for row in qdiscs.ROWS if row.size_based}
if "efd" in OURS:
    OURS["pefd"] = f"efd {LIMIT} count packets"
    OURS["efdack"] = f"efd {LIMIT} count acked"
PEERS = {
    "pfifo": f"pfifo {LIMIT}",
    "sfq": f"sfq {LIMIT}",
    "fq_codel": f"fq_codel {LIMIT}",
    "cake": "cake unlimited besteffort flows",
}
LEAVES = {**OURS, **PEERS}
SETTINGS = {
    "rate_bps": 10_000_000,
    "delay_s": 0.01,
    # Without it a connection starts from what earlier ones to the same host left behind.
    "sysctl": {"net.ipv4.tcp_no_metrics_save": "1"},
    "cubic": {},
    "congestion": "cubic",
    "bulk_congestion": "cubic",
    "size_bytes": 40_000,
    # Every 1.03 s: the bulk transfer is at another place of its cycle each time.
    "starts_s": [5 + 1.03 * number for number in range(30)],
    "duration_s": 38.0,
    "look_s": 1.0,
    "capture": False,
}


WITH_UDP = {**SETTINGS, "starts_s": SETTINGS["starts_s"][:8], "duration_s": 16.0, "udp_bps": 7_000_000}
"""Beside the bulk transfer UDP at 70 % of the link."""


@cache
def run(name: str, udp: bool = False) -> dict:
    """What `transfers.run` of kernel/uml returns."""
    settings = {**(WITH_UDP if udp else SETTINGS), "leaf": LEAVES[name]}
    return guest.run("transfers.py", settings, modules=qdiscs.MODULES)


def times_s(name: str, udp: bool = False) -> list[float]:
    rows = run(name, udp)["transfers"]
    assert len(rows) == len((WITH_UDP if udp else SETTINGS)["starts_s"]), rows
    assert all(row["finish_s"] for row in rows), rows
    return [row["finish_s"] - row["start_s"] for row in rows]


def table() -> str:
    lines = ["| discipline | mean, ms | median | worst | bulk, Mb/s |", "|---|---:|---:|---:|---:|"]
    for name in LEAVES:
        times = [1e3 * time for time in times_s(name)]
        end, received = run(name)["progress"][-1]
        lines.append(
            f"| `{LEAVES[name]}` | {statistics.mean(times):.1f} | {statistics.median(times):.1f} | {max(times):.1f} | "
            f"{received * 8e-6 / end:.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
