"""A disk that fails (``faults.c``): commands run on it, and what they leave is looked at.

Starting Python and its libraries takes longer than the commands do, so they run in forks of one process that has them.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KINDS = ("eio", "enospc", "full", "short", "kill")
PATIENCE_S = 120

ROOM = ("write", "pwrite", "pwrite64", "writev", "copy_file_range", "fsync", "fdatasync", "mkdir", "mkdirat")
WRITES = ROOM[:5]
REMOVES = ("unlink", "unlinkat", "rmdir")

SOURCE = Path(__file__).with_suffix(".c")


def compiler() -> str | None:
    """A C compiler, if there is one and preloading works here."""
    return shutil.which("cc") if sys.platform == "linux" else None


def built(folder: Path) -> Path:
    """The library to preload."""
    library = folder / "faults.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SOURCE, "-ldl"]
    subprocess.run(command, check=True)
    return library


@dataclass(frozen=True)
class Fault:
    """What happens at the ``at``-th call."""

    at: int = 0
    kind: str = "none"
    reads: bool = False
    flag: Path | None = None


@dataclass(frozen=True)
class Call:
    """A call that was made and succeeded."""

    number: int
    name: str
    path: str
    other: str

    def takes(self, kind: str) -> bool:
        """Whether a fault of this kind can happen to it."""
        if kind in ("eio", "kill"):
            return True
        if kind == "short":
            return self.name in WRITES
        return self.name in ROOM or self.name.startswith("open")


@dataclass(frozen=True)
class Ended:
    """How a command ended: a status below 0 is the signal that killed it."""

    status: int
    out: str
    err: str
    calls: list[Call] = field(default_factory=list)


class Warm:
    """A process with all libraries, whose forks run commands on a disk that fails.

    Parameters
    ----------
    folder : Path
        For the library and what commands print.
    """

    def __init__(self, folder: Path):
        self._folder, self._number = folder, 0
        environment = os.environ | {"LD_PRELOAD": str(built(folder)), "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._server = subprocess.Popen(command, env=environment, text=True, start_new_session=True, **pipes)

    def start(self, out: Path, arguments: Sequence[object], fault: Fault = Fault()) -> Callable[[], Ended]:
        """Begins a command; what is returned waits for its end."""
        self._number += 1
        place = self._folder / f"run{self._number}"
        asked = {
            "place": str(place),
            "arguments": [str(argument) for argument in arguments],
            "environment": {
                "FAULT_UNDER": str(out),
                "FAULT_AT": str(fault.at),
                "FAULT_KIND": fault.kind,
                "FAULT_READS": str(int(fault.reads)),
                "FAULT_FLAG": str(fault.flag or ""),
                "FAULT_LOG": f"{place}.log",
            },
        }
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        return lambda: self._ended(place)

    def run(self, out: Path, arguments: Sequence[object], fault: Fault = Fault()) -> Ended:
        """Runs a command to its end."""
        return self.start(out, arguments, fault)()

    def _ended(self, place: Path) -> Ended:
        status, end = Path(f"{place}.status"), time.monotonic() + PATIENCE_S
        while not status.exists():
            assert time.monotonic() < end and self._server.poll() is None, f"{place}: hangs"
            time.sleep(0.002)
        log = Path(f"{place}.log").read_text().splitlines() if Path(f"{place}.log").exists() else []
        calls = [Call(int(number), *rest) for number, *rest in (line.split("\t") for line in log)]
        texts = [Path(f"{place}.{name}").read_text(encoding="utf-8") for name in ("out", "err")]
        return Ended(int(status.read_text()), *texts, calls)

    def close(self) -> None:
        """Ends the process."""
        self._server.stdin.close()
        self._server.wait(timeout=60)


@contextmanager
def warm(folder: Path) -> Iterator[Warm]:
    """The process, closed at the end."""
    process = Warm(folder)
    try:
        yield process
    finally:
        process.close()


def _serve() -> None:
    """Forks for every line that comes; a thread waits for each fork."""
    import threading

    # All that commands import, but nothing that starts threads of its own.
    import plotly.graph_objects
    import plotly.offline  # noqa: F401

    import mayfly.cli.app
    import mayfly.comparison.comparison
    import mayfly.profile.answer
    import mayfly.sweep.command
    import mayfly.workers.workers

    mayfly.workers.workers.Local = Here
    for line in sys.stdin:
        asked = json.loads(line)
        if (child := os.fork()) == 0:
            _run(asked)
        threading.Thread(target=_tell, args=(child, Path(asked["place"]))).start()


def _tell(child: int, place: Path) -> None:
    _, status = os.waitpid(child, 0)
    told = Path(f"{place}.told")
    told.write_text(str(os.waitstatus_to_exitcode(status)))
    told.rename(f"{place}.status")


def _run(asked: dict[str, Any]) -> None:
    try:
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{asked['place']}.{name}", os.O_WRONLY | os.O_CREAT, 0o644), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(asked["environment"])
        signal.alarm(PATIENCE_S)
        sys.argv = ["mayfly", *asked["arguments"]]
        from mayfly.cli import main

        ctypes.CDLL(None).fault_reload()
        main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    except BaseException:
        import traceback

        traceback.print_exc()
        status = 99
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


class Here:
    """Workers of a sweep in its own process: they never touch the store, and take long to start."""

    def __init__(self, count: int | None = None):
        self._jobs: list[tuple[Any, str]] = []

    def room(self) -> bool:
        return len(self._jobs) < 2

    def busy(self) -> bool:
        return bool(self._jobs)

    def submit(self, job: Any, key: str) -> None:
        self._jobs.append((job, key))

    def wait(self) -> Iterator[tuple[str, Any]]:
        job, key = self._jobs.pop(0)
        yield key, job.run(key)

    def close(self) -> None:
        self._jobs.clear()


# What a folder holds.

TAKEN = ("date", "cpu_s", "wall_s", "elapsed_s", "took_s", "files", "ran", "found", "folder")
"""Keys of documents that differ between two runs: when it was, what time the machine took, names of folders."""


def hidden(path: Path, out: Path) -> bool:
    """Whether a file is no result: a lock, or not yet under its name."""
    return any(part.startswith(".") for part in path.relative_to(out).parts)


def results(out: Path) -> list[Path]:
    """Files under their final names."""
    return sorted(path for path in out.rglob("*") if path.is_file() and not hidden(path, out))


def leftovers(out: Path) -> list[str]:
    """What is not under a final name, locks apart."""
    found = (path for path in out.rglob("*") if hidden(path, out) and not path.name.startswith(".lock"))
    return sorted(str(path.relative_to(out)) for path in found)


def content(path: Path) -> Any:
    """What a file holds but for times; fails when it is not whole."""
    import polars as pl

    if path.suffix == ".json":
        return _plain(json.loads(path.read_text(encoding="utf-8")))
    if path.suffix == ".parquet":
        table = pl.read_parquet(path)
        return table.drop([name for name in table.columns if name.rpartition(".")[2] in TAKEN]).to_dicts()
    if path.suffix == ".html":
        text = path.read_text(encoding="utf-8")
        assert text.rstrip().endswith("</html>"), f"{path} is cut"
        return len(text) > 10_000
    if path.suffix == ".js":
        assert path.stat().st_size > 1_000_000, f"{path} is cut"
        return path.name
    if path.suffix in (".csv", ".toml"):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n"), f"{path} is cut"
        return text
    raise AssertionError(f"{path}: nobody knows this file")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if name not in TAKEN}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def held(out: Path) -> dict[str, Any]:
    """What a folder holds, by name: rows of a sweep by their keys, whatever file they are in."""
    from mayfly.sweep.store import Store

    found = {}
    for path in results(out):
        name = path.relative_to(out)
        if name.parts[0] in ("runs", "shards"):
            continue
        found[str(name)] = content(path)
    if (out / "shards").is_dir():
        for key, row in Store(out).rows().items():
            found[f"row {key}"] = {
                name: value for name, value in row.items() if name not in TAKEN and value is not None
            }
    return found


if __name__ == "__main__":
    _serve()
