"""A discipline at an interface, for what it sends or for both directions, and what was there before put back.

One direction: the discipline alone, with its own shaper, or below htb at a rate; or the BPF qdisc, which shapes by
itself. Both directions: the same at the interface and at a device of kind ifb, through which goes what arrives.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mayfly.discipline_registry import Discipline, disciplines, parse
from mayfly.discipline_registry.commands import at_interface, counted
from mayfly.discipline_registry.shapers import LinkLayer, Shape, link_layer, shaped_words, shapes_itself
from mayfly.discipline_registry.tc_options import Place, leaf_of, leaf_words, leaves
from mayfly.errors import MayflyError
from mayfly.headers import FULL_PACKET_BYTES
from mayfly.qdisc import system
from mayfly.qdisc.build import OBJECT
from mayfly.qdisc.interface import (
    OFFLOADS,
    PREFERENCE,
    Root,
    filters,
    has_hook,
    ifb_of,
    is_ifb,
    mac_header_bytes,
    offloads_on,
    root_of,
    sending_queues,
)
from mayfly.qdisc.journal import Journal, forget, index_of, locked, read_journal
from mayfly.qdisc.kept import command_of
from mayfly.qdisc.show import read
from mayfly.qdisc.steps import Steps, output, perform
from mayfly.text import quantity

BPF = "bpf_efd"
SETTINGS = "efd_settings"
"""Map of the BPF qdisc with the options of each interface."""

BUFFER_PKTS = 300
"""Limit of a queue of which nobody says another."""

BUFFER_S = 0.1
"""Of both directions: what the link sends in it, where that is more."""

ONE_LOCK_BPS = 1_000_000_000
"""Rate from which the one lock of a discipline at the root is worth a word: 83,000 full packets a second."""

_UNREGISTER = ["struct_ops", "unregister", "name", BPF]


@dataclass(frozen=True)
class Wanted:
    """What is to be at an interface.

    Parameters
    ----------
    device : str
        Name of the interface.
    discipline : str, optional
        Of the registry, with options: ``efd(threshold=30kB)``; ``lfq`` for both directions and ``efd`` for one when
        not given.
    buffer : str, optional
        Its limit: 300, 450kB, or, at a rate, 100ms; for both directions also one of each, 300/50. 300 packets when not
        given, for both directions at least what the link sends in 100 ms.
    rate : str, optional
        What to shape to: 10mbit; else the interface's own.
    bpf : bool
        The BPF qdisc in place of a module.
    both_ways : bool
        Also for what arrives.
    down, up : str, optional
        Rates of both directions: of what arrives at the interface, and of what it sends.
    overhead : str, optional
        What the link adds to packets: 18, docsis, or other words of tc-cake(8).
    nat : bool
        For both directions, of cake and lfq: look behind translated addresses.
    offloads : bool
        Leave them as they are; else those that make packets longer than the wire's are switched off.
    down_buffer, up_buffer : str, optional
        For both directions: the limit of one of them, as ``buffer`` of one direction; ``buffer``, or its default, has
        the other.
    """

    device: str
    discipline: str | None = None
    buffer: str | None = None
    rate: str | None = None
    bpf: bool = False
    both_ways: bool = False
    down: str | None = None
    up: str | None = None
    overhead: str | None = None
    nat: bool = True
    offloads: bool = True
    down_buffer: str | None = None
    up_buffer: str | None = None

    def __post_init__(self) -> None:
        """Refuses what is no name of an interface, and options that do not go together."""
        system.checked_device(self.device)
        if self.both_ways and (self.down is None or self.up is None):
            raise MayflyError("--both-ways: needs both rates, such as --down 95mbit --up 19mbit")
        if self.both_ways and (self.rate is not None or self.bpf):
            other = "--bpf" if self.bpf else "--rate: --down and --up are the rates"
            raise MayflyError(f"--both-ways: not with {other}")
        if not self.both_ways and (self.down is not None or self.up is not None):
            raise MayflyError("--down and --up: only with --both-ways; --rate shapes what the interface sends")
        if not self.both_ways and quantity.both_ways(self.buffer, "--buffer")[1] is not None:
            raise MayflyError(f"--buffer = {self.buffer}: must be one value without --both-ways")
        self._refuse_buffers()
        if self.overhead is not None and self.bpf:
            raise MayflyError("--overhead: not with --bpf, which counts packets as Linux does")
        if self.overhead is not None and not self.both_ways and self.rate is None:
            raise MayflyError("--overhead: only where something shapes: with --rate, or --both-ways")

    def _refuse_buffers(self) -> None:
        both = quantity.both_ways(self.buffer, "--buffer")[1] is not None
        for name, buffer in (("--down-buffer", self.down_buffer), ("--up-buffer", self.up_buffer)):
            if buffer is None:
                continue
            if not self.both_ways:
                raise MayflyError(f"{name}: only with --both-ways; --buffer is the limit of what the interface sends")
            if both:
                raise MayflyError(f"{name}: not with --buffer {self.buffer}, which has one for each direction")
            if quantity.both_ways(buffer, name)[1] is not None:
                raise MayflyError(f"{name} = {buffer}: must be one value")

    @property
    def label(self) -> str:
        """The discipline as it is written."""
        return self.discipline or ("lfq" if self.both_ways else "efd")

    def rate_bps(self) -> int | None:
        """Bit/s to shape to in one direction; None for the interface's own."""
        return None if self.rate is None else quantity.rate_bps(self.rate)

    def rates_bps(self) -> dict[str, int]:
        """Bit/s of both directions, by the keys of ``SIDES``."""
        rates = {"down": self.down, "up": self.up} if self.both_ways else {}
        return {side: quantity.rate_bps(rate, f"--{side}") for side, rate in rates.items()}

    def place(self, rate_bps: int | None, side: str = "") -> Place:
        """Limit and link of a queue: of one side of both."""
        own = {"down": self.down_buffer, "up": self.up_buffer}.get(side)
        if own is not None:
            limit, unit = quantity.buffer(own, f"--{side}-buffer", rate_bps=rate_bps)
        elif self.buffer is not None:
            down, up = quantity.both_ways(self.buffer, "--buffer")
            limit, unit = quantity.buffer(up if side == "up" and up is not None else down, rate_bps=rate_bps)
        elif self.both_ways:
            limit, unit = max(BUFFER_PKTS, round((rate_bps or 0) * BUFFER_S / 8 / FULL_PACKET_BYTES)), "packets"
        else:
            limit, unit = BUFFER_PKTS, "packets"
        return Place(limit, unit, FULL_PACKET_BYTES, rate_bps or 10**9)


