"""What experiments at the bottleneck of the test path of kernel/uml/path.py share: tc, its rows, transfers, the log."""

import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "uml"))
import path

LEAD_S = 8.0  # both ends are up by then, in emulation too
DEVICE = f"dev {path.BOTTLENECK}"


def tc(command: str) -> str:
    """What tc answers in the router: its output, or what it complains about."""
    done = subprocess.run(["tc", "-n", "router", *command.split()], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


def rows() -> list[dict]:
    return json.loads(tc(f"-s -j qdisc show {DEVICE}"))


def transfers(settings: dict) -> dict:
    """Short transfers behind a bulk transfer: seconds each took, None if unfinished, and what waits in the middle."""
    settings = {**settings, "zero": time.monotonic() + LEAD_S}
    argument = json.dumps(settings)
    program = str(ROOT / "uml" / "transfers.py")
    ends = [
        path.inside(name, [sys.executable, program, role, argument])
        for name, role in (("server", "serve"), ("client", "send"))
    ]
    time.sleep(LEAD_S + settings["duration_s"] / 2)
    middle = rows()
    server, client = (json.loads(end.communicate()[0]) for end in ends)
    times = [
        server["finish"][number] - begun if number in server["finish"] else None
        for number, begun in client["begun"].items()
    ]
    received = server["progress"][-1][1]
    return {"times_s": times, "bulk_bytes": received, "middle": middle, "drops": rows()[-1]["drops"]}


def trouble() -> list[str]:
    """Lines of the kernel's log that tell of it."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True).stdout.splitlines()
    return [line for line in log if any(word in line for word in ("BUG", "WARN", "Oops", "leak", "stall", "refcount"))]
