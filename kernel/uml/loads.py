"""`mayfly qdisc load` and `unload` at an interface `eth0` of the guest: what is left, also by those that are killed.

Programs that the two run are behind shims: one of them kills its parent, before or after the step it is called for.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.qdisc import journal, kept, load

SHIMS = Path("/run/shims")
COUNT, VICTIM = Path("/run/count"), Path("/run/victim")
SHIM = """#!/bin/sh
case " $* " in
  *" show "* | *" -k "* | *" --dry-run "* | *" try "*) exec {real} "$@" ;;
esac
number=$(($(cat {count}) + 1))
echo $number >{count}
read -r when which <{victim}
if [ "$when $which" = "before $number" ]; then
  kill -9 $PPID
  exit 1
fi
{real} "$@"
status=$?
[ "$when $which" = "after $number" ] && kill -9 $PPID
exit $status
"""
FAR = "10.0.1.2"
PORT, FRAME_BYTES = 5201, 1514
CONNECTIONS = 4
SETTLE_S, MEASURED_S = 4.0, 10.0


def shell(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def set_up(queues: int) -> None:
    shell("ip link set lo up")
    shell("ip netns add internet")
    shell(f"ip link add eth0 numtxqueues {queues} type veth peer name eth0 netns internet")
    for at, host in (("", 1), ("-n internet", 2)):
        shell(f"ip {at} addr add 10.0.1.{host}/24 dev eth0")
        shell(f"ip {at} link set eth0 up")
    shell("ip netns exec internet ethtool -K eth0 tso off gso off gro off")
    SHIMS.mkdir()
    for name in ("tc", "ip", "ethtool"):
        _shim(name, shutil.which(name) or name)
    # A step of unload is Python's: the root that is put back.
    _shim("python", sys.executable)
    sys.executable = str(SHIMS / "python")
    os.environ["PATH"] = f"{SHIMS}:{os.environ['PATH']}"
    # There is nothing for modprobe here: all is in this kernel, and init.py loads our own modules.
    spare(None)


def _shim(name: str, real: str) -> None:
    path = SHIMS / name
    path.write_text(SHIM.format(real=real, count=COUNT, victim=VICTIM))
    path.chmod(0o755)


def spare(victim: tuple[str, int] | None) -> None:
    """Whom the shims kill from now on: ``before`` or ``after`` a step, or nobody."""
    COUNT.write_text("0")
    VICTIM.write_text("none 0\n" if victim is None else f"{victim[0]} {victim[1]}\n")


def seen() -> dict[str, str]:
    """All that a load may change."""
    looks = {
        "qdiscs": "tc -d qdisc show",
        "classes": "tc class show dev eth0",
        "filters": "tc filter show dev eth0",
        "links": "ip -br link",
        "offloads": "ethtool -k eth0",
    }
    found = {name: shell(command) for name, command in looks.items()}
    # Addresses of new devices are drawn at random.
    found["links"] = re.sub(r"(\w\w:){5}\w\w", "", found["links"])
    # What waits in a flow of fq_codel is a class of it.
    if "fq_codel" in found["qdiscs"] and "htb" not in found["qdiscs"]:
        del found["classes"]
    return found


def in_child(action: Callable[[], object]) -> tuple[str, str]:
    """How an action in a process of its own ended: ``done``, ``refused`` or ``killed``; and what it said."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reads)
            action()
            status = 0
        except MayflyError as error:
            os.write(writes, str(error).encode())
            status = 2
        finally:
            os._exit(status)
    os.close(writes)
    said = b"".join(iter(lambda: os.read(reads, 4096), b"")).decode()
    os.close(reads)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "killed", ""
    return {0: "done", 2: "refused"}.get(os.WEXITSTATUS(status), "broken"), said


def wanted(settings: dict) -> load.Wanted:
    return load.Wanted("eth0", **settings["load"])


def run(settings: dict) -> dict:
    """Does what ``what`` of the settings says: one of the functions of `EXPERIMENTS`."""
    set_up(settings.get("queues", 1))
    for command in settings.get("before", ()):
        shell(command)
    if "kind" in settings:
        _made_anew(settings["kind"])
    return EXPERIMENTS[settings["what"]](settings)


def _made_anew(kind: str) -> None:
    """Puts the options of the root there under another kind, which an older tc has no words for."""
    root = kept.recorded("eth0")
    if root is None:
        raise RuntimeError("eth0 has no root")
    shell("tc qdisc del dev eth0 root")
    kept.put("eth0", replace(root, kind=kind))


