"""A discipline at an interface: alone, or below htb at a rate; or the BPF qdisc, which shapes by itself."""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from mayfly.discipline_registry import Discipline, parse
from mayfly.discipline_registry.commands import FULL_PACKET_BYTES, ROOT, at_interface
from mayfly.discipline_registry.leaves import Place, leaf_of, leaf_words, leaves
from mayfly.errors import MayflyError
from mayfly.qdisc import system
from mayfly.qdisc.build import OBJECT
from mayfly.qdisc.show import read
from mayfly.qdisc.steps import Steps, output
from mayfly.text import quantity

BPF = "bpf_efd"
SETTINGS = "efd_settings"
"""Map of the BPF qdisc with the options of each interface."""

_UNREGISTER = ["struct_ops", "unregister", "name", BPF]
_DEVICE = re.compile(r"[^/\s]{1,15}")


@dataclass(frozen=True)
class Wanted:
    """What is to be at an interface.

    Parameters
    ----------
    device : str
        Name of the interface.
    discipline : str
        Of the registry, with options: ``efd(threshold=30kB)``.
    buffer : str
        Its limit: 300, or 450kB.
    rate : str, optional
        What to shape to: 10mbit; else the interface's own.
    bpf : bool
        The BPF qdisc in place of a module.
    """

    device: str
    discipline: str = "efd"
    buffer: str = "300"
    rate: str | None = None
    bpf: bool = False

    def __post_init__(self) -> None:
        """Refuses what is no name of an interface."""
        if not _DEVICE.fullmatch(self.device):
            raise MayflyError(f"device = {quantity.shown(self.device)}: must be the name of an interface, such as eth0")

    def rate_bps(self) -> int | None:
        """Bit/s to shape to; None for the interface's own."""
        return None if self.rate is None else quantity.rate_bps(self.rate)


def load_steps(wanted: Wanted, built: Path, replace: bool = False, dry_run: bool = False) -> Steps:
    """Commands that put a discipline at the root of an interface.

    Parameters
    ----------
    wanted : Wanted
        What, where.
    built : Path
        Folder of the BPF qdisc, when that is wanted.
    replace : bool
        Also where somebody else configured another one.
    dry_run : bool
        As on a machine that has all it needs and nothing at the interface.

    Returns
    -------
    list of list of str

    Raises
    ------
    MayflyError
        A bad option, or something is missing.
    """
    discipline, rate_bps = parse(wanted.discipline), wanted.rate_bps()
    limit, unit = quantity.buffer(wanted.buffer)
    place = Place(limit, unit, FULL_PACKET_BYTES, rate_bps or 10**9)
    words = [BPF] if wanted.bpf else leaf_words(discipline, place).split()
    bpf_steps = _bpf_steps(wanted, discipline, place, built, dry_run) if wanted.bpf else []
    tc = "tc" if dry_run else system.program("tc")
    steps = []
    if not dry_run and not wanted.bpf:
        _need_module(leaf_of(discipline).module)
    if not dry_run and _in_the_way(wanted.device, replace):
        steps.append([tc, "qdisc", "del", "dev", wanted.device, "root"])
    module = leaf_of(discipline).module
    if module and not wanted.bpf and (dry_run or not system.loaded(module)):
        steps.insert(0, ["modprobe" if dry_run else system.program("modprobe"), module])
    if wanted.bpf:
        return [*bpf_steps, *steps, *at_interface(tc, wanted.device, words, None)]
    return [*steps, *at_interface(tc, wanted.device, words, rate_bps)]


def unload_steps(device: str) -> Steps:
    """Commands that remove what `load` put there.

    Parameters
    ----------
    device : str
        Name of the interface.

    Returns
    -------
    list of list of str

    Raises
    ------
    MayflyError
        Nothing of ours is there.
    """
    rows = read(device)
    root = next((row for row in rows if row.parent == "root"), None)
    if root is None or root.handle != ROOT:
        if root is None:
            raise MayflyError(f"{device}: nothing is there to be removed")
        there = f"{root.kind} {root.handle}"
        raise MayflyError(f"{device}: not from mayfly qdisc load: {there} is there; tc qdisc del removes it")
    steps = [[system.program("tc"), "qdisc", "del", "dev", device, "root"]]
    if root.kind == BPF and sum(row.kind == BPF for row in read(None)) == 1:
        steps.append([system.program("bpftool"), *_UNREGISTER])  # its maps go with it
    elif root.kind == BPF:
        steps.append([system.program("bpftool"), "map", "delete", "name", SETTINGS, *_key(_index(device))])
    return steps


