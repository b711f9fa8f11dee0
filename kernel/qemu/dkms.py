"""What DKMS built, in the kernel it was built for: transfers through one discipline, all added, changed and taken away."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bottleneck import DEVICE, path, rows, tc, transfers, trouble

LEAF = f"{DEVICE} parent 1:1"


def one(name: str) -> dict:
    """Added, which loads its module, changed, deleted, its module taken out: what each step answered."""
    before = Path(f"/sys/module/sch_{name}").exists()
    answers = {"before": before, "added": tc(f"qdisc replace {LEAF} {name} limit 20")}
    answers["file"] = subprocess.run(
        ["modprobe", "--show-depends", f"sch_{name}"], capture_output=True, text=True
    ).stdout.splitlines()
    answers["changed"] = tc(f"qdisc change {LEAF} {name} limit 10")
    answers["rows"] = rows()
    answers["deleted"] = tc(f"qdisc replace {LEAF} pfifo limit 100")
    answers["removed"] = subprocess.run(["rmmod", f"sch_{name}"], capture_output=True, text=True).stderr.strip()
    return answers


def run(settings: dict) -> dict:
    """Each of ``names`` in turn below htb, transfers through the one that is ``through``.

    Returns
    -------
    dict
        ``kernel``; ``modules``: answers by name; ``transfers``; ``log``: lines of the kernel's that tell of trouble.
    """
    path.set_up(settings["rate_bps"], settings["delay_s"], "pfifo limit 100", settings["sysctl"])
    kernel = Path("/proc/sys/kernel/osrelease").read_text().strip()
    result = {"kernel": kernel, "modules": {name: one(name) for name in settings["names"]}}
    tc(f"qdisc replace {LEAF} {settings['through']} limit 20")
    result["transfers"] = transfers(settings)
    tc(f"qdisc del {DEVICE} root")
    result["log"] = trouble()
    return result