def round_trip(settings: dict) -> dict:
    """Loads, loads again with other rates, unloads; what was said, and states before, in between and after."""
    before = seen()
    first = in_child(lambda: load.load(wanted(settings), Path(), settings.get("replace", False)))
    loaded = seen()
    again = in_child(lambda: load.load(wanted(settings), Path(), settings.get("replace", False)))
    reloaded = seen()
    last = in_child(lambda: load.unload("eth0")) if first[0] == "done" else ("", "")
    left = sorted(path.name for path in journal.FOLDER.glob("*.json"))
    twice = in_child(lambda: load.unload("eth0"))
    return {
        "before": before,
        "loaded": loaded,
        "reloaded": reloaded,
        "after": seen(),
        "ended": [first, again, last, twice],
        "journals": left,
    }


def killed(settings: dict) -> dict:
    """Kills a load or an unload before and after each of its steps, and tells how it was mended each time."""
    before, found = seen(), []
    for when, number in _until_done(found, before) if settings["of"] == "load" else ():
        spare((when, number))
        ended = in_child(lambda: load.load(wanted(settings), Path()))
        spare(None)
        journals = len(list(journal.FOLDER.glob("*.json")))
        # The next command is an unload, or another load.
        mended = [in_child(lambda: load.load(wanted(settings), Path()))] if when == "after" else []
        mended.append(in_child(lambda: load.unload("eth0")))
        found.append({"at": [when, number], "ended": ended[0], "journals": journals, "mended": mended})
    for when, number in _until_done(found, before) if settings["of"] == "unload" else ():
        first = in_child(lambda: load.load(wanted(settings), Path()))
        spare((when, number))
        ended = in_child(lambda: load.unload("eth0"))
        spare(None)
        mended = [first] if ended[0] == "done" else [first, in_child(lambda: load.unload("eth0"))]
        found.append({"at": [when, number], "ended": ended[0], "journals": 1, "mended": mended})
    return {"trials": found, "before": before}


def _until_done(found: list[dict], before: dict) -> Iterator[tuple[str, int]]:
    """When to kill: before and after each step, until there is no such step; notes what was left after each trial."""
    for when in ("before", "after"):
        for number in range(1, 40):
            yield when, number
            now = seen()
            found[-1]["changed"] = {name: now.get(name) for name in before if now.get(name) != before[name]}
            found[-1]["left"] = [path.name for path in journal.FOLDER.glob("*.json")]
            if found[-1]["ended"] != "killed":
                break


def two_at_once(settings: dict) -> dict:
    """What a load says while another process has the lock, and when it is free."""
    with journal.locked("eth0"):
        busy = in_child(lambda: load.load(wanted(settings), Path()))
        unloading = in_child(lambda: load.unload("eth0"))
    return {"busy": busy, "unloading": unloading, "free": in_child(lambda: load.load(wanted(settings), Path()))}


def rates(settings: dict) -> dict:
    """Bit/s that each direction sends, frames with their headers, while TCP fills both; and what was dropped."""
    ended = in_child(lambda: load.load(wanted(settings), Path()))
    assert ended[0] == "done", ended
    shell("tc -n internet qdisc add dev eth0 root netem delay 10ms limit 10000")
    far = subprocess.Popen(["ip", "netns", "exec", "internet", sys.executable, __file__])
    time.sleep(1)
    for fill in (_sending, _draining):
        for _ in range(CONNECTIONS):
            # The far end does the opposite of what it is told first.
            connection = socket.create_connection((FAR, PORT))
            connection.sendall(b"s" if fill is _draining else b"d")
            threading.Thread(target=fill, args=(connection,), daemon=True).start()
    time.sleep(SETTLE_S)
    before = _sent()
    time.sleep(MEASURED_S)
    after = _sent()
    far.kill()
    return {
        name: {
            "bps": (after[name]["bytes"] - before[name]["bytes"]) * 8 / MEASURED_S,
            "dropped_bps": (after[name]["drops"] - before[name]["drops"]) * FRAME_BYTES * 8 / MEASURED_S,
        }
        for name in ("eth0", "ifb4eth0")
    }


def _sent() -> dict[str, dict]:
    """What the root of each device has sent and dropped."""
    rows = [row for name in ("eth0", "ifb4eth0") for row in json.loads(shell(f"tc -s -j qdisc show dev {name}"))]
    roots = [row for row in rows if row.get("root")]
    return dict(zip(("eth0", "ifb4eth0"), roots, strict=True))


def _sending(connection: socket.socket) -> None:
    while True:
        connection.sendall(bytes(1 << 16))


def _draining(connection: socket.socket) -> None:
    while connection.recv(1 << 20):
        pass


def _far_end() -> None:
    """In the namespace of the internet: sends on a connection, or drains it, as its first byte says."""
    listener = socket.socket()
    listener.bind(("", PORT))
    listener.listen(16)
    while True:
        connection, _ = listener.accept()
        fill = _sending if connection.recv(1) == b"s" else _draining
        threading.Thread(target=fill, args=(connection,), daemon=True).start()


EXPERIMENTS = {function.__name__: function for function in (round_trip, killed, two_at_once, rates)}

if __name__ == "__main__":
    _far_end()
