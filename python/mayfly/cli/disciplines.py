"""The command ``mayfly disciplines``."""

from typing import Annotated

import typer

from mayfly.cli.options import AsJson
from mayfly.cli.session import Session


def disciplines(
    which: Annotated[
        str, typer.Argument(metavar="ID", help="A discipline, or a family such as size-based; all when absent")
    ] = "all",
    as_json: AsJson = False,
) -> None:
    """List the disciplines and their options, or explain one."""
    session = Session(as_json, quiet=True)
    from mayfly.discipline_registry import named_in

    rows = named_in(which)
    if as_json:
        session.print_json({"disciplines": rows})
        return
    from mayfly.discipline_registry.listing import DisciplinesList, discipline_detail

    session.print(discipline_detail(rows[0]) if len(rows) == 1 else DisciplinesList(rows))


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly disciplines efd")(disciplines)