@dataclass(frozen=True)
class Done:
    """Commands that were run, and what is to be said of it."""

    steps: Steps
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Steps of a load, in their order.

    Parameters
    ----------
    before : list of list of str
        Modules, and what the BPF qdisc needs.
    beside : list of list of str
        Make the device for what arrives.
    queues : list of list of str
        The disciplines with their shapers.
    redirect : list of list of str
        Lead what arrives to that device; all that is at work before is whole.
    layout : str
        What it is without its numbers.
    ifb : str
        That device; empty in one direction.
    """

    before: Steps = field(default_factory=list)
    beside: Steps = field(default_factory=list)
    queues: Steps = field(default_factory=list)
    redirect: Steps = field(default_factory=list)
    layout: str = ""
    ifb: str = ""


def load_steps(wanted: Wanted, built: Path) -> Steps:
    """Commands of a load, on a machine that has all it needs and nothing at the interface.

    Parameters
    ----------
    wanted : Wanted
        What, where.
    built : Path
        Folder of the BPF qdisc, when that is wanted.

    Returns
    -------
    list of list of str

    Raises
    ------
    MayflyError
        A bad option.

    Examples
    --------
    >>> steps = load_steps(Wanted("eth0", "fq_codel", both_ways=True, down="95mbit", up="19mbit"), Path())
    >>> steps[-1][-5:]
    ['mirred', 'egress', 'redirect', 'dev', 'ifb4eth0']
    """
    plan = _planned(wanted, built, dry_run=True)
    off = [] if wanted.offloads else [_switched("ethtool", wanted.device, OFFLOADS, "off")]
    return [*plan.before, *off, *plan.beside, *plan.queues, *plan.redirect]


def load(wanted: Wanted, built: Path, replace_other: bool = False) -> Done:
    """Puts a discipline at an interface.

    What is there is written down first, in the folder of :mod:`mayfly.qdisc.journal`: a load that fails is undone, one
    that was killed is undone by the next `load` or `unload`. A load of the same layout changes the numbers in place,
    and back where that fails. Another one undoes the first load before it begins: where it fails, both are gone.

    Parameters
    ----------
    wanted : Wanted
        What, where.
    built : Path
        Folder of the BPF qdisc, when that is wanted.
    replace_other : bool
        Also where what somebody configured cannot be put back.

    Returns
    -------
    Done

    Raises
    ------
    MayflyError
        A bad option, something is missing or in the way: then nothing was changed. Or a command failed: then all is as
        before this load, or, of another layout, before the first one; it is said which, and what could not be undone.
    """
    if index_of(wanted.device) is None:
        raise MayflyError(f"{wanted.device}: there is no such interface")
    device, plan, switch_off = wanted.device, _planned(wanted, built, dry_run=False), tuple[str, ...]()
    first: Journal | None = None
    taken_back = False
    with locked(device) as held:
        journal, root, said = read_journal(device), root_of(device), list[str]()
        index = index_of(device) or 0
        if journal and _in_place(device, journal, plan, root, index):
            first = journal
            journal = replace(journal, complete=False, steps=plan.queues)
            steps = plan.queues
        else:
            _refuse_in_the_way(device, plan, root, journal, replace_other)
            taken_back = root.ours and (journal is None or journal.complete)
            if journal or root.ours:
                _undo(device, journal, held)
                if journal and not journal.complete:
                    said.append(f"{device}: what a load or unload left that was interrupted is undone")
                root = root_of(device)
                if journal and journal.root and journal.root.name == root.name:
                    root = replace(root, kept=journal.root)
                plan = _planned(wanted, built, dry_run=False)
            if root.name and root.kept is None:
                said.append(f"{root.name} was at {device}: it cannot be recorded, and unload will not put it back")
            hook = bool(plan.ifb) and not has_hook(device)
            switch_off = () if wanted.offloads else offloads_on(device)
            redirect = plan.redirect if hook or not plan.ifb else plan.redirect[1:]
            off: Steps = [_switched(system.program("ethtool"), device, switch_off, "off")] if switch_off else []
            steps = [*plan.before, *off, *plan.beside, *plan.queues, *redirect]
            lost = "" if root.kept else root.name
            journal = Journal(device, index, plan.layout, False, root.kept, lost, plan.ifb, hook, switch_off, steps)
        journal.write()
        try:
            perform(steps, held)
            replace(journal, complete=True).write()
        except BaseException as error:
            now = _after_failure(device, journal, first, held, taken_back)
            if isinstance(error, MayflyError):
                raise MayflyError("; ".join((str(error).rstrip("."), *now)) if now else str(error)) from None
            raise
    if root.kept:
        said.append(f"{root.kept.name} was at {device}: unload puts it back")
    said += _of_several_queues(wanted, sending_queues(device))
    return Done(steps, tuple(said))


def _of_several_queues(wanted: Wanted, queues: int) -> list[str]:
    """Advice where an interface sends from several hardware queues, of which a discipline at the root makes one.

    Examples
    --------
    >>> _of_several_queues(Wanted("eth0", "cake", rate="10gbit"), 4)
    ['eth0 has 4 hardware queues, which share the lock of cake: cake_mq shapes all of them to one rate (Linux 7.0)']
    >>> _of_several_queues(Wanted("eth0", "cake", rate="100mbit"), 4), _of_several_queues(Wanted("eth0"), 1)
    ([], [])
    """
    rate_bps = wanted.rate_bps() or wanted.rates_bps().get("up")
    if queues < 2 or (rate_bps is not None and rate_bps < ONE_LOCK_BPS):
        return []
    kind = parse(wanted.label).id
    said = f"{wanted.device} has {queues} hardware queues, which share the lock of {kind}"
    if kind == "cake" and rate_bps:
        return [f"{said}: cake_mq shapes all of them to one rate (Linux 7.0)"]
    return [f"{said}: below mq, each has a discipline of its own"]


def unload_steps(device: str) -> Done:
    """Commands that leave an interface as it was before `load`, and what else is to be said.

    Parameters
    ----------
    device : str
        Name of the interface.

    Returns
    -------
    Done

    Raises
    ------
    MayflyError
        No name of an interface, or nothing of ours is there.
    """
    journal = read_journal(system.checked_device(device))
    if journal is None:
        journal = _assumed(device)
    return _undone(device, journal)


def unload(device: str) -> Done:
    """Leaves an interface as it was before `load`, also before one that was killed midway.

    Parameters
    ----------
    device : str
        Name of the interface.

    Returns
    -------
    Done

    Raises
    ------
    MayflyError
        No name of an interface, nothing of ours is there, or a command failed: the next call goes on with what is left.
    """
    with locked(system.checked_device(device)) as held:
        return _undo(device, read_journal(device), held)


def _planned(wanted: Wanted, built: Path, dry_run: bool) -> Plan:
    """Steps of a load; unless it is a dry run, what they need is there."""
    discipline, rates = parse(wanted.label), wanted.rates_bps()
    layer = link_layer(wanted.overhead)
    tc = "tc" if dry_run else system.program("tc")
    _refuse_without_words(discipline)
    module = leaf_of(discipline).module
    if wanted.bpf:
        place = wanted.place(wanted.rate_bps())
        before = _bpf_steps(wanted, discipline, place, built, dry_run)
        return Plan(before, queues=at_interface(tc, wanted.device, [BPF], None), layout=BPF)
    shapes = {side: Shape(rate, side, wanted.nat, layer) for side, rate in rates.items()}
    rate_bps = wanted.rate_bps()
    one = Shape(rate_bps, layer=layer) if rate_bps else None
    devices = {"down": ifb_of(wanted.device), "up": wanted.device}
    queues = [
        step
        for side, device in (devices if shapes else {"": wanted.device}).items()
        for step in _queue_steps(tc, device, discipline, wanted, shapes.get(side, one))
    ]
    if not dry_run:
        _need_module(module)
        _need_qdiscs(queues, module)
    before = _load_module(module, dry_run)
    said = {"both ways": shapes, "shaped": shapes or one, "no offloads": not wanted.offloads}
    # Of the link layer too: lfq and cake keep what is not said again.
    link = [f"link layer {' '.join(layer.words)}"] if layer.words else []
    layout = ", ".join((discipline.id, *(word for word, so in said.items() if so), *link))
    if not shapes:
        return Plan(before, queues=queues, layout=layout)
    ifb, ip = devices["down"], "ip" if dry_run else system.program("ip")
    beside = [[ip, "link", "add", "name", ifb, "type", "ifb"], [ip, "link", "set", "dev", ifb, "up"]]
    here = ["dev", wanted.device]
    first = [tc, "qdisc", "add", *here, "clsact"]
    lead = ["matchall", "action", "mirred", "egress", "redirect", "dev", ifb]
    second = [tc, "filter", "add", *here, "ingress", "protocol", "all", "pref", str(PREFERENCE), *lead]
    # Without numifbs the module makes two devices that nobody asked for.
    before = [*before, *_load_module("ifb", dry_run, "numifbs=0")]
    return Plan(before, beside, queues, [first, second], layout, ifb)


def _queue_steps(tc: str, device: str, discipline: Discipline, wanted: Wanted, shape: Shape | None) -> Steps:
    """A discipline at a device: alone, with its own shaper, or below htb."""
    place = wanted.place(shape.rate_bps, shape.side) if shape else wanted.place(None)
    if shape is not None and shapes_itself(discipline):
        return at_interface(tc, device, shaped_words(discipline, place, shape).split(), None)
    limit, unit = counted(discipline.id, place.limit, place.unit)
    place = replace(place, limit=limit, unit=unit)
    # Also of what arrives: the ifb device has packets as the interface gives them.
    table = (shape.layer if shape else LinkLayer()).size_table(mac_header_bytes(wanted.device))
    words = leaf_words(discipline, place).split()
    return at_interface(tc, device, words, shape.rate_bps if shape else None, table)


def _load_module(module: str, dry_run: bool, *options: str) -> Steps:
    """A step that loads a module, if it is not loaded, and the machine has it as one."""
    if not module or (not dry_run and system.loaded(module)):
        return []
    if dry_run:
        return [["modprobe", module, *options]]
    try:
        modprobe = system.program("modprobe")
        output([modprobe, "--dry-run", module])
    except MayflyError:
        return []  # in the kernel itself, if anywhere: what needs it tells
    return [[modprobe, module, *options]]


def _in_place(device: str, journal: Journal, plan: Plan, root: Root, index: int) -> bool:
    """Whether only numbers change: a discipline with its own shaper takes them while packets wait."""
    kind = plan.layout.split(",")[0]
    if not (journal.complete and journal.index == index and journal.layout == plan.layout and root.ours):
        return False
    if kind not in leaves() or "shaped" not in plan.layout or root.kind != leaves()[kind].kind:
        return False
    return shapes_itself(Discipline(kind, {})) and (not plan.ifb or _leads_to(device, plan.ifb))


def _refuse_in_the_way(device: str, plan: Plan, root: Root, journal: Journal | None, replace_other: bool) -> None:
    """Refuses where somebody else's would be lost or would be in the way."""
    if root.name and not root.ours and root.kept is None and not replace_other:
        raise MayflyError(
            f"{device}: has {root.name} configured, which could not be put back; --replace takes its place for good"
        )
    if not plan.ifb:
        return
    known = (journal is not None and journal.ifb == plan.ifb) or (root.ours and _leads_to(device, plan.ifb))
    if index_of(plan.ifb) is not None and not known:
        raise MayflyError(f"{device}: what arrives is to go through {plan.ifb}, and there is one already")
    if has_hook(device) and filters(device, "ingress")[1]:
        raise MayflyError(
            f"{device}: somebody else's filters look at what arrives (tc filter show dev {device} ingress): "
            "they and the shaper would be in each other's way"
        )


