"""The queue discipline that was at the root of an interface before: recorded as the kernel tells it, and put back.

What the kernel tells of options (``TCA_OPTIONS``) it takes too where a discipline has no classes. Words of tc would not
do: its output rounds, and is no input. Where the kernel itself rounds (CoDel keeps times in units of 1024 ns, and tells
120 ms as 119,999 us), what is put back is what it tells the same of. The module is a command, so that a step of a load
may be one: ``python -m mayfly.qdisc.kept put eth0 fq_codel 8001: 0c00010087130000...``. It imports nothing of the
package.

Source: Linux, include/uapi/linux/rtnetlink.h, net/sched/sch_api.c.
"""

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

_NAME = "mayfly.qdisc.kept"
_NEWQDISC, _DELQDISC, _GETQDISC = 36, 37, 38
_NEWLINK = 16
_ERROR, _DONE = 2, 3
_REQUEST, _ACK, _DUMP, _REPLACE, _CREATE = 0x1, 0x4, 0x300, 0x100, 0x400
_KIND, _OPTIONS, _STAB = 1, 2, 8
_TYPE = 0x3FFF
_TRIALS = 4
_ROOT = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_MESSAGE = struct.Struct("=BxxxiIII")
_LINK = struct.Struct("=BxHiII")
_LINK_NAME, _LINK_INFO, _LINK_KIND, _TX_QUEUES = 3, 18, 1, 31
_EXT_ACK, _SOL_NETLINK, _ACK_TLVS, _SAID = 11, 270, 0x200, 1

WITHOUT_CLASSES = {
    "bfifo", "cake", "cake_mq", "choke", "codel", "dualpi2", "fq", "fq_codel", "fq_pie", "gred", "hhf", "pfifo",
    "pfifo_fast", "pfifo_head_drop", "pie", "prio", "red", "sfb", "sfq", "tbf",
    "efd", "estmred", "las", "lfq", "run2c",
}  # fmt: skip
"""Kinds that are their options and nothing else: nobody adds classes to them.

Not netem, which does not tell its table of delays: it would come back with another distribution, and tell the same.
"""

_NEEDS_QUEUES = ("cake_mq",)
"""Kinds that only a device with several hardware queues takes: they make a child for each, which is theirs alone."""

_SEVERAL_QUEUES = "queues"
"""Device with several queues, in the network namespace of a trial."""


@dataclass(frozen=True)
class Kept:
    """A queue discipline at a root.

    Parameters
    ----------
    kind : str
    handle : str
        As tc writes it: ``8001:``.
    options, size_table : str
        Attributes of the kernel, hexadecimal; empty where it tells none.
    """

    kind: str
    handle: str
    options: str = ""
    size_table: str = ""

    def words(self) -> list[str]:
        """Arguments of the command ``put``."""
        return [self.kind, self.handle, self.options, self.size_table]

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.kind} {self.handle}"


def recorded(device: str) -> Kept | None:
    """The queue discipline at the root of an interface.

    Parameters
    ----------
    device : str

    Returns
    -------
    Kept or None
        None where there is none.

    Raises
    ------
    OSError
        There is no such interface.
    """
    index = socket.if_nametoindex(device)
    for about, attributes in _dump():
        if about[1] == index and about[3] == _ROOT:
            kind = attributes.get(_KIND, b"").rstrip(b"\0").decode()
            options, table = (attributes.get(which, b"").hex() for which in (_OPTIONS, _STAB))
            return Kept(kind, f"{about[2] >> 16:x}:", options, table)
    return None


def put(device: str, kept: Kept) -> None:
    """Puts a queue discipline at the root, in place of whatever is there.

    Parameters
    ----------
    device : str
    kept : Kept

    Raises
    ------
    OSError
        The kernel refuses, with its words.
    """
    handle = int(kept.handle.rstrip(":"), 16) << 16
    message = _MESSAGE.pack(socket.AF_UNSPEC, socket.if_nametoindex(device), handle, _ROOT, 0)
    message += _attribute(_KIND, kept.kind.encode() + b"\0")
    for which, value in ((_OPTIONS, kept.options), (_STAB, kept.size_table)):
        if value:
            message += _attribute(which, bytes.fromhex(value))
    for _ in _asked(_NEWQDISC, _REQUEST | _ACK | _CREATE | _REPLACE, message):
        pass


def _remove(device: str) -> None:
    """Takes what is at the root away."""
    message = _MESSAGE.pack(socket.AF_UNSPEC, socket.if_nametoindex(device), 0, _ROOT, 0)
    for _ in _asked(_DELQDISC, _REQUEST | _ACK, message):
        pass


def to_put_back(kept: Kept) -> Kept | None:
    """What is to be put back so that the kernel tells what it told: tried in a network namespace of its own.

    Parameters
    ----------
    kept : Kept
        As the kernel tells it.

    Returns
    -------
    Kept or None
        None where the kernel does not take it, tells something else, or it cannot be tried.
    """
    if kept.kind not in WITHOUT_CLASSES:
        return None
    device = _SEVERAL_QUEUES if kept.kind in _NEEDS_QUEUES else "lo"
    command = ["unshare", "--net", "--", *command_of("try", device, kept)]
    try:
        tried = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError:
        return None
    return replace(kept, options=tried.stdout.strip()) if tried.returncode == 0 else None


