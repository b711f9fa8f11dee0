"""What holds for every test: short temporary paths, a part of the slow lane on request, skips told by reason.

It stands at the root, so that it holds wherever pytest starts and for doctests too.
"""

import itertools
import os
import signal
import tomllib
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

SECONDS = Path(__file__).parent / "tests" / "slow_seconds.toml"
SLOW_LANE = ("slow", "papers")
NUMBERS = itertools.count()


def pytest_configure() -> None:
    """What is printed does not depend on the terminal that the tests are started from, and nothing on the clock."""
    settings.register_profile("mayfly", deadline=None)
    settings.load_profile("mayfly")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        os.environ.pop(name, None)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Doctests are looked for in files that have a prompt: three of four have none, and each is imported to see it."""
    collectors = yield
    return [one for one in collectors if not isinstance(one, DoctestModule) or b">>>" in file_path.read_bytes()]


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder for one test, as pytest's own but for its name, a number.

    Messages cut a long path short, and pytest's own name grows with the name of the test and, under xdist, with that of
    the worker.
    """
    return tmp_path_factory.mktemp(str(next(NUMBERS)), numbered=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part",
        metavar="K/N",
        type=part_of,
        help="of the tests marked slow or papers, run those of part K of N alone (CI: --part 1/8 to 8/8)",
    )


def part_of(text: str) -> tuple[int, int]:
    """``"2/4"`` as ``(2, 4)``."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise pytest.UsageError(f"--part {text}: must be K/N with K from 1 to N")
    return int(number), int(count)


def parts(seconds: Mapping[str, float], count: int) -> dict[str, int]:
    """Parts, from 1, of files by their names: the longest file goes first, each to the part that has least so far.

    A file is not split, because its tests share what they measure.
    """
    totals = [0.0] * count
    found = {}
    for name in sorted(seconds, key=lambda name: (-seconds[name], name)):
        least = totals.index(min(totals))
        totals[least] += seconds[name]
        found[name] = least + 1
    return found


def in_part(files: Iterable[str], part: tuple[int, int], seconds: Mapping[str, float]) -> set[str]:
    """Those of the files that are in the part.

    One without recorded seconds goes by a hash of its name, so that a new file moves no other.
    """
    number, count = part
    known = parts(seconds, count)
    return {name for name in files if known.get(name, crc32(name.encode()) % count + 1) == number}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = config.getoption("--part")
    if part is None:
        return
    slow = [item for item in items if any(item.get_closest_marker(mark) for mark in SLOW_LANE)]
    # By the name alone, which a file keeps when it moves to another folder.
    chosen = in_part({item.path.stem for item in slow}, part, tomllib.loads(SECONDS.read_text(encoding="utf-8")))
    kept = [item for item in items if item not in set(slow) or item.path.stem in chosen]
    gone = set(items) - set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in gone])
    config.stash[RAN] = {
        "part": part,
        "of": len(slow),
        "files": dict(sorted(Counter(item.path.stem for item in slow if item not in gone).items())),
    }
    items[:] = kept


RAN = pytest.StashKey[dict[str, Any]]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Under xdist the workers collect, and the process that starts them tells.
    if hasattr(session.config, "workeroutput") and RAN in session.config.stash:
        session.config.workeroutput["part"] = session.config.stash[RAN]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    if "part" in (getattr(node, "workeroutput", None) or {}):
        node.config.stash[RAN] = node.workeroutput["part"]


def reasons(skipped: Iterable[pytest.TestReport]) -> Counter[str]:
    """How many tests were skipped for each reason."""
    told = (report.longrepr for report in skipped)
    return Counter(place[2].removeprefix("Skipped: ") for place in told if isinstance(place, tuple))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """After what failed, and before the closing line: the part that ran, and the skipped by reason."""
    if RAN in config.stash:
        ran = config.stash[RAN]
        number, count = ran["part"]
        terminalreporter.section(f"part {number} of {count} of the slow lane", "=")
        terminalreporter.line(f"{sum(ran['files'].values())} of {ran['of']} tests, in {len(ran['files'])} files")
        for name, tests in ran["files"].items():
            terminalreporter.line(f"{tests:6} {name}")
    counted = reasons(terminalreporter.stats.get("skipped", []))
    if counted:
        terminalreporter.section(f"{counted.total()} skipped", "=")
        for reason, tests in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])):
            terminalreporter.line(f"{tests:6} {reason}")


HANDLERS = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """Puts the handlers of signals back before each test.

    A command that runs in this process ignores signals before it prints its JSON, and every program that a later test
    starts inherits what is ignored: such a test would send it a signal and wait for ever.
    """
    for number, handler in HANDLERS.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
