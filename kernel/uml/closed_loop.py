"""Real programs over a congested link: `run` sets a site up, starts its servers and its users, and captures the link.

Users wait for what they asked for and think before they ask again: a faster link has them ask for more. In virtual time
(``time-travel=inf-cpu``) programs take no time of their own, so that what they took is what the network took.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import programs
import site_network
from interfaces import LEAF
from namespaces import enter, shell

CAPTURE = "/run/out/tap.pcap"
SNAP_BYTES = 128
SETTLE_S = 1.0
"""For servers to listen."""

SUMMARY = "/run/out/summary.json"


class Run:
    """What all users share: the clock, what they did, what is still running."""

    def __init__(self) -> None:
        self.zero_s = time.monotonic()
        self.lock = threading.Lock()
        self.steps: list[dict] = []
        self.processes: list[subprocess.Popen] = []
        self.over = False

    def now(self) -> float:
        """Seconds since the start of the run."""
        return time.monotonic() - self.zero_s

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)

    def sleep_until(self, instant_s: float) -> None:
        self.sleep(instant_s - self.now())

    def start(self, command: list[str], out: int = subprocess.DEVNULL) -> subprocess.Popen:
        """Starts a program in the namespace of the caller's thread."""
        kwargs = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out, "text": True, "start_new_session": True}
        environment = os.environ | {"HOME": "/run/site", "LC_ALL": "C"}
        process = subprocess.Popen(command, env=environment, **kwargs)
        with self.lock:
            self.processes.append(process)
        return process

    def begun(self, told: dict) -> int:
        with self.lock:
            self.steps.append(told)
            return len(self.steps) - 1

    def ended(self, mark: int, found: dict) -> None:
        with self.lock:
            # What is cut off by the end of the run has not ended.
            if not self.over:
                self.steps[mark] |= found


def run(settings: dict) -> dict:
    """One run.

    Parameters
    ----------
    settings : dict
        As :func:`site_network.set_up` takes them, and ``duration_s``; ``sysctl`` of the hosts; ``actors``, each with
        ``name``, ``client`` and ``steps``: ``program``, ``server``, ``think_s`` before it, ``at_s``, before which it
        does not start, and what the program takes; ``check``, the host that `mayfly check` of the gateway asks for
        pings, with the prediction in `SUMMARY`.

    Returns
    -------
    dict
        ``kernel``; ``steps``, what was begun, with ``end_s`` where it ended; ``down`` and ``up``, what tc tells of
        the disciplines; ``clock_s``, what is added to times of the run to have those of the capture; ``check``, the
        document of `mayfly check`. The capture is `CAPTURE`.
    """
    site_network.set_up(settings)
    programs.HOME.mkdir()
    for number in range(settings["clients"]):
        apply_sysctl(site_network.client(number), settings["sysctl"])
    for number in range(len(settings["servers"])):
        apply_sysctl(site_network.server(number), settings["sysctl"])
    shared = Run()
    steps = [step for actor in settings["actors"] for step in actor["steps"]]
    for number in range(len(settings["servers"])):
        own = [step for step in steps if step["server"] == number]
        enter(site_network.server(number))
        for name in sorted({programs.ASKS[step["program"]] for step in own if step["program"] in programs.ASKS}):
            for command in programs.SERVERS[name](number, own):
                shared.start(command)
    enter("gateway")
    capture = ["tcpdump", "-i", "lan", "-s", str(SNAP_BYTES), "-B", "65536", "-w", CAPTURE, "-Z", "root"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    tap = subprocess.Popen([*capture, "--time-stamp-precision=nano", "ip"], **quiet)
    time.sleep(SETTLE_S)
    died = [process for process in shared.processes if process.poll() is not None]
    if died or tap.poll() is not None:
        raise RuntimeError(f"{(died[0].args if died else tap.args)} ended at once")
    checked = None
    if "check" in settings:
        length = f"{settings['duration_s']:g}s"
        command = ["check", site_network.UPLINK, "--ping", settings["check"], "--prediction", SUMMARY, "--for", length]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        environment = os.environ | {"TMPDIR": str(programs.HOME)}
        checked = subprocess.Popen([sys.executable, "-m", "mayfly", *command, "--json"], env=environment, **pipes)
    shared.zero_s = time.monotonic()
    clock_s = time.time() - time.monotonic() + shared.zero_s
    for row in settings["actors"]:
        programs.Actor(row, shared).start()
    time.sleep(settings["duration_s"])
    with shared.lock:
        shared.over = True
    told = {
        "kernel": os.uname().release,
        "steps": shared.steps,
        "clock_s": clock_s,
        **queues(settings),
    }
    if checked is not None:
        document, complaint = checked.communicate()
        if checked.returncode:
            raise RuntimeError(f"mayfly check: {complaint}")
        told["check"] = json.loads(document)
    tap.send_signal(signal.SIGINT)
    told["tcpdump"] = tap.communicate()[1]
    programs.stop(shared.processes)
    return told


def queues(settings: dict) -> dict:
    """Statistics of the disciplines, as tc has them; with an advice also of the queues of the link, ``modem``."""
    if "advice" not in settings:
        return {"down": counters("provider", "to_gateway"), "up": counters("gateway", "to_provider")}
    modem = {"down": counters("wire", "to_gateway", "root"), "up": counters("wire", "to_provider", "root")}
    return {
        "down": counters("gateway", "ifb0", "leaf"),
        "up": counters("gateway", "to_provider", "leaf"),
        "modem": modem,
    }


def counters(namespace: str, device: str, which: str = "") -> dict:
    """Of the discipline with the handle of a way; or of the ``root`` or the ``leaf``, the lowest one."""
    rows = [
        row for row in json.loads(shell(f"tc -s -j -n {namespace} qdisc show dev {device}")) if "ingress" != row["kind"]
    ]
    if which:
        return rows[0 if which == "root" else -1]
    return next(row for row in rows if row["handle"] == LEAF)


def apply_sysctl(namespace: str, values: dict) -> None:
    enter(namespace)
    for key, value in values.items():
        Path("/proc/sys", *key.split(".")).write_text(str(value))
