"""What a load is about to change at an interface, written down before its first step; and a lock of the interface.

Whatever ends a load, `unload` and the next `load` of the interface find the journal and undo from it.
"""

import contextlib
import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.qdisc.kept import Kept
from mayfly.qdisc.system import refuse_foreign
from mayfly.text.files import complete

FOLDER = Path("/run/mayfly")
"""Of journals and locks: gone with the next start of the machine, as queue disciplines are."""

PATIENCE_S = 2.0
"""A command of a load that was killed may still be at work: it has the lock until it ends."""

_VERSION = 1
_SO_NETNS_COOKIE = 71
"""Linux, include/uapi/asm-generic/socket.h."""


@dataclass(frozen=True)
class Journal:
    """What a load changes, and what was there before.

    Parameters
    ----------
    device : str
    index : int
        Of the interface: another one that comes by the same name is not this one.
    layout : str
        What is loaded, without numbers that may change in place.
    complete : bool
        Whether the load came to its end.
    root : Kept, optional
        What was at the root and is to be put back; None: the kernel's own.
    lost : str
        What was at the root and cannot be put back; empty for nothing.
    ifb : str
        Device through which goes what arrives; empty where the load has none.
    hook : bool
        Whether the load makes the hook (clsact) for what arrives.
    offloads : tuple of str
        Offloads that the load switches off.
    steps : list of list of str
        Of the load.
    """

    device: str
    index: int
    layout: str
    complete: bool = False
    root: Kept | None = None
    lost: str = ""
    ifb: str = ""
    hook: bool = False
    offloads: tuple[str, ...] = ()
    steps: list[list[str]] = field(default_factory=list)

    def write(self) -> None:
        """Writes it down, whole or not at all.

        Raises
        ------
        MayflyError
            The folder cannot be written.
        """
        document = {"version": _VERSION, "boot": _boot()} | asdict(self)
        try:
            with complete(_path(self.device, "json")) as partial:
                partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise MayflyError(f"{FOLDER}: cannot be written: {error.strerror}; nothing was changed") from None


def read_journal(device: str) -> Journal | None:
    """The journal of an interface.

    Parameters
    ----------
    device : str

    Returns
    -------
    Journal or None
        None where there is none, or where the machine was started since.

    Raises
    ------
    MayflyError
        It cannot be read, or is none.
    """
    path = _path(device, "json")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document.pop("boot") != _boot():
            return None
        if document.pop("version") != _VERSION:
            raise MayflyError(f"{path}: of another version of Mayfly: unload with that one")
        root, offloads = document.pop("root"), tuple(document.pop("offloads"))
        return Journal(root=Kept(**root) if root else None, offloads=offloads, **document)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MayflyError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise MayflyError(f"{path}: no journal of mayfly qdisc; rm {path}, if nothing of it is at {device}") from None


def forget(device: str) -> None:
    """Removes the journal of an interface."""
    _path(device, "json").unlink(missing_ok=True)


@contextmanager
def locked(device: str) -> Iterator[int]:
    """Nobody else loads or unloads at the interface meanwhile.

    Parameters
    ----------
    device : str

    Yields
    ------
    int
        Descriptor of the lock. Commands inherit it, so that it holds until they have ended.

    Raises
    ------
    MayflyError
        Somebody else does, or the folder cannot be written.
    """
    try:
        FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
        refuse_foreign(FOLDER)
        path = _path(device, "lock")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise MayflyError(f"{FOLDER}: cannot be written: {error.strerror}; nothing was changed") from None
    try:
        end = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() >= end:
                raise MayflyError(f"{device}: another mayfly qdisc load or unload is at work there")
            time.sleep(0.02)
        yield descriptor
    finally:
        os.close(descriptor)


def index_of(device: str) -> int | None:
    """Number of an interface; None where there is no such interface."""
    try:
        return socket.if_nametoindex(device)
    except OSError:
        return None


def _path(device: str, kind: str) -> Path:
    """Names are those of one network namespace; the number of one that is gone may be that of another later."""
    try:
        namespace = str(os.stat("/proc/self/ns/net").st_ino)
    except OSError:
        namespace = "0"
    cookie = _cookie()
    return FOLDER / f"{device}.{namespace}{'' if cookie is None else f'-{cookie}'}.{kind}"


def _cookie() -> int | None:
    """Of the network namespace, which no other has until the machine starts again; None before Linux 5.14."""
    try:
        with socket.socket(socket.AF_UNIX) as any_socket:
            return int.from_bytes(any_socket.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8), sys.byteorder)
    except OSError:
        return None


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
