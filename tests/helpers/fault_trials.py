"""Commands on a disk that fails at one call: what must hold afterwards, and when they run again."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import faults
from faults import Call, Ended, Fault, Warm

ROOT = Path(__file__).parents[2]

SWEEP = """
scenario = "wired"
disciplines = "fifo"
records = true
[set]
duration = "1s"
[fields]
"network.buffer" = [20, 100]
"""


@dataclass(frozen=True)
class Case:
    """A command; ``earlier`` fills the folder that it writes over.

    What holds of it undisturbed: ``calls`` that it makes, what the folder ``holds`` before and after.
    """

    name: str
    arguments: tuple[str, ...]
    earlier: tuple[str, ...] | None = None
    calls: list[Call] = field(default_factory=list)
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    out: Path = Path()

    def command(self, out: Path) -> list[str]:
        """With its folder."""
        return [*self.arguments, "--out", str(out)]

    def fresh(self, out: Path) -> Path:
        """A folder for a run of it."""
        if self.folder is not None:
            shutil.copytree(self.folder, out)
        return out

    def faults(self) -> Iterator[Fault]:
        """All that can happen to it: each kind at each call, a disk that stays full from each write on."""
        for call in self.calls:
            yield from (Fault(call.number, kind) for kind in faults.KINDS if call.takes(kind))


def cases(warm: Warm, folder: Path, names: Sequence[str] = ()) -> list[Case]:
    """The commands, each run once undisturbed."""
    (folder / "sweep.toml").write_text(SWEEP)
    compare = ("compare", "wired", "-d", "fifo", "--duration", "1s", "--quiet", "--json")
    listed = [
        Case("compare", compare, (*compare, "--seed", "2")),
        Case("compare --assets shared", (*compare, "--assets", "shared")),
        Case("sweep", ("sweep", str(folder / "sweep.toml"), "--quiet", "--json")),
        Case("profile", ("profile", str(ROOT / "tests" / "data" / "tiny.pcapng.gz"), "--json")),
        Case("reproduce", ("reproduce", "chen-2012-table-4.2", "--quick", "--no-figures", "--quiet", "--json")),
    ]
    return [
        _undisturbed(case, warm, folder / f"case{number}")
        for number, case in enumerate(listed)
        if not names or case.name in names
    ]


def _undisturbed(case: Case, warm: Warm, folder: Path) -> Case:
    folder.mkdir()
    out, before, earlier = folder / "out", {}, None
    if case.earlier is not None:
        earlier = folder / "earlier"
        assert warm.run(earlier, [*case.earlier, "--out", out]).status == 0
        out.rename(earlier)
        before = faults.held(earlier)
    case = Case(case.name, case.arguments, case.earlier, folder=earlier)
    ended = warm.run(case.fresh(out), case.command(out))
    assert (ended.status, ended.err) == (0, ""), ended
    assert faults.leftovers(out) == []
    return Case(case.name, case.arguments, case.earlier, ended.calls, before, faults.held(out), earlier, out)


def trial(case: Case, fault: Fault, warm: Warm, folder: Path) -> str:
    """Runs a command with a fault, and again without one; fails unless all holds.

    Returns
    -------
    str
        How the command ended.
    """
    out = case.fresh(folder / "out")
    told = f"{case.name}, {fault.kind} at call {fault.at}"
    ended = warm.run(out, case.command(out), fault)
    assert ended.status in expected(fault.kind), f"{told}: status {ended.status}: {ended.err}"
    lines = ended.err.splitlines()
    if ended.status > 0:
        assert len(lines) == 1 and lines[0].startswith("mayfly: ") and lines[0].isprintable(), f"{told}: {ended.err}"
    else:
        assert not lines, f"{told}: {ended.err}"
    # Whatever has its final name is whole: what is not cannot be read.
    there = faults.held(out)
    assert stored(ended) <= {name.removeprefix("row ") for name in there}, f"{told}: a result is lost"
    if ended.status == 0:
        assert there == case.after, f"{told}: ended well with other results"
    if ended.status > 0 and case.name != "sweep":
        shared = "assets" in case.name
        assert there in (case.before, case.after) or shared, f"{told}: {sorted(there)} of {sorted(case.after)}"
    again = warm.run(out, case.command(out))
    assert (again.status, again.err) == (0, ""), f"{told}: again: {again.status}: {again.err}"
    assert faults.held(out) == case.after, f"{told}: again gives something else"
    assert faults.leftovers(out) == [], f"{told}: {faults.leftovers(out)} stay for ever"
    shutil.rmtree(folder, ignore_errors=True)
    return {0: "went on", 2: "refused, one line", 3: "refused, one line", -9: "killed"}[ended.status]


def expected(kind: str) -> tuple[int, ...]:
    """Statuses a command may end with. What does not matter, such as a lock or what is left to remove, may fail."""
    return {"kill": (-9,), "short": (0,)}.get(kind, (0, 2, 3))


def stored(ended: Ended) -> set[str]:
    """Keys of the results that a sweep has stored: their file has its name."""
    renamed = (Path(call.other) for call in ended.calls if call.name.startswith("rename"))
    return {path.stem for path in renamed if path.parent.name == "runs"}


def trials(
    chosen: Sequence[tuple[Case, Fault]], warm: Warm, folder: Path, at_once: int
) -> tuple[Counter[tuple[str, str, str]], list[str]]:
    """Runs many; how they ended by case, kind and end, and what did not hold."""
    ends: Counter[tuple[str, str, str]] = Counter()
    broken: list[str] = []

    def one(number: int) -> None:
        case, fault = chosen[number]
        place = folder / f"trial{number}"
        place.mkdir()
        try:
            ends[case.name, fault.kind, trial(case, fault, warm, place)] += 1
        except Exception as error:  # Damage is told by many exceptions.
            broken.append(f"{case.name}, {fault}, {place}: {type(error).__name__}: {error}")

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(len(chosen))))
    return ends, broken


def unsafe_at_power_cut(calls: Sequence[Call], out: Path) -> list[str]:
    """Files that took their name before their content was on the disk, and folders whose names never were."""
    dirty: set[str] = set()
    found = []
    for call in calls:
        path = Path(call.path)
        if call.name in faults.WRITES or "truncate" in call.name:
            dirty.add(call.path)
        elif call.name in ("fsync", "fdatasync"):
            dirty.discard(call.path)
        elif call.name.startswith("rename"):
            final = Path(call.other)
            if call.path in dirty:
                dirty.discard(call.path)
                dirty.add(call.other)
                found += [] if faults.hidden(final, out) else [f"{final} has its name before its content"]
            if not faults.hidden(final, out):
                dirty.add(str(final.parent))
        elif call.name == "mkdir" and path != out and not faults.hidden(path, out):
            dirty.add(str(path.parent))
    return found + [f"{path} was not flushed" for path in sorted(dirty) if not faults.hidden(Path(path), out)]
