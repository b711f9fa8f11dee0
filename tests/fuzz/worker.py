"""Whole commands in a child process, under limits: a breach, a traceback, a panic or an odd exit status is a failure.

Principle: a server that has imported Mayfly forks a child for some hundred cases; the child runs one command after
another in itself. The parent watches its processor time and memory, and kills it: then the next case has a new child.
"""

import contextlib
import gc
import json
import multiprocessing
import multiprocessing.connection
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import tomli_w
from case import OUT, TO_TOML, Case

CPU_S = 10.0
"""Processor time of a command at most, its threads together."""

IDLE_S = 60.0
"""Time in which a command and what it started use no processor at most: on a busy machine all take long."""

MEMORY_BYTES = 10**9
"""Memory of a command at most, above what its process had before."""

CASES_A_CHILD = 500
"""After these the child ends, and what earlier commands left in it with it."""

STATUSES = (0, 2, 3)
"""Success, refusal, and a sweep whose runs all failed."""

LOOK_S = 0.02


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Parameters
    ----------
    status : int
    out, err : str
        What it printed.
    peak_bytes : int
        Memory at most, above that before.
    cpu_s : float
    left : tuple of str
        Files that it had no time to finish.
    """

    status: int
    out: str
    err: str
    peak_bytes: int
    cpu_s: float
    left: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """What must not be.

    Parameters
    ----------
    signature : str
        What and where, the same for all cases that show the same mistake.
    command : tuple of str
    detail : str
        Of what was printed, the end.
    """

    signature: str
    command: tuple[str, ...]
    detail: str = ""


def _peak_bytes() -> int:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def _unfinished(folder: Path) -> set[Path]:
    """What :mod:`mayfly.text` names so while it is written."""
    return {*folder.rglob(".*.partial"), *folder.rglob(".mayfly-*")}


def _run(arguments: tuple[str, ...], folder: Path) -> Ended:
    """A command in this process."""
    from mayfly.cli import main

    there = _unfinished(folder)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as clear:
        clear.write("5")
    before, cpu_s = _peak_bytes(), time.process_time()
    printed = [folder.parent / name for name in ("stdout", "stderr")]
    for number, path in enumerate(printed, 1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    # A text stream of each command's own: what it changes of one does not stay.
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    sys.argv = ["mayfly", *arguments]
    os.chdir(folder)
    try:
        main()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    gc.unfreeze()
    out, err = (path.read_bytes().decode("utf-8", "replace") for path in printed)
    left = tuple(str(path.relative_to(folder)) for path in _unfinished(folder) - there)
    return Ended(status, out, err, _peak_bytes() - before, time.process_time() - cpu_s, left)


def _as_toml(arguments: tuple[str, ...], folder: Path) -> Ended:
    """The step between two commands that is none of ours; it ends with 3 where the first has written nothing."""
    _, source, key, target = arguments
    if not (folder / source).exists():
        return Ended(3, "", "", 0, 0.0, ())
    document = json.loads((folder / source).read_text(encoding="utf-8"))[key]
    (folder / target).write_text(tomli_w.dumps(_without_nulls(document)), encoding="utf-8")
    return Ended(0, "", "", 0, 0.0, ())


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def _serve(connection: multiprocessing.connection.Connection) -> None:
    """The child: a case comes, what each of its commands did goes back."""
    os.setpgrp()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    while True:
        try:
            case, folder = connection.recv()
        except EOFError:
            os._exit(0)
        for arguments in case.commands:
            step = _as_toml if arguments[0] == TO_TOML else _run
            connection.send(step(arguments, folder))


def _used(pid: int) -> tuple[float, int]:
    """Processor time of a process, s, and its memory, bytes."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return cpu_s, int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def _group_s(group: int) -> float:
    """Processor time of all processes of a group, s."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


class Runner:
    """Runs cases, in a child that is started anew now and then.

    Use it in a ``with`` statement: the child and all it started end with that.
    """

    def __init__(self) -> None:
        # Neither the terminal nor a user's settings decide what is printed.
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
            os.environ.pop(name, None)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["warm", "worker"])
        self._child: multiprocessing.process.BaseProcess | None = None
        self._connection: multiprocessing.connection.Connection | None = None
        self._left = 0
        shared = Path("/dev/shm")
        self._folder = Path(tempfile.mkdtemp(prefix="mayfly-fuzz-", dir=shared if os.access(shared, os.W_OK) else None))
        self.statuses: Counter[int] = Counter()
        """Exit statuses of commands that ended, and how often."""
        self.longest_s = 0.0
        """Processor time of the command that took most of it."""
        self.largest_bytes = 0
        """Memory of the command that took most of it."""

    def __enter__(self) -> "Runner":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_child()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _end_child(self) -> None:
        if self._child is not None and self._connection is not None:
            self._connection.close()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                # The group is the child's own; it made it before its first case.
                os.killpg(self._child.pid or 0, signal.SIGKILL)
            self._child.kill()
            self._child.join()
        self._child = self._connection = None

    def _started(self) -> tuple[multiprocessing.process.BaseProcess, multiprocessing.connection.Connection]:
        if self._child is None or self._connection is None or self._left <= 0:
            self._end_child()
            self._connection, other = self._context.Pipe()
            self._child = self._context.Process(target=_serve, args=(other,), daemon=False)
            self._child.start()
            other.close()
            self._left = CASES_A_CHILD
        self._left -= 1
        return self._child, self._connection

    def run(self, case: Case) -> list[Failure]:
        """Runs all commands of a case; none after one that broke a limit.

        Parameters
        ----------
        case : Case

        Returns
        -------
        list of Failure
        """
        place = self._folder / "case"
        shutil.rmtree(place, ignore_errors=True)
        folder = place / "in"
        case.lay(folder)
        child, connection = self._started()
        connection.send((case, folder))
        failures, ended = [], []
        for command in case.commands:
            found = self._watched(child, connection)
            if isinstance(found, str):
                self._end_child()
                return [*failures, Failure(found, command, _tail(place / "stderr"))]
            ended.append(found)
            self.statuses[found.status] += 1
            self.longest_s = max(self.longest_s, found.cpu_s)
            self.largest_bytes = max(self.largest_bytes, found.peak_bytes)
            failures += [Failure(signature, command, found.err[-2000:]) for signature in _wrong(found, command)]
        if ended and all(found.status == 0 for found in ended):
            failures += _different(case, folder)
        return failures

    def _watched(
        self, child: multiprocessing.process.BaseProcess, connection: multiprocessing.connection.Connection
    ) -> Ended | str:
        """How the command that runs ended; in words where it had to be killed, or died."""
        pid = child.pid or 0
        looked_s, used_s, (cpu_before_s, before) = time.monotonic(), -1.0, _used(pid)
        while not connection.poll(LOOK_S):
            try:
                cpu_s, memory = _used(pid)
            except (OSError, IndexError):
                cpu_s, memory = cpu_before_s, before
            if cpu_s - cpu_before_s > CPU_S:
                return f"more than {CPU_S:g} s"
            if memory - before > MEMORY_BYTES:
                return f"more than {MEMORY_BYTES / 1e9:g} GB"
            if time.monotonic() - looked_s > IDLE_S:
                looked_s, before_s, used_s = time.monotonic(), used_s, _group_s(pid)
                if used_s <= before_s:
                    return "stuck"
        try:
            found: Ended = connection.recv()
        except (EOFError, ConnectionError):
            child.join()
            return f"the process died: {child.exitcode}"
        if found.peak_bytes > MEMORY_BYTES:
            return f"more than {MEMORY_BYTES / 1e9:g} GB"
        return found


def _tail(path: Path) -> str:
    try:
        return path.read_bytes()[-2000:].decode("utf-8", "replace")
    except OSError:
        return ""


_FRAME = re.compile(r'File "[^"]*?((?:mayfly|mayfly_papers)/[^"]+)", line \d+, in (\S+)')
_PANIC = re.compile(r"panicked at ([^\n:]+:\d+)")


def _wrong(ended: Ended, command: tuple[str, ...]) -> Iterator[str]:
    """What a command did that none may."""
    if panic := _PANIC.search(ended.err):
        yield f"panic at {panic[1]}"
    elif "Traceback (most recent call last)" in ended.err:
        frames = _FRAME.findall(ended.err)
        where = " in ".join(reversed(frames[-1])) if frames else "?"
        last = [line for line in ended.err.splitlines() if line and line[0] not in " \t" and "mayfly: " not in line]
        yield f"traceback: {last[-1].partition(':')[0] if last else '?'} at {where}"
    elif ended.status not in STATUSES:
        yield f"exit status {ended.status}"
    elif ended.status == 2 and not _is_one_line(ended.err):
        yield "a refusal of other than one line"
    if ended.left:
        yield "a file left half-written"
    if "--json" in command and ended.status == 0:
        try:
            json.loads(ended.out, parse_constant=_refuse)
        except ValueError:
            yield "no JSON document"


def _is_one_line(text: str) -> bool:
    # Notes stand on lines before.
    last = text.rstrip("\n").rpartition("\n")[2]
    return last.startswith("mayfly: ") and last.isprintable()


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _different(case: Case, folder: Path) -> Iterator[Failure]:
    for names in case.same:
        if len({(folder / OUT / name).read_bytes() for name in names}) > 1:
            yield Failure(f"not the same: {', '.join(names)}", case.commands[-1])
