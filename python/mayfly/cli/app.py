"""The command line as a whole: every command registers itself here.

A command is a module of this package with ``register(app)``, and its name in :data:`COMMANDS`. Distributions named
``mayfly-...`` that are installed beside this one add theirs as entry points of the group ``mayfly.commands``.
"""

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from mayfly.cli.process import limit

COMMANDS = (
    "compare",
    "whatif",
    "explore",
    "tree",
    "diff",
    "simulate",
    "disciplines",
    "estimate",
    "flood",
    "gaming",
    "arena",
    "verify",
    "model.app",
    "profile.app",
    "sweep",
    "qdisc",
    "workload.app",
    "link_trace.app",
    "completion",
)
"""Modules of the commands, in the order of ``mayfly --help``."""

FIRST = """\
Mayfly predicts what each queueing discipline would do to the users of a congested link.
  mayfly whatif capture.pcap --rate 10mbit --buffer 300   you have a capture of the link: which discipline helps?
  mayfly explore                                          no capture yet: a congested link to play with, in the browser
"""
"""What ``mayfly`` alone says, before the list of commands: what to do first."""

app = typer.Typer(
    name="mayfly",
    help="What would each queueing discipline do to the users of a congested link?",
    epilog="Example:  mayfly compare wired --disciplines fifo,efd --duration 200s",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help reads the same in every terminal and answers at once.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit")] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Memory that a command may take: 8gb; when absent, three quarters of the machine's"
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time that a command may take: 10min; no limit when absent"),
    ] = None,
) -> None:
    if version:
        from mayfly.version import described

        typer.echo(f"mayfly {described()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        commands = context.get_help().partition("\nCommands:\n")[2].partition("\n\n")[0]
        typer.echo(f"{FIRST}Commands (`mayfly COMMAND --help` explains one):\n{commands}")
        raise typer.Exit
    limit(memory, time)


COMPLETING = "_MAYFLY_COMPLETE"
"""Variable by which a shell asks for completions (``mayfly completion``)."""

ELSEWHERE = {"reproduce": "papers"}
"""Commands of other distributions, and the extra that brings each."""


def _register_all() -> None:
    for name in COMMANDS:
        import_module(f"mayfly.cli.{name}").register(app)
    plug_ins = _plug_ins()
    for module, function in plug_ins.values():
        getattr(import_module(module), function)(app)
    for name, extra in ELSEWHERE.items():
        if name not in plug_ins:
            _register_absent(name, extra, app)


def _plug_ins() -> dict[str, tuple[str, str]]:
    """Module and function of the entry points of distributions named ``mayfly-...``, by the name of the command.

    Their files are read here since importlib.metadata, with all that it imports, takes a fifth of the time of
    ``mayfly --help``.
    """
    found: dict[str, tuple[str, str]] = {}
    for folder in dict.fromkeys(sys.path):
        try:
            names = [name for name in os.listdir(folder or ".") if name.startswith("mayfly_")]
        except OSError:
            continue
        for name in names:
            file = os.path.join(folder, name, "entry_points.txt")
            if name.endswith((".dist-info", ".egg-info")) and os.path.exists(file):
                with open(file, encoding="utf-8") as lines:
                    group = ""
                    for line in map(str.strip, lines):
                        if line.startswith("["):
                            group = line
                        elif group == "[mayfly.commands]" and "=" in line:
                            command, _, target = (part.strip() for part in line.partition("="))
                            module, _, function = target.partition(":")
                            found.setdefault(command, (module, function))
    return found


def _register_absent(name: str, extra: str, app: typer.Typer) -> None:
    """A command that says how to get it."""

    @app.command(
        name,
        help=f"Not installed: pip install 'mayfly[{extra}]'.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def absent() -> None:
        from mayfly.errors import MayflyError

        raise MayflyError(f"{name}: is not installed; pip install 'mayfly[{extra}]' brings it")


_register_all()
if COMPLETING in os.environ:
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()
