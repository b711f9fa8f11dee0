"""The command line as a whole: which module has which command.

A command is a module of this package with ``register(app)``, and its row in :data:`COMMANDS`. Distributions named
``mayfly-...`` that are installed beside this one add theirs as entry points of the group ``mayfly.commands``. None of
the modules is imported before its command is asked for.
"""

import os
import sys
from typing import Annotated

import typer

from mayfly.cli.lazy import LazyGroup, Table
from mayfly.cli.process import limit

COMMANDS: Table = {
    "compare": ("mayfly.cli.compare", "Run one workload under several disciplines."),
    "whatif": ("mayfly.cli.whatif", "Replay a capture's flows over a bottleneck, per discipline."),
    "check": ("mayfly.cli.check", "Hold a loaded link to what was predicted of it."),
    "explore": ("mayfly.cli.explore", "Play with a congested link in the browser."),
    "tree": ("mayfly.cli.tree", "Shapers in a tree: what each circuit would get."),
    "diff": ("mayfly.cli.diff", "Compare two runs or captures: what changed beyond chance."),
    "simulate": ("mayfly.cli.simulate", "Run one discipline, with a record of every flow."),
    "disciplines": ("mayfly.cli.disciplines", "List the disciplines and their options, or explain one."),
    "estimate": ("mayfly.cli.estimate", "Estimate the share of traffic that ignores drops."),
    "flood": ("mayfly.cli.flood", "Flood a link with UDP: what each discipline leaves to TCP."),
    "gaming": ("mayfly.cli.gaming", "Attack every discipline: who takes too much, who starves."),
    "arena": ("mayfly.cli.arena", "Every discipline on one board of criteria: who leads where."),
    "verify": ("mayfly.cli.verify", "Run real programs and see whether they were predicted right."),
    "completion": ("mayfly.cli.completion", "Print what completes commands and names in a shell."),
    "model": ("mayfly.cli.model.app", "Models: settings and means without a simulation."),
    "profile": ("mayfly.cli.profile.app", "What is in a capture: classes, load, laws, hosts."),
    "sweep": (
        "mayfly.cli.sweep",
        "Many runs: over scenario fields, disciplines and seeds. `mayfly sweep FILE` runs a file.",
    ),
    "qdisc": ("mayfly.cli.qdisc", "Disciplines in this machine's kernel: build, load, watch."),
    "workload": ("mayfly.cli.workload.app", "Flow lists: convert, measure in captures, draw."),
    "link-trace": (
        "mayfly.cli.link_trace.app",
        "Links whose rate varies: traces, and what to put before them.",
    ),
}
"""Module of each command and what ``mayfly --help`` says of it, in that order; a test holds the text to its own."""

FIRST = """\
Mayfly predicts what each queueing discipline would do to a link's users. `mayfly COMMAND --help` explains each:
  mayfly whatif capture.pcap --rate 10mbit --buffer 300   you have a capture of the link: which discipline helps?
  mayfly explore                                          no capture yet: a congested link to play with, in the browser
"""
"""What ``mayfly`` alone says, before the list of commands: what to do first."""


class Root(LazyGroup):
    """The commands of Mayfly, and those of other distributions."""

    table = COMMANDS

    def rows(self) -> Table:
        """Other distributions alone know what their commands say of themselves."""
        others = {name: (f"{module}:{function}", None) for name, (module, function) in _plug_ins().items()}
        return {**COMMANDS, **others}


app = typer.Typer(
    name="mayfly",
    cls=Root,
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
        typer.echo(f"{FIRST}{commands}")
        raise typer.Exit
    limit(memory, time)


COMPLETING = "_MAYFLY_COMPLETE"
"""Variable by which a shell asks for completions (``mayfly completion``)."""

ELSEWHERE = {"reproduce": "papers"}
"""Commands of other distributions, and the extra that brings each."""


def _register_absent_ones() -> None:
    plug_ins = _plug_ins()
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


_register_absent_ones()
if COMPLETING in os.environ:
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()
