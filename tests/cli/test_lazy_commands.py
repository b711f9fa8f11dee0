"""The chosen command alone is built, and the lists of commands say what the commands say of themselves."""

import sys

import pytest
import typer
from invocation import mayfly_here

from mayfly.cli import app
from mayfly.cli.lazy import Commands

ROOT = typer.main.get_command(app.app)


def groups(command=ROOT, words=()):
    """Every group of the package with commands of a table."""
    commands = getattr(command, "commands", {})
    if isinstance(commands, Commands):
        yield " ".join(words), command
    for name in commands:
        yield from groups(commands[name], (*words, name))


@pytest.mark.parametrize(("words", "group"), [*groups()])
def test_the_list_says_what_each_command_says(words, group):
    told, built = group.commands.told(), dict(group.commands.items())
    assert list(told) == list(built)
    for name, command in built.items():
        assert told[name].help == (command.help or "").partition("\n\n")[0], f"{words} {name}"
        assert told[name].hidden == command.hidden
        assert told[name].get_short_help_str(60) == command.get_short_help_str(60)


def test_groups_of_many_commands_are_among_them():
    assert [words for words, _ in groups()] == ["", "model", "profile"]


@pytest.mark.parametrize(
    ("words", "others"),
    [
        (("disciplines", "--help"), ("compare", "model.app", "profile.app")),
        (("model", "law", "--help"), ("model.policy", "model.lfq")),
        (("profile", "compare", "--help"), ("profile.roles",)),
        (("--help",), ("compare", "simulate", "model.app")),
    ],
)
def test_no_other_command_is_imported(words, others, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("mayfly.cli.") and not name.endswith("process")]:
        monkeypatch.delitem(sys.modules, name)
    assert mayfly_here(*words).out.startswith("Usage: mayfly")
    assert not {f"mayfly.cli.{name}" for name in others} & sys.modules.keys()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("model", "law", "zipf:min=6,mean=40,cov=6", "--at"), "Option '--at' requires an argument"),
        (("compare", "wired", "nothing"), "Got unexpected extra argument"),
        (("profile", "compare", "a", "b", "--worst", "1.5"), "Invalid value for '--worst'"),
        (("profile", "compare", "a", "b", "--tolerance", "much"), "Invalid value for '--tolerance'"),
        (("model", "lfq", "--law", "exponential:mean=1", "--rho", "0.5", "--jobs", "-1"), "Invalid value for '--jobs'"),
        (("profile", "captures"), "Missing argument 'CAPTURE...'"),
        (("simulat",), "No such command 'simulat'. Did you mean 'simulate'"),
    ],
)
def test_what_is_refused_is_refused_as_before(words, said):
    ended = mayfly_here(*words)
    assert ended.status == 2 and said in ended.err


def test_values_are_taken_as_typer_takes_them():
    """Of every type: as it would be without the short way, for what it takes."""
    from pathlib import Path

    import mayfly.cli.lazy as lazy

    def command(
        text: str,
        path: Path = Path("a"),
        whole: int = 3,
        number: float = 0.5,
        several: list[str] | None = None,
        many: list[str] = [],  # noqa: B006
        paths: list[Path] | None = None,
        flag: bool = False,
        perhaps: bool | None = None,
    ) -> None: ...

    alone = typer.Typer()
    alone.command()(command)
    usual, light = (typer.main.get_command(alone) for _ in range(2))
    lazy._lighten(light)
    for words in (
        ["x"],
        ["", "--path", "/nowhere/b", "--whole", "-12", "--number", "1.25"],
        ["x", "--number", "7", "--several", "a", "--several", "b c"],
        ["x", "--number", "1e3", "--whole", " 5", "--path", "/"],
        ["x", "--flag", "--no-perhaps", "--many", "", "--paths", "/nowhere", "--paths", "b"],
        ["é\udce9", "--whole", "0012", "--number", "-0.0"],
    ):
        expected, found = (one.make_context("it", list(words)).params for one in (usual, light))
        assert found == expected
        assert {name: type(value) for name, value in found.items()} == {
            name: type(value) for name, value in expected.items()
        }