def _add_several_queues() -> None:
    """Makes a device with two queues; veth, whose module makes no device of its own when it is loaded."""
    kind = _attribute(_LINK_KIND, b"veth")
    message = _LINK.pack(socket.AF_UNSPEC, 0, 0, 0, 0) + _attribute(_LINK_NAME, _SEVERAL_QUEUES.encode() + b"\0")
    message += _attribute(_TX_QUEUES, struct.pack("=I", 2)) + _attribute(_LINK_INFO, kind)
    for _ in _asked(_NEWLINK, _REQUEST | _ACK | _CREATE, message):
        pass


def _tried(device: str, kept: Kept) -> Kept | None:
    """Puts it, and where a number comes back less than it was told, puts that much more."""
    given = kept
    for _ in range(_TRIALS):
        put(device, given)
        told = recorded(device)
        if told == kept:
            return given
        if told is None or replace(told, options=kept.options) != kept:
            return None
        given = replace(given, options=_raised(given.options, kept.options, told.options))
        _remove(device)  # a change would refuse what is given only when it is made
    return None


def _raised(given: str, wanted: str, told: str) -> str:
    """Options with numbers of 32 bits raised by what is missing.

    Examples
    --------
    >>> _raised("08000300bfd40100", "08000300bfd40100", "08000300bed40100")
    '08000300c0d40100'
    """
    values = [_attributes(bytes.fromhex(options)) for options in (given, wanted, told)]
    found = b""
    for kind, value in values[0].items():
        others = [other.get(kind, b"") for other in values[1:]]
        if len(value) == 4 and all(len(other) == 4 for other in others):
            now, want, got = (struct.unpack("=I", one)[0] for one in (value, *others))
            value = struct.pack("=I", now + max(0, want - got) & 0xFFFFFFFF)
        found += _attribute(kind, value)
    return found.hex()


def command_of(verb: str, device: str, kept: Kept) -> list[str]:
    """A step that does ``put`` or ``try``.

    Examples
    --------
    >>> command_of("put", "eth0", Kept("pfifo_fast", "8001:"))[1:]
    ['-P', '-m', 'mayfly.qdisc.kept', 'put', 'eth0', 'pfifo_fast', '8001:', '', '']
    """
    # -P: nothing is imported from the folder in which root happens to be.
    return [sys.executable, "-P", "-m", _NAME, verb, device, *kept.words()]


def _attribute(kind: int, payload: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def _attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & _TYPE] = data[4:length]
        data = data[max(length + 3 & ~3, 4) :]
    return found


def _dump() -> Iterator[tuple[tuple[int, ...], dict[int, bytes]]]:
    request = _MESSAGE.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
    for payload in _asked(_GETQDISC, _REQUEST | _DUMP, request):
        yield _MESSAGE.unpack_from(payload), _attributes(payload[_MESSAGE.size :])


def _asked(kind: int, flags: int, message: bytes) -> Iterator[bytes]:
    """Payloads of the answers to a request; OSError with the kernel's words where it refuses."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
        link.setsockopt(_SOL_NETLINK, _EXT_ACK, 1)
        link.bind((0, 0))
        link.send(_HEADER.pack(_HEADER.size + len(message), kind, flags, 1, 0) + message)
        while True:
            data = link.recv(1 << 18)
            while data:
                length, answer, its_flags, _, _ = _HEADER.unpack_from(data)
                payload, data = data[_HEADER.size : length], data[length + 3 & ~3 :]
                if answer == _DONE:
                    return
                if answer == _ERROR:
                    _refused(payload, its_flags)
                    return
                yield payload


def _refused(payload: bytes, flags: int) -> None:
    """Raises what an answer says; 0 is an acknowledgement."""
    (code,) = struct.unpack_from("=i", payload)
    if not code:
        return
    said = ""
    if flags & _ACK_TLVS:
        (length,) = struct.unpack_from("=I", payload, 4)
        # The request is in the answer, or (an acknowledgement that is capped) its header alone.
        said = _attributes(payload[4 + length :]).get(_SAID, b"").rstrip(b"\0").decode(errors="replace")
    raise OSError(-code, said or os.strerror(-code))


def main(verb: str, device: str, *words: str) -> int:
    """Does ``put`` or ``try``; the exit status."""
    kept = Kept(*words)
    try:
        if verb == "put":
            put(device, kept)
            return 0
        if device == _SEVERAL_QUEUES:
            _add_several_queues()
        found = _tried(device, kept)
    except OSError as error:
        print(f"Error: {kept.name}: {error.strerror}", file=sys.stderr)
        return 2
    if found is None:
        return 1
    print(found.options)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
