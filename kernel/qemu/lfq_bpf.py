"""Lagged fair queueing as a BPF qdisc at the bottleneck of the test path: short transfers, users with many flows, what is left.

The path is that of kernel/uml/path.py; the BPF qdisc, which shapes by itself, takes the place of htb and its leaf.
"""

import json
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bottleneck import DEVICE, ROOT, path, rows, tc, transfers, trouble
from bpf import dump

FIELDS = "=QQQQQQQIiIBBBB"
"""struct lfq_settings of kernel/bpf/lfq.h"""
DEFAULTS = {"user_lag": 360_000, "flow_lag": 120_000, "debt": 15_000, "probation_ns": 100_000_000}
DEFAULTS |= {"target_ns": 5_000_000, "interval_ns": 100_000_000, "limit_pkts": 10_240}
DEFAULTS |= {"overhead": 0, "mpu": 0, "framing": 0, "adjusted": 0, "by": 0}
USERS = {"10.0.1.11": 8, "10.0.1.12": 1}
"""Flows of each user."""
PORT = 5202


def set_options(rate_bps: float, **options: int) -> None:
    value = struct.pack(FIELDS, int(rate_bps / 8), *(DEFAULTS | options).values(), 0)
    words = [f"{byte:#04x}" for byte in value]
    command = ["bpftool", "map", "update", "name", "lfq_settings", "key", "0", "0", "0", "0", "value", *words]
    subprocess.run(command, check=True)


def shares(duration_s: float) -> dict:
    """Bytes that came from each user, all of them sending at once."""
    until_s = time.monotonic() + 8.0 + duration_s
    program = str(Path(__file__).with_name("users.py"))
    sink = path.inside("server", [sys.executable, program, "sink", str(PORT), str(until_s)])
    time.sleep(4.0)
    ends = [
        path.inside("client", [sys.executable, program, "send", path.SERVER, str(PORT), host, str(flows), str(until_s)])
        for host, flows in USERS.items()
    ]
    came = json.loads(sink.communicate(timeout=120)[0])
    for end in ends:
        end.communicate(timeout=120)
    return came


def run(settings: dict) -> dict:
    """The same transfers over pfifo below htb and over the BPF qdisc; users of several flows over it.

    Returns
    -------
    dict
        ``pfifo`` and ``lfq``: times of transfers and rows of tc; ``shares``: bytes by user; ``counters``: of the queue;
        ``small``: rows with a limit of 3; ``deleted``; ``left``: entries of maps and rows; ``log``.
    """
    subprocess.run(["mount", "-t", "bpf", "bpf", "/sys/fs/bpf"], check=True)
    path.set_up(settings["rate_bps"], settings["delay_s"], "pfifo limit 100", settings["sysctl"])
    for host in USERS:
        path.shell(f"ip -n client addr add {host}/24 dev to_router")
    result = {"kernel": Path("/proc/sys/kernel/osrelease").read_text().strip()}
    result["pfifo"] = transfers(settings)
    tc(f"qdisc del {DEVICE} root")
    program = str(ROOT / "out" / "lfq.bpf.o")
    loaded = subprocess.run(
        ["bpftool", "struct_ops", "register", program, "/sys/fs/bpf"], capture_output=True, text=True
    )
    if loaded.returncode:
        raise RuntimeError(loaded.stderr[-settings.get("log_chars", 3000) :])
    set_options(settings["rate_bps"])
    result["added"] = tc(f"qdisc add {DEVICE} root handle 10: bpf_lfq")
    result["lfq"] = transfers(settings)
    set_options(settings["rate_bps"], by=2)
    result["shares"] = shares(settings["shares_s"])
    set_options(settings["rate_bps"], by=2, limit_pkts=3)
    result["small"] = transfers({**settings, "starts_s": [], "duration_s": 3.0})
    result["counters"] = [row["value"]["counters"] for row in dump("lfq_queues")]
    result["users"] = len(dump("lfq_users"))
    result["deleted"] = tc(f"qdisc del {DEVICE} root")
    time.sleep(1.0)
    result["left"] = {"queues": dump("lfq_queues"), "users": dump("lfq_users"), "rows": rows()}
    result["log"] = trouble()
    return result
