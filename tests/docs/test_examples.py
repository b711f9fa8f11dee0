"""Every command and Python block of the README and of docs/, run page by page in the order of the page.

A page runs in an empty folder beside links to `captures` and `scenarios`, its commands in this process and cut to
`SHORT` of simulated time. Commands of other programs are not run; targets of `make` must exist.
"""

import doctest
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mayfly.cli.app import app

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import discipline_pages  # noqa: E402

discipline_pages.write()
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts]
)
HEADS = ("Mean response time", "What users feel")
"""One of them heads a table of every run that a page shows."""


def has_table(text: str) -> bool:
    """Whether a text shows a table of a run."""
    return any(f"\n{head}" in f"\n{text}" for head in HEADS)


WITH_TABLES = [page for page in PAGES if has_table(page.read_text(encoding="utf-8"))]
SHORT = "3s"
FENCE = re.compile(r"^```(python|pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UNCUT = (
    "completion",
    "diff",
    "disciplines",
    "link-trace",
    "model",
    "profile",
    "estimate",
    "qdisc",
    "reproduce",
    "sweep",
    "workload",
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the line its text starts at."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """One command line of a console block, and what the page shows below it."""

    words: list[str]
    into: str | None
    shown: str
    line: int


def blocks(text: str) -> list[Block]:
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]


def commands(block: Block) -> list[Command]:
    found, lines = [], block.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        words = shlex.split(lines[start][2:], comments=True)
        into = words[words.index(">") + 1] if ">" in words else None
        words = words[: words.index(">")] if ">" in words else words
        found.append(Command(words, into, "\n".join(lines[start + 1 : stop]), block.line + start))
    return found


def is_mayfly(command: Command) -> bool:
    return Path(command.words[0]).name == "mayfly"


def cut_short(arguments: list[str]) -> list[str]:
    """Make the run short: the last of several equal options counts."""
    runs_nothing = arguments[0].startswith("-") or arguments[0] in UNCUT
    return arguments if runs_nothing else [*arguments, "--duration", SHORT]


def run_command(command: Command, where: str) -> None:
    """Run `mayfly` in this process; what the page shows as refused runs in one of its own, from the outside."""
    if command.shown.startswith("mayfly: "):
        done = subprocess.run(
            [sys.executable, "-m", "mayfly.cli", *command.words[1:]], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr.strip()) == (2, command.shown.strip()), where
        out = done.stdout
    else:
        out = printed(cut_short(command.words[1:]), where)
    if command.into:
        Path(command.into).write_text(out, encoding="utf-8")


def printed(arguments: list[str], where: str) -> str:
    """Run `mayfly` in this process: its standard output."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"{where}: {result.stderr}{result.exception}"
    return result.stdout


def run_python(block: Block, names: dict, where: str) -> None:
    if block.language == "python":
        exec(compile("\n" * (block.line - 1) + block.text, where, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, where, where, block.line - 1)
    report = io.StringIO()
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.write, clear_globs=False)
    assert result.failed == 0, report.getvalue()
    names.update(test.globs)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


LONG = ("docs/tutorials/your-own-capture.md", "docs/tutorials/office-uplink.md", "docs/how-to/choose.md")
"""Pages of which a run takes many seconds of CPU however short their simulations are: the slow lane has them."""


def each_page():
    """Pages as parameters, the long ones marked slow."""
    return [pytest.param(page, marks=[pytest.mark.slow] if named(page) in LONG else []) for page in PAGES]


@pytest.mark.parametrize("page", each_page(), ids=named)
def test_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    for folder in ("captures", "scenarios"):
        (tmp_path / folder).symlink_to((ROOT / folder).resolve())
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{named(page)}:{block.line}"
        if block.language != "console":
            run_python(block, names, where)
            continue
        for command in commands(block):
            if is_mayfly(command):
                run_command(command, f"{named(page)}:{command.line}: {shlex.join(command.words)}")


def test_every_make_target_of_the_pages_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        for block in blocks(page.read_text(encoding="utf-8")):
            for command in commands(block) if block.language == "console" else []:
                if command.words[0] == "make":
                    assert set(command.words[1:]) <= targets, f"{named(page)}:{command.line}"


def test_every_place_named_in_contributing_exists():
    rows = re.findall(
        r"^\| `([a-z]+(?:/[a-z_]+)*)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) >= 15
    assert [place for place in rows if not (ROOT / place).exists()] == []


def test_every_command_in_running_text_parses():
    """Inline code such as `mayfly compare wired` names commands and options that exist."""
    import typer

    known = typer.main.get_command(app).commands
    for page in PAGES:
        prose = FENCE.sub("", page.read_text(encoding="utf-8"))
        for text in re.findall(r"`mayfly ([a-z]+[^`\n]*)`", prose):
            name, *words = shlex.split(text)
            assert name in known, f"{named(page)}: mayfly {text}"
            command = known[name]
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            # `mayfly sweep FILE`, `mayfly profile CAPTURE`: groups that run what is given to them.
            command = getattr(command, "commands", {}).get(getattr(command, "default", "run"), command)
            flags = {flag for param in command.params for flag in param.opts} | {"--help", "-h"}
            assert {word for word in words if word.startswith("-")} <= flags, f"{named(page)}: mayfly {text}"


def test_the_pages_hold_what_this_file_looks_for():
    found = [block.language for page in PAGES for block in blocks(page.read_text(encoding="utf-8"))]
    assert found.count("console") >= 15
    assert found.count("python") >= 15
    fences = sum(page.read_text(encoding="utf-8").count("\n```python") for page in PAGES)
    assert fences == found.count("python")


def tables(page):
    """Each command below which a page shows a table, and what it prints now, on the files that the page writes."""
    names: dict = {"__name__": "page"}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python" and ".write_text(" in block.text:
            run_python(block, names, named(page))
        for command in commands(block) if block.language == "console" else []:
            if is_mayfly(command) and command.words[1] == "workload":
                printed(command.words[1:], named(page))
            if is_mayfly(command) and has_table(command.shown):
                yield command, printed(command.words[1:], f"{named(page)}:{command.line}")


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_TABLES, ids=named)
def test_a_table_shown_is_the_table_printed(page, tmp_path, monkeypatch):
    """The tables pasted into the pages, each command run in full (`paste.py` pastes what is printed now)."""
    (tmp_path / "captures").symlink_to(ROOT / "captures")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for command, now in tables(page):
        assert now.split() == command.shown.split(), f"{named(page)}:{command.line}"
