"""The commands of ``mayfly reproduce``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.default_command import RunByDefault
from mayfly.cli.options import AsJson, Assets, Quiet
from mayfly.cli.session import Session

app = typer.Typer(
    cls=RunByDefault,
    help="Run what the papers claim, and say what agrees. `mayfly reproduce ID...` runs pages, tables and figures.",
    epilog="Example:  mayfly reproduce urvoy-keller-2007-fig-7 --out figure-7",
    rich_markup_mode=None,
)


Quick = Annotated[bool, typer.Option("--quick", help="At most 3 replications, and a fifth of long runs")]
Replications = Annotated[
    int | None, typer.Option("--replications", "-n", metavar="N", help="In place of those declared, from 2")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for report.html, summary.json")]


@app.command(epilog="Example:  mayfly reproduce urvoy-keller-2007-fig-7 --out figure-7")
def run(
    asked: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID...",
            help="Pages, tables or figures, such as chen-2012-table-4.2; or all",
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show every table and figure of the papers, and stop")] = False,
    quick: Quick = False,
    replications: Replications = None,
    figures: Annotated[bool, typer.Option(help="Draw the figures too, which simulates more")] = True,
    out: Out = Path("mayfly-reproduce"),
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
    _written(asked, quick, replications, figures, Session(as_json, quiet, out, assets), out)


@app.command(epilog="Example:  mayfly reproduce reason zhao-2004-ponrt/figure-9 --out figure-9")
def reason(
    asked: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAGE/CLAIM...", help="Claims with a tested reason, such as rai-2003/loss-means; or all"
        ),
    ] = None,
    quick: Quick = False,
    replications: Replications = None,
    out: Out = Path("mayfly-reproduce"),
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Repeat the runs that show why claims do not come out as printed."""
    from mayfly_papers.report.reasons import REASON

    _written([REASON, *(asked or [])], quick, replications, False, Session(as_json, quiet, out, assets), out)


def _written(
    asked: list[str], quick: bool, replications: int | None, figures: bool, session: Session, out: Path
) -> None:
    """Runs what is asked for and writes the report."""
    from mayfly_papers.declare.measured import KEPT, forget
    from mayfly_papers.report.page import write_reproduction
    from mayfly_papers.report.reproduce import reproduce

    with session.progress("reproduce") as progress:
        found = reproduce(
            asked, quick=quick, replications=replications, figures=figures, keep=out / KEPT, progress=progress
        )
    files = session.placed(write_reproduction(found, out))
    forget(out / KEPT)
    session.tell(found, {"files": files}, [f"report: {files['report']}"])


@app.command(epilog="Example:  mayfly reproduce calibrate zhao-2004 --share 0.25 --out calibration")
def calibrate(
    page: Annotated[str, typer.Argument(metavar="PAGE", help="Page that declares unknown settings, such as zhao-2004")],
    plan: Annotated[
        bool, typer.Option("--plan", help="Show unknowns, cells and how many runs it takes, and stop")
    ] = False,
    settings: Annotated[
        int | None, typer.Option(metavar="N", help="A sample of N settings; all combinations when absent")
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(metavar="ID=VALUE", help="An unknown that is not searched, and its value; repeatable"),
    ] = None,
    share: Annotated[
        float, typer.Option(metavar="S", help="Part of the declared time that each run takes, 0.01 to 1")
    ] = 1.0,
    replications: Annotated[int, typer.Option("--replications", "-n", metavar="N", help="Seeds of each run")] = 1,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Runs at a time; as many as cores when absent")] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for calibration.json and .md, and of runs that are done")
    ] = Path("mayfly-calibration"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Search the settings that a paper does not tell, over half of its printed numbers."""
    from mayfly_papers.calibrate.search import calibrate as search
    from mayfly_papers.calibrate.search import planned

    if plan:
        found_plan = planned(page, settings=settings, fixed=fix or (), share=share, replications=replications)
        Session(as_json, quiet).tell(found_plan)
        return
    session = Session(as_json, quiet, out)
    from mayfly_papers.calibrate.answer import write_calibration
    from mayfly_papers.declare.measured import KEPT

    with session.progress("calibrate") as progress:
        found = search(
            page,
            settings=settings,
            fixed=fix or (),
            share=share,
            replications=replications,
            jobs=jobs,
            keep=out / KEPT,
            progress=progress,
        )
    files = write_calibration(found, out)
    session.tell(found, {"files": files}, [f"table: {files['table']}"])


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="reproduce")
