"""The command line: options in, tables and files out. No logic lives here.

Importing this module costs nothing: what a command needs is imported by the command.
"""

from collections.abc import Callable
from typing import Any

Commands = Callable[..., Any]
"""An application of typer, called with ``prog_name`` and ``standalone_mode``."""


def main() -> None:
    """Entry point of the `mayfly` command; the process exits with one of the statuses of `mayfly.cli.process`."""
    from mayfly.cli.process import run

    run(_commands)


def _commands() -> Commands:
    """The commands; what they need is imported once the process is set up."""
    from mayfly.cli.app import app

    return app
