"""First process of the User Mode Linux guest: /proc and the like, a module's ``run``, then power off.

Usage: linux ... init=PYTHON -- init.py OUT MODULE MODULES. The root is the host's, read-only; OUT, a folder of the
host, is mounted writable on /run/out, where ``settings.json`` is read and ``result.json`` or ``failure.txt`` written.
MODULES, a folder of the host too or ``-``, has kernel modules, those in its file ``load`` are loaded in that order, and
plug-ins of tc.
"""

import ctypes
import json
import os
import runpy
import stat
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import modules

OUT = Path("/run/out")
DEVICES = {"null": (1, 3), "zero": (1, 5), "random": (1, 8), "urandom": (1, 9), "console": (5, 1), "tty": (5, 0)}
NONE = "-"
RB_POWER_OFF = 0x4321FEDC  # reboot(2)

libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str, options: str = "") -> None:
    if libc.mount(source.encode(), target.encode(), kind.encode(), 0, options.encode()):
        raise OSError(ctypes.get_errno(), f"mount {kind} on {target}")


def set_up(out: str, folder: str) -> None:
    mount("proc", "/proc", "proc")
    mount("sysfs", "/sys", "sysfs")
    # Not over /tmp: the checkout may be there.
    for target in ("/dev", "/run"):
        mount("tmpfs", target, "tmpfs")
    # New namespaces have no tunnels that nobody made.
    Path("/proc/sys/net/core/fb_tunnels_only_for_init_net").write_text("1")
    for name, (major, minor) in DEVICES.items():
        os.mknod(f"/dev/{name}", 0o666 | stat.S_IFCHR, os.makedev(major, minor))
    console = os.open("/dev/console", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(console, descriptor)
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    os.mkdir("/run/netns")
    OUT.mkdir()
    mount("none", str(OUT), "hostfs", out)
    if folder != NONE:
        modules.FOLDER.mkdir()
        mount("none", str(modules.FOLDER), "hostfs", folder)
        os.environ["TC_LIB_DIR"] = str(modules.FOLDER)


def main(out: str, module: str, folder: str) -> None:
    set_up(out, folder)
    try:
        if folder != NONE:
            for name in (modules.FOLDER / "load").read_text().split():
                modules.load(name)
        settings = json.loads((OUT / "settings.json").read_text())
        result = runpy.run_path(module)["run"](settings)
        (OUT / "result.json").write_text(json.dumps(result))
    except BaseException:
        (OUT / "failure.txt").write_text(traceback.format_exc())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:4])
    finally:
        os.sync()
        libc.reboot(RB_POWER_OFF)