def _leads_to(device: str, ifb: str) -> bool:
    """Whether what arrives at an interface goes through that device, and both are of a load."""
    return is_ifb(ifb) and root_of(ifb, try_it=False).ours and filters(device, "ingress")[0]


def _assumed(device: str) -> Journal:
    """What a load without a journal must have done; refuses where none was."""
    root, ifb = root_of(device, try_it=False), ifb_of(device)
    if not root.ours:
        if not root.name:
            raise MayflyError(f"{device}: nothing is there to be removed")
        raise MayflyError(f"{device}: not from mayfly qdisc load: {root.name} is there; tc qdisc del removes it")
    beside = ifb if _leads_to(device, ifb) else ""
    return Journal(device, index_of(device) or 0, "", ifb=beside, hook=bool(beside))


def _after_failure(device: str, journal: Journal, first: Journal | None, held: int, taken_back: bool) -> list[str]:
    """Leaves nothing of a load that failed; what else is to be said of it.

    Numbers that were changed in place are changed back; where that fails too, the first load is undone.
    """
    said = []
    if first is not None:
        try:
            perform([step for step in first.steps if step[1:3] == ["qdisc", "replace"]], held)
            first.write()
        except MayflyError:
            taken_back = True
        else:
            return [f"{device} is as the load before has left it"]
    if taken_back:
        said.append(f"the load that was at {device} before is undone too")
    try:
        _undo(device, journal, held)
    except MayflyError as error:
        said.append(f"not all could be undone: {error}; mayfly qdisc unload {device}")
    return said


