"""`mayfly model compare`: policies of the M/G/1 queue side by side on one law."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import Assets
from mayfly.cli.session import Session


def compare(
    policies: Annotated[
        str, typer.Argument(metavar="POLICY,...", help="fifo,ps,las; parameters in parentheses; all for all of them")
    ],
    law: Annotated[
        str, typer.Option(metavar="LAW", help="Sizes: exponential:mean=1, zipf:min=6,mean=40,cov=6, sample:FILE")
    ],
    rho: Annotated[
        str, typer.Option(metavar="LOAD,...", help="Offered loads, above 0; at 1 the queue is unstable")
    ] = "0.5,0.8,0.95",
    at: Annotated[
        str | None, typer.Option(metavar="SIZE,...", help="Sizes in the unit of the law; quantiles when absent")
    ] = None,
    curve: Annotated[
        int | None, typer.Option(metavar="N", help="In place of --at: N sizes from end to end of the law")
    ] = None,
    threshold: Annotated[
        str | None, typer.Option(metavar="SIZE,...", help="Of the policies that take one, unless written with them")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the link, such as 10mbit: times are in seconds")
    ] = None,
    unit: Annotated[
        float, typer.Option(metavar="BYTES", help="Of a unit of size, with --rate: 1500 for packets")
    ] = 1.0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for report.html: plots by size and by load, and of the law"),
    ] = None,
    assets: Assets = "inline",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """Response times of several policies on one law of sizes: table, JSON, a page with plots."""
    from mayfly.errors import MayflyError

    if out is not None and out.suffix == ".html":
        raise MayflyError(f"--out {out}: must be a folder, which gets report.html; `--out {out.with_suffix('')}`")
    session = Session(as_json, quiet=True, out=out, assets=assets)
    from mayfly.models.queue.answer import numbers
    from mayfly.models.queue.compared import compared
    from mayfly.text.quantity import rate_bps

    found = compared(
        policies,
        law,
        numbers("rho", rho),
        numbers("at", at),
        curve=curve,
        threshold=numbers("threshold", threshold),
        rate_bps=None if rate is None else rate_bps(rate),
        unit_bytes=unit,
    )
    files = {}
    if out is not None:
        from mayfly.models.queue.page import write_model_page

        files = {"files": session.placed({"report": str(write_model_page(out / "report.html", found))})}
    session.tell(found, files, [f"report: {files['files']['report']}"] if files else ())


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        epilog="Example:  mayfly model compare fifo,ps,las --law bounded-pareto:min=1,max=1e6,alpha=1.1 --out models"
    )(compare)
