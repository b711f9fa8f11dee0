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


UNEXPLAINED = "unexplained"

KERNELS = {"kernel": "6.1", "newest": "newest"}
"""Columns of recorded verdicts that are a kernel's, and what ``MAYFLY_KERNEL`` is for each."""


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


Guest = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Runs a module of kernel/uml with settings in the guest: what it returned."""

AT_ONCE = 30
"""Scripts of one run of the guest, which may last ten minutes on a busy machine."""


def on_kernel(cases: Iterable[Case], common: Path, run: Guest) -> list[Verdict]:
    """Plays scripts on the kernel of the guest.

    Parameters
    ----------
    cases : iterable of Case
    common : Path
        Folder with ``defaults.sh``, that of the kernel's own scripts.
    run : callable
        Runs a module of kernel/uml with settings in the guest, and gives what it returned.
    """
    chosen = list(cases)
    told: dict[str, Any] = {}
    for at in range(0, len(chosen), AT_ONCE):
        given = [[c.collection, c.name, str(c.path), c.group] for c in chosen[at : at + AT_ONCE]]
        told |= run("packetdrill.py", {"cases": given, "common": str(common)})["verdicts"]
    found = [told[f"{case.collection} {case.name}"] for case in chosen]
    return [Verdict(case, Failure(**one) if one else None) for case, one in zip(chosen, found, strict=True)]


def recorded() -> dict[str, dict[str, dict[str, Any]]]:
    """By collection and name of script: for ``ours`` and `KERNELS` a verdict, its line and cause where it fails."""
    return tomllib.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}


def record(verdicts: Iterable[Verdict], whose: str, before: dict[str, Any]) -> dict[str, Any]:
    """The recorded verdicts with those of ours or of a kernel anew. A cause stays while its script fails.

    Parameters
    ----------
    verdicts : iterable of Verdict
    whose : str
        ``ours`` or one of `KERNELS`.
    before : dict
        As of `recorded`; is changed.
    """
    for verdict in verdicts:
        own = before.setdefault(verdict.case.collection, {}).setdefault(verdict.case.name, {})
        cause = own.get(whose, {}).get("cause", UNEXPLAINED)
        own[whose] = {"verdict": verdict.word}
        if verdict.failure:
            own[whose] |= {"line": verdict.failure.line, "cause": cause}
    return before


def written(table: dict[str, Any]) -> str:
    """Recorded verdicts as TOML."""
    lines = ["# Written by `python benchmarks/packetdrill --record` and `--kernel --record`; causes by hand.", ""]
    for collection in sorted(table):
        for name, own in sorted(table[collection].items()):
            lines.append(f'[{collection}."{name}"]')
            for whose, one in sorted(own.items(), reverse=True):
                parts = [f"{key} = {value if isinstance(value, int) else quoted(value)}" for key, value in one.items()]
                lines.append(f"{whose} = {{ {', '.join(parts)} }}")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def changes(verdicts: Iterable[Verdict], whose: str) -> list[str]:
    """What is not as recorded: one line for each script."""
    known = recorded()
    found = []
    for verdict in verdicts:
        one = known.get(verdict.case.collection, {}).get(verdict.case.name, {}).get(whose, {})
        line = verdict.failure.line if verdict.failure else None
        if (one.get("verdict"), one.get("line")) != (verdict.word, line):
            was = f"{one.get('verdict', 'nothing')} {one.get('line', '')}".strip()
            found.append(f"{verdict.case.name}: recorded {was}, now {verdict.failure or 'pass'}")
    return found
