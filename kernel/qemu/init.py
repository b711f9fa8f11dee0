"""First process of the qemu guest: /proc and the like, a module's ``run``, then power off.

Usage: rdinit=PYTHON -- init.py MODULE. Settings are in /settings.json of the initramfs; the result, or what failed, goes to
the second serial port as one JSON document.
"""

import ctypes
import json
import os
import runpy
import sys
import termios
import traceback
from pathlib import Path

RB_POWER_OFF = 0x4321FEDC  # reboot(2)

libc = ctypes.CDLL(None, use_errno=True)


def mount(kind: str, target: str) -> None:
    os.makedirs(target, exist_ok=True)
    if libc.mount(kind.encode(), target.encode(), kind.encode(), 0, None):
        raise OSError(ctypes.get_errno(), f"mount {kind} on {target}")


def set_up() -> None:
    for kind, target in (("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/run")):
        mount(kind, target)
    os.mkdir("/run/netns")
    os.environ["PATH"] = "/usr/sbin:/usr/bin"


def main(module: str) -> dict:
    try:
        set_up()
        settings = json.loads(Path("/settings.json").read_text())
        return {"result": runpy.run_path(module)["run"](settings)}
    except BaseException:
        return {"failure": traceback.format_exc()}


if __name__ == "__main__":
    try:
        answer = json.dumps(main(sys.argv[1]))
        with open("/dev/ttyS1", "w") as port:
            port.write(answer + "\n")
            port.flush()
            termios.tcdrain(port)
    finally:
        libc.reboot(RB_POWER_OFF)
