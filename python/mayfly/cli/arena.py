"""The command ``mayfly arena``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import AsJson, Assets, Disciplines, Quiet
from mayfly.cli.session import Session


def arena(
    experiments: Annotated[
        list[str] | None, typer.Argument(metavar="EXPERIMENT", help="Such as load-80, split; all when absent")
    ] = None,
    disciplines: Disciplines = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter runs: minutes in place of hours")] = False,
    seeds: Annotated[int | None, typer.Option(metavar="N", help="Runs of each; 8, with --quick 4")] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes; as many as cores when absent")] = None,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder of report.html, arena.json and all results; what is there stays"),
    ] = Path("mayfly-arena"),
    sensitivity: Annotated[
        str | None,
        typer.Option(metavar="ID", help="In place of --disciplines: one with each default halved and doubled"),
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(metavar="IDS", help="Also what a clairvoyant could have who serves in the order these finish"),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(metavar="ENGINE", help="simulator; linux: TCP and disciplines of a kernel, the simulator beside"),
    ] = "simulator",
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Also the board as a page of Markdown")] = None,
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Every discipline on one board of criteria: who leads where."""
    session = Session(as_json, quiet, out, assets)
    from mayfly.arena.sensitivity import board
    from mayfly.workers.workers import workers as chosen

    make_workers = chosen(workers)
    with session.progress("arena") as progress:
        found = board(
            out,
            disciplines,
            experiments,
            varied=sensitivity,
            quick=quick,
            seeds=seeds,
            bounds=bounds or (),
            engine=engine,
            make_workers=make_workers,
            progress=progress,
        )
    files = session.placed(found.write(out))
    if page is not None:
        files["page"] = str(found.write_page(page))
    session.tell(found, {"files": files}, ["report: " + files["report"]])


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly arena --quick --disciplines fifo,fq_codel,lfq")(arena)
