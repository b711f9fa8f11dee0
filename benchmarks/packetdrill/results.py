"""All scripts on one back end: which are in scope, where each fails, and what was recorded before."""

import subprocess
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packetdrill.play import Backend, Failure, play
from packetdrill.script import Script, ScriptError, read

HERE = Path(__file__).resolve().parent
SCOPE = HERE / "scope.toml"
VERDICTS = HERE / "verdicts.toml"
GTESTS = HERE.parents[1].parent / "shared" / "packetdrill" / "gtests" / "net" / "tcp"
"""Scripts that packetdrill comes with."""

DEFINES = {
    "TFO_COOKIE": "3021b9d889017eeb",
    "TFO_COOKIE_ZERO": "b7c12350a90dc8f5",
    "CMSG_LEVEL_IP": "SOL_IP",
    "CMSG_TYPE_RECVERR": "IP_RECVERR",
}
"""Symbols that the kernel's ksft_runner.sh gives to scripts over IPv4."""


class UnavailableError(Exception):
    """Scripts that are not here, and why."""


@dataclass(frozen=True)
class Case:
    """A script: ``collection`` is gtests or selftests, ``name`` its path there without ``.pkt``."""

    collection: str
    name: str
    path: Path
    group: str


@dataclass(frozen=True)
class Verdict:
    """What became of a script; without a failure it passed."""

    case: Case
    failure: Failure | None

    @property
    def word(self) -> str:
        return "pass" if self.failure is None else "fail"


def scope() -> dict[str, dict[str, str]]:
    """Groups of scripts by name: ``rfc`` and ``about``, or ``out``."""
    return tomllib.loads(SCOPE.read_text(encoding="utf-8"))


def selftests(cache: Path) -> Path:
    """The folder of the kernel's scripts, fetched by apt if it is not in the cache.

    Raises
    ------
    UnavailableError
        Where it cannot be had.
    """
    done = subprocess.run([HERE / "fetch.sh", cache], capture_output=True, text=True)
    if done.returncode == 77:
        raise UnavailableError(done.stderr.strip().splitlines()[-1])
    done.check_returncode()
    return Path(done.stdout.strip())


def cases(collection: str, folder: Path) -> list[Case]:
    """The scripts of a collection in a folder.

    Raises
    ------
    UnavailableError
        When there is none.
    """
    found = []
    for path in sorted(folder.rglob("*.pkt")):
        name = str(path.relative_to(folder).with_suffix(""))
        found.append(Case(collection, name, path, group(collection, name)))
    if not found:
        raise UnavailableError(f"no scripts of packetdrill in {folder}")
    return found


def group(collection: str, name: str) -> str:
    """The group of a script.

    Examples
    --------
    >>> group("gtests", "close/close-on-syn-sent"), group("selftests", "tcp_fast_recovery_prr-ss-10pkt-lost-1")
    ('close', 'fast_recovery')
    """
    if collection == "gtests":
        return name.split("/")[0]
    bare = name.removeprefix("tcp_")
    named = [group for group in scope() if bare.startswith(group)]
    return max(named, key=len, default=bare)


def judge(case: Case, backend: Callable[[Script], Backend]) -> Verdict:
    """Plays a script."""
    try:
        script = read(case.path, DEFINES)
    except ScriptError as error:
        return Verdict(case, Failure(error.line, "not read", error.why, "an interpreter that does not know it"))
    return Verdict(case, play(script, backend))


def recorded() -> dict[str, dict[str, dict[str, Any]]]:
    """By collection and name of script: ``verdict``, and of those that fail ``line`` and ``cause``."""
    return tomllib.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}


def record(verdicts: Iterable[Verdict]) -> str:
    """The file of verdicts anew, for those in scope. A cause stays while its script fails."""
    before = recorded()
    lines = ["# Written by `python benchmarks/packetdrill --record`; causes by hand.", ""]
    collection = None
    for verdict in verdicts:
        case = verdict.case
        if case.collection != collection:
            collection = case.collection
            lines.append(f"[{collection}]")
        entry = f'"{case.name}" = {{ verdict = "{verdict.word}"'
        if verdict.failure:
            cause = before.get(case.collection, {}).get(case.name, {}).get("cause", "unexplained")
            entry += f', line = {verdict.failure.line}, cause = "{cause}"'
        lines.append(entry + " }")
    return "\n".join(lines) + "\n"
