"""The command ``mayfly reproduce``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import AsJson, Assets, Quiet
from mayfly.cli.session import Session


def reproduce(
    asked: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID...",
            help="Pages, tables or figures, such as chen-2012-table-4.2; or all; or reason and PAGE/CLAIM",
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show every table and figure of the papers, and stop")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="At most 3 replications, and a quarter of long runs")] = False,
    replications: Annotated[
        int | None, typer.Option("--replications", "-n", metavar="N", help="In place of those declared, from 2")
    ] = None,
    figures: Annotated[bool, typer.Option(help="Draw the figures too, which simulates more")] = True,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for report.html, summary.json")] = Path(
        "mayfly-reproduce"
    ),
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run what the papers claim, and say what agrees."""
    from mayfly.errors import MayflyError

    if listed:
        from mayfly_papers.report.reproduce import Listing

        Session(as_json, quiet).tell(Listing())
        return
    if not asked:
        raise MayflyError("ID is missing: a page, a table or figure, or all; --list shows them")
    session = Session(as_json, quiet, out, assets)
    from mayfly_papers.declare.measured import KEPT, forget
    from mayfly_papers.report.page import write_reproduction
    from mayfly_papers.report.reproduce import reproduce as run

    with session.progress("reproduce") as progress:
        found = run(asked, quick=quick, replications=replications, figures=figures, keep=out / KEPT, progress=progress)
    files = session.placed(write_reproduction(found, out))
    forget(out / KEPT)
    session.tell(found, {"files": files}, [f"report: {files['report']}"])


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly reproduce urvoy-keller-2007-fig-7 --out figure-7")(reproduce)
