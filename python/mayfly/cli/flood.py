"""The command ``mayfly flood``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import AsJson, Assets, Duration, Quiet, Replications, Seed, changes
from mayfly.cli.session import Session


def flood(
    disciplines: Annotated[
        str | None, typer.Option("--disciplines", "-d", help="As of compare; those of the scenario flood when absent")
    ] = None,
    duration: Duration = None,
    seed: Seed = None,
    replications: Replications = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for report.html, flood.parquet, summary.json")
    ] = Path("mayfly-flood"),
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Flood a link with UDP: what each discipline leaves to TCP."""
    session = Session(as_json, quiet, out, assets)
    from mayfly.packs.flood import flood as run

    given = changes(None, duration=duration, seed=seed, replications=replications)
    with session.progress("flood") as progress:
        result = run(disciplines, progress=progress, **given)
    files = session.placed(result.write(out))
    if as_json:
        session.print_json(result.summary | {"files": files})
        return
    for table in result.tables():
        session.print(table)
    session.print("report: " + files["report"])


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly flood --disciplines fifo,red,fq_codel,cake,efd")(flood)
