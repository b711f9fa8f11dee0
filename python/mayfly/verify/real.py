"""Real programs over a link with one discipline, in the test kernel."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from mayfly.discipline_registry import parse
from mayfly.discipline_registry.tc_options import Place, leaf_of, leaf_words
from mayfly.engines import guest
from mayfly.errors import MayflyError
from mayfly.verify.stored import read_ran
from mayfly.verify.workloads import Step, Workload

PROGRAM = "closed_loop.py"
ETHERNET_BYTES = 14
"""What a frame has beside its IP packet: rates are of IP packets."""

MTU = 1500
NEEDS = {
    "page": ("curl", "nginx"),
    "get": ("curl", "nginx"),
    "put": ("curl", "nginx"),
    "wget": ("wget", "nginx"),
    "git": ("git", "nginx"),
    "video": ("nginx",),
    "mail": ("curl", "dovecot"),
    "dns": ("dig", "dnsmasq"),
    "rsync": ("rsync",),
    "iperf3": ("iperf3",),
    "ping": ("ping",),
}
"""Programs that a step needs; all need tcpdump."""

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Of the guest."""

FIRST_SERVER = "10.1.0.2"
HOSTS = {"net.ipv4.tcp_congestion_control": "cubic"}


@dataclass(frozen=True)
class Ran:
    """What real programs had.

    Parameters
    ----------
    discipline : str
    steps : list of dict
        Every step that began: ``actor``, ``client``, ``program``, ``start_s``, ``end_s`` where it ended, ``bytes``,
        and what the program tells.
    drops : dict of int
        Packets that the disciplines dropped, ``down`` and ``up``.
    sent : dict of int
        Bytes that left, ``down`` and ``up``.
    kernel : str
        Its release.
    clock_s : float
        Added to times of the steps, the time of the capture, s.
    capture : path
        Of the link.
    modem : dict of int
        With an advice: packets that the queues of the link itself dropped, ``down`` and ``up``.
    check : dict
        The document of `mayfly check` at the gateway, where it was asked for.
    """

    discipline: str
    steps: list[dict[str, Any]]
    drops: dict[str, int]
    sent: dict[str, int]
    kernel: str
    clock_s: float
    capture: Path
    modem: dict[str, int] = field(default_factory=dict)
    check: dict[str, Any] = field(default_factory=dict)


def run(
    workload: Workload,
    discipline: str,
    seed: int,
    folder: Path,
    advice: Sequence[str] | None = None,
    checked: Mapping[str, Any] | None = None,
    words: Mapping[str, str] | None = None,
) -> Ran:
    """Runs a workload, once.

    Parameters
    ----------
    workload : Workload
    discipline : str
        Of both ways, such as ``fq_codel``.
    seed : int
        Of the users.
    folder : path
        For the capture ``tap.pcap`` and what was measured, ``ran.json``; created when absent. What is there already
        is taken.
    advice : sequence of str, optional
        Lines for a shell of the gateway, whose interface `eth0` is faster than the link, that put the discipline there.
        The queues of the link are first in, first out then. Without it the discipline is that of the link.
    checked : mapping, optional
        Summary of a what-if, which `mayfly check` holds the gateway's device to all the while, with pings to the first
        server.
    words : mapping of str, optional
        What tc is given after ``root`` at the interface of each way, ``down`` and ``up``, where no shaper is asked
        for. A class of htb with the link's rate stands for the interface, which is the bottleneck then.

    Returns
    -------
    Ran

    Raises
    ------
    MayflyError
        No test kernel, no such program, the guest failed, or the folder holds what no run left.
    """
    kept = folder / "ran.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for left in ("failure.txt", "result.json", "tap.pcap"):
            (folder / left).unlink(missing_ok=True)
        actors = workload.actors_of(seed)
        steps = [step for actor in actors for step in actor["steps"]]
        refuse_missing(steps)
        _serve(folder / "www", steps, seed)
        chosen = parse(discipline)
        settings = {
            "clients": workload.clients,
            "servers": list(workload.rtts_s),
            "down": _way(discipline, workload.link.down_bps, workload.link.down_packets) | _given(words, "down"),
            "up": _way(discipline, workload.link.up_bps, workload.link.up_packets) | _given(words, "up"),
            **({} if advice is None else {"advice": list(advice)}),
            **({} if checked is None else {"check": FIRST_SERVER}),
            "overhead_bytes": -ETHERNET_BYTES,
            "mtu": MTU,
            "duration_s": workload.duration_s,
            "sysctl": HOSTS,
            "actors": actors,
        }
        if checked is not None:
            (folder / "summary.json").write_text(json.dumps(checked))
        told = guest.run(settings, leaf_of(chosen).module, PROGRAM, folder=folder)
        for name in ("settings.json", "result.json"):
            (folder / name).unlink(missing_ok=True)
        part = kept.with_suffix(".part")
        part.write_text(json.dumps(told))
        part.rename(kept)
    told = read_ran(kept)
    ways = ("down", "up")
    return Ran(
        discipline,
        told["steps"],
        {way: told[way]["drops"] for way in ways},
        {way: told[way]["bytes"] for way in ways},
        told["kernel"],
        told["clock_s"],
        folder / "tap.pcap",
        {way: row["drops"] for way, row in told.get("modem", {}).items()},
        told.get("check", {}),
    )