def _undo(device: str, journal: Journal | None, held: int) -> Done:
    """Runs what is left to be undone, and forgets the journal when all of it went well."""
    if journal is None:
        journal = _assumed(device)
    elif journal.complete:
        # What ends this before its end leaves a journal of what is not whole any more.
        journal = replace(journal, complete=False)
        journal.write()
    done, failed = _undone(device, journal), None
    for step in done.steps:
        try:
            output(step, held)
        except MayflyError as error:
            # The settings of the BPF qdisc may not be there any more.
            failed = failed or (error if "map" not in step[1:2] else None)
    if failed is None:
        forget(device)
    else:
        raise failed
    return done


def _undone(device: str, journal: Journal) -> Done:
    """What is left to be undone, seen from what is there now: nothing of it is done twice."""
    steps: Steps = []
    if journal.index == index_of(device):
        steps += _undo_redirect(device, journal)
        at_root, said = _undo_root(device, journal)
        steps += at_root
        on = offloads_on(device) if journal.offloads else ()
        again = [name for name in journal.offloads if name not in on]
        if again:
            steps.append(_switched(system.program("ethtool"), device, again, "on"))
    else:
        said = f"{device} is not what it was when it was loaded"
    if journal.ifb and is_ifb(journal.ifb):
        steps.append([system.program("ip"), "link", "del", "dev", journal.ifb])
    lost = (f"{journal.lost} was there before: it could not be recorded, and is gone",) if journal.lost else ()
    return Done(steps, (said, *lost))


