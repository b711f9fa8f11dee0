"""The command ``mayfly verify``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import AsJson, Quiet
from mayfly.cli.session import Session


def verify(
    workloads: Annotated[
        list[str] | None, typer.Argument(metavar="WORKLOAD", help="office, home, school, ...; all twelve when absent")
    ] = None,
    disciplines: Annotated[
        str | None,
        typer.Option("--disciplines", "-d", metavar="LIST", help="Comma-separated: fifo,pie,fq_codel,cake,efd,lfq"),
    ] = None,
    sources: Annotated[
        str | None,
        typer.Option("--from", metavar="LIST", help="Those whose captures predict the others: fifo,fq_codel"),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the users")] = 1,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of the replay: what chance makes of a prediction")
    ] = 5,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="What runs the replay: simulator; linux, the kernel; both")
    ] = "simulator",
    replay: Annotated[str, typer.Option(metavar="WHAT", help="What is replayed, as for mayfly whatif")] = "users",
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of captures, measurements, summary.json; what is there stays")
    ] = Path("mayfly-verify"),
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Also the tables into a page of Markdown")] = None,
    learn: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also the errors to expect, as mayfly whatif tells them")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run real programs and see whether they were predicted right."""
    session = Session(as_json, quiet, out)
    from mayfly.verify import report_text, verification

    with session.progress("verify") as progress:
        found = verification.verify(
            out,
            workloads or None,
            **verification.chosen_of(disciplines, sources),
            seed=seed,
            seeds=seeds,
            engines=verification.engines_of(engine),
            replay=replay,
            progress=progress,
        )
    files = {"summary": str(verification.write(found, out))}
    if learn is not None:
        files["learned"] = str(verification.learn(found, learn))
    if page is not None:
        files["page"] = str(report_text.write_page(found, page))
    if as_json:
        session.print_json(found.document() | {"files": files})
        return
    for part in (*report_text.sentences(found), *report_text.tables(found), "summary: " + files["summary"]):
        session.print(part)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly verify office uplink --disciplines fifo,fq_codel,lfq")(verify)