def undo_steps(device: str, steps: Steps) -> Steps:
    """What leaves an interface as the kernel makes it, after a load that failed midway.

    Parameters
    ----------
    device : str
        Name of the interface.
    steps : list of list of str
        Those of the load: what they register or set for the interface goes too.

    Returns
    -------
    list of list of str

    Examples
    --------
    >>> undo_steps("eth0", [["bpftool", "struct_ops", "register", "efd.bpf.o"]])[1]
    ['bpftool', 'struct_ops', 'unregister', 'name', 'bpf_efd']
    """
    undo = [["tc", "qdisc", "del", "dev", device, "root"]]
    registers = [step for step in steps if step[1:3] == ["struct_ops", "register"]]
    sets = [step for step in steps if step[1:5] == ["map", "update", "name", SETTINGS]]
    if registers:
        undo.append([registers[0][0], *_UNREGISTER])
    elif sets:
        undo.append([sets[0][0], "map", "delete", *sets[0][3 : sets[0].index("value")]])
    return undo


def _in_the_way(device: str, replace: bool) -> bool:
    """Whether something configured must go first; refuses if it is not ours and nobody said so."""
    root = next((row for row in read(device) if row.parent == "root"), None)
    if root is None or root.handle in ("0:", ""):
        return False
    if root.handle != ROOT and not replace:
        raise MayflyError(f"{device}: has {root.kind} {root.handle} configured; --replace takes its place")
    return True


def _need_module(module: str) -> None:
    """Refuses where a module is not installed, or a plug-in is not."""
    if not module or system.loaded(module):
        return
    try:
        output([system.program("modprobe"), "--dry-run", module])
    except MayflyError:
        raise MayflyError(
            f"module {module} is not installed for kernel {system.running_kernel()}: mayfly qdisc build, then "
            "sudo mayfly qdisc install"
        ) from None
    plugin = system.plugin_folder() / f"q_{module.removeprefix('sch_')}.so"
    if not plugin.exists():
        raise MayflyError(f"the plug-in of tc is not installed: no {plugin}; sudo mayfly qdisc install")


def _bpf_steps(wanted: Wanted, discipline: Discipline, place: Place, built: Path, dry_run: bool) -> Steps:
    """Registers the BPF qdisc once and sets its options for the interface: struct efd_settings of kernel/bpf/efd.h."""
    if discipline.id != "efd" or set(discipline.options) - {"threshold"} or place.unit != "packets":
        raise MayflyError(
            f"{discipline.label}, buffer = {wanted.buffer}: the BPF qdisc is efd, its one option threshold, "
            "its buffer in packets"
        )
    threshold = round(float(discipline.options.get("threshold", _default_threshold())))
    bpftool, file = "bpftool", built / OBJECT
    system.refuse_foreign(built, file)
    index, register = 0, True
    if not dry_run:
        bpftool = system.program("bpftool")
        system.need_bpf_qdiscs()
        register = f'"{BPF}"' not in output([bpftool, "-j", "struct_ops", "list"])
        if register and not file.exists():
            raise MayflyError(f"{file}: not built; mayfly qdisc build --bpf --out {built}")
        index = _index(wanted.device)
    value = struct.pack("=QQII", threshold, wanted.rate_bps() or 0, place.limit, 0)
    steps = [[bpftool, "struct_ops", "register", str(file)]] if register else []
    return [*steps, [bpftool, "map", "update", "name", SETTINGS, *_key(index), "value", *map(str, value)]]


def _key(index: int) -> list[str]:
    """Of the settings of an interface, for bpftool."""
    return ["key", *map(str, struct.pack("=I", index))]


def _default_threshold() -> str:
    from mayfly.discipline_registry import disciplines

    row = next(row for row in disciplines() if row["id"] == "efd")
    return str(next(param["default"] for param in row["params"] if param["name"] == "threshold"))


def _index(device: str) -> int:
    import socket

    try:
        return socket.if_nametoindex(device)
    except OSError:
        raise MayflyError(f"device = {device}: no such interface; ip link shows them") from None


def kinds() -> set[str]:
    """Names for tc of our disciplines."""
    return {leaf.kind for leaf in leaves().values() if leaf.module} | {BPF}