def _undo_redirect(device: str, journal: Journal) -> Steps:
    """What arrives goes its own way again; a hook that others use now stays."""
    if not journal.ifb or not has_hook(device):
        return []
    tc, here = system.program("tc"), ["dev", device]
    ours, others = filters(device, "ingress")
    if journal.hook and not others and not filters(device, "egress")[1]:
        return [[tc, "qdisc", "del", *here, "clsact"]]
    return [[tc, "filter", "del", *here, "ingress", "pref", str(PREFERENCE)]] if ours else []


def _undo_root(device: str, journal: Journal) -> tuple[Steps, str]:
    """What was at the root, there again; and how it is now, in words."""
    root = root_of(device, try_it=False)
    back = [command_of("put", device, journal.root)] if journal.root else []
    as_it_was = f"{device} is as it was, with {journal.root.name}" if journal.root else ""
    delete = [system.program("tc"), "qdisc", "del", "dev", device, "root"]
    if root.ours:
        return [*(back or [delete]), *_undo_bpf(device, journal, root)], as_it_was or _AS_MADE.format(device)
    if root.kernels_own:
        return [*back, *_undo_bpf(device, journal, root)], as_it_was or _AS_MADE.format(device)
    if journal.root and root.name == journal.root.name:
        return _undo_bpf(device, journal, root), as_it_was
    return _undo_bpf(device, journal, root), f"{device} keeps {root.name}, which came there after mayfly qdisc load"


