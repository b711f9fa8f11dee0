"""The command ``mayfly gaming``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import AsJson, Assets, Disciplines, Duration, Quiet, Replications, Seed, changes
from mayfly.cli.session import Session
from mayfly.scenario.attacks import PARTS


def gaming(
    parts: Annotated[
        list[str] | None, typer.Argument(metavar="PART", help=f"{', '.join(PARTS)}; all when absent")
    ] = None,
    disciplines: Disciplines = "all",
    duration: Duration = None,
    seed: Seed = None,
    replications: Replications = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for report.html, gaming.parquet, summary.json")
    ] = Path("mayfly-gaming"),
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Attack every discipline: who takes too much, who starves."""
    session = Session(as_json, quiet, out, assets)
    from mayfly.packs.gaming import gaming as run

    # The option has a default.
    assert disciplines is not None
    given = changes(None, duration=duration, seed=seed, replications=replications)
    with session.progress("gaming") as progress:
        result = run(disciplines, parts, progress=progress, **given)
    files = session.placed(result.write(out))
    if as_json:
        session.print_json(result.summary | {"files": files})
        return
    for table in result.tables():
        session.print(table)
    session.print("report: " + files["report"])


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly gaming spaced split --disciplines fifo,efd,fq_codel")(gaming)
