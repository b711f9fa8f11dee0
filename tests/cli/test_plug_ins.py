"""Commands of other distributions: found where they are installed, and said how to get where not."""

import sys

import pytest
from invocation import mayfly

from mayfly.cli import app


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A place of distributions, with none in it."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "absent")])

    def install(name, text):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "entry_points.txt").write_text(text)

    return install


def test_the_papers_are_found():
    assert app._plug_ins()["reproduce"] == ("mayfly_papers.command", "register")
    assert mayfly("reproduce", "--help").out.startswith("Usage: mayfly reproduce")


def test_only_commands_of_distributions_named_so_are_found(installed):
    group = "[console_scripts]\nother = a:b\n\n[mayfly.commands]\nhello = mayfly_hello.cli:register\n"
    installed("mayfly_hello-1.0.dist-info", group)
    installed("hello-1.0.dist-info", group.replace("hello", "stranger"))
    assert app._plug_ins() == {"hello": ("mayfly_hello.cli", "register")}


def test_a_distribution_that_is_not_installed_is_named(installed):
    import typer
    from typer.testing import CliRunner

    from mayfly.errors import MayflyError

    assert app._plug_ins() == {}
    alone = typer.Typer()
    alone.callback()(lambda: None)
    for name, extra in app.ELSEWHERE.items():
        app._register_absent(name, extra, alone)
    ended = CliRunner().invoke(alone, ["reproduce", "all", "--quick"])
    assert isinstance(ended.exception, MayflyError)
    assert str(ended.exception) == "reproduce: is not installed; pip install 'mayfly[papers]' brings it"