_AS_MADE = "{} is as the kernel makes it"


def _undo_bpf(device: str, journal: Journal, root: Root) -> Steps:
    """The registration of the BPF qdisc goes with the last interface that has it, else the interface's settings go."""
    registers = any(step[1:3] == ["struct_ops", "register"] for step in journal.steps)
    sets = any(step[1:5] == ["map", "update", "name", SETTINGS] for step in journal.steps)
    if not (registers or sets or root.kind == BPF):
        return []
    users = sum(row.kind == BPF for row in read(None))
    last = users == 1 if root.kind == BPF else registers and not users
    bpftool = system.program("bpftool")
    if last:
        return [[bpftool, *_UNREGISTER]]  # its maps go with it
    return [[bpftool, "map", "delete", "name", SETTINGS, *_key(_index(device))]]


def _switched(ethtool: str, device: str, offloads: Sequence[str], way: str) -> list[str]:
    return [ethtool, "-K", device, *(word for name in offloads for word in (name, way))]


def _refuse_without_words(discipline: Discipline) -> None:
    """Refuses a discipline of Linux whose options are not known here, such as dualpi2."""
    row = next((row for row in disciplines() if row["id"] == discipline.id), None)
    if row is None or discipline.id in leaves() or row["runs_on"]["places"] != ["kernel"]:
        return
    qdisc = row["runs_on"]["qdisc"]
    why = system.why_no_qdisc(qdisc)
    raise MayflyError(
        f"{discipline.label}: mayfly qdisc load has no words for its options; "
        + (why or f"man tc-{qdisc} has them, and tc qdisc add makes one")
    )


def _need_qdiscs(queues: Steps, module: str) -> None:
    """Refuses where the kernel was built without a queue discipline of these steps; ours have a module."""
    ours = module.removeprefix("sch_")
    for step in queues:
        kind = _kind_made(step)
        why = system.why_no_qdisc(kind) if kind and kind != ours else ""
        if why:
            raise MayflyError(why)


def _kind_made(step: Sequence[str]) -> str:
    """Kind of the queue discipline that a step of tc makes; empty where it makes none.

    Examples
    --------
    >>> _kind_made("tc qdisc replace dev eth0 root handle 6d66: cake bandwidth 1250000bps".split())
    'cake'
    >>> _kind_made("tc qdisc replace dev eth0 root handle 6d66: stab overhead 18 linklayer ethernet htb".split())
    'htb'
    >>> _kind_made("tc class add dev eth0 parent 6d66: classid 6d66:1 htb rate 10mbit".split())
    ''
    """
    if step[1:2] != ["qdisc"] or "handle" not in step:
        return ""
    word = step[step.index("handle") + 2]
    return "htb" if word == "stab" else word


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