def refuse_missing(steps: list[Step]) -> None:
    """Refuses a workload whose programs are not there.

    Raises
    ------
    MayflyError
        Their names.
    """
    wanted = {"tcpdump"} | {program for step in steps for program in NEEDS.get(step["program"], ())}
    missing = sorted(name for name in wanted if shutil.which(name, path=PATH) is None)
    if missing:
        raise MayflyError(f"not installed: {', '.join(missing)}: docs/verification.md has the packages")


def _way(discipline: str, rate_bps: int, packets: int) -> dict[str, Any]:
    chosen = parse(discipline)
    shapes = leaf_of(chosen).shapes
    place = Place(packets, "packets", MTU, rate_bps, -ETHERNET_BYTES, shapes)
    leaf = {"leaf": leaf_words(chosen, place), "leaf_shapes": shapes, "limit": packets}
    return {"rate_bps": rate_bps, "delay_s": 0.0, "loss": 0.0, **leaf}


def _given(words: Mapping[str, str] | None, way: str) -> dict[str, Any]:
    return {} if words is None else {"leaf": words[way], "leaf_shapes": False}


def _serve(folder: Path, steps: list[Step], seed: int) -> None:
    """Files that the servers have, by their sizes: of zeros, which take no room; and a repository."""
    folder.mkdir(exist_ok=True)
    sizes = {int(step[name]) for step in steps for name in ("size", "html") if name in step}
    sizes |= {int(one) for step in steps for name in ("objects", "sizes") for one in step.get(name, ())}
    for size in sizes:
        with (folder / str(size)).open("wb") as file:
            file.truncate(size)
    for name, size in {(step["repository"], step["size"]) for step in steps if "repository" in step}:
        _repository(folder / name, size, seed)


def _repository(path: Path, size: int, seed: int) -> None:
    """A bare repository of about `size` bytes that a plain web server can serve."""
    if path.exists():
        return
    source = path.with_suffix(".source")

    def git(*command: str) -> None:
        named = ["-c", "user.name=Mayfly", "-c", "user.email=mayfly@example.org", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *named, *command], capture_output=True, text=True)
        if done.returncode:
            raise MayflyError(f"git {command[0]}: {done.stderr.strip()}")

    git("init", "--quiet", str(source))
    random = Random(seed)
    for place in range(20):
        (source / f"file-{place}").write_bytes(random.randbytes(size // 20))
    git("-C", str(source), "add", ".")
    git("-C", str(source), "commit", "--quiet", "--message", "files")
    git("clone", "--quiet", "--bare", str(source), str(path))
    git("-C", str(path), "gc", "--quiet")
    git("-C", str(path), "update-server-info")
