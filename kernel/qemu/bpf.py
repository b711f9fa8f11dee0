"""EFD as a BPF qdisc at the bottleneck of the test path: what short transfers get, and what tc and the maps say.

The path is that of kernel/uml/path.py; the BPF qdisc, which shapes by itself, takes the place of htb and its leaf.
"""

import json
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bottleneck import DEVICE, ROOT, path, rows, tc, transfers, trouble


def dump(name: str) -> list[dict]:
    done = subprocess.run(["bpftool", "-j", "map", "dump", "name", name], capture_output=True, text=True, check=True)
    return [row["formatted"] for row in json.loads(done.stdout)]


def set_options(threshold_bytes: int, rate_bps: int, limit_pkts: int) -> None:
    value = struct.pack("=QQII", threshold_bytes, rate_bps, limit_pkts, 0)
    words = [f"{byte:#04x}" for byte in value]
    command = ["bpftool", "map", "update", "name", "efd_settings", "key", "0", "0", "0", "0", "value", *words]
    subprocess.run(command, check=True)


def run(settings: dict) -> dict:
    """Runs the same transfers over pfifo below htb, then over the BPF qdisc, which is then changed and removed.

    Parameters
    ----------
    settings : dict
        As kernel/uml/transfers.py takes them, and ``limit_pkts``, ``threshold_bytes``.

    Returns
    -------
    dict
        ``kernel``; ``pfifo`` and ``efd``: times of transfers and rows of tc; ``refused``: what tc answers below htb and
        to options; ``queues``: counters of the qdiscs after the transfers; ``limit_3``: transfers with that limit, set
        while packets pass; ``deleted``: what tc answers; ``left``: rows of tc and counters at the end; ``log``: lines of
        the kernel's that tell of trouble.
    """
    path.set_up(settings["rate_bps"], settings["delay_s"], f"pfifo limit {settings['limit_pkts']}", settings["sysctl"])
    result = {"kernel": Path("/proc/sys/kernel/osrelease").read_text().strip(), "pfifo": transfers(settings)}
    subprocess.run(["mount", "-t", "bpf", "bpf", "/sys/fs/bpf"], capture_output=True)
    command = ["bpftool", "struct_ops", "register", str(ROOT / "out" / "efd.bpf.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    set_options(settings["threshold_bytes"], settings["rate_bps"], settings["limit_pkts"])
    result["refused"] = [tc(f"qdisc replace {DEVICE} parent 1:1 handle 20: bpf_efd")]
    tc(f"qdisc del {DEVICE} root")
    result["refused"].append(tc(f"qdisc add {DEVICE} root handle 10: bpf_efd limit 3"))
    result["refused"].append(tc(f"qdisc add {DEVICE} root handle 10: bpf_efd"))
    tc("qdisc add dev to_client root handle 10: bpf_efd")  # a second one, with a queue of its own
    result["efd"] = transfers(settings)
    result["queues"] = dump("efd_queues")
    set_options(settings["threshold_bytes"], settings["rate_bps"], 3)
    result["limit_3"] = transfers({**settings, "starts_s": [1.0, 2.0], "duration_s": 4.0})
    result["deleted"] = [tc(f"qdisc del {DEVICE} root"), tc("qdisc del dev to_client root")]
    result["left"] = {"queues": dump("efd_queues"), "flows": dump("efd_flows")}
    subprocess.run(["bpftool", "struct_ops", "unregister", "name", "bpf_efd"], capture_output=True, check=True)
    result["left"]["rows"] = rows()
    result["log"] = trouble()
    return result
