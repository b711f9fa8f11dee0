"""`mayfly profile compare`: ours against other tools on the same capture."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import Tunnels
from mayfly.cli.profile.options import AsJson
from mayfly.cli.session import Session


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Capture, or output of tcptrace, tshark or Zeek")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The same of another tool")],
    tolerance: Annotated[
        float, typer.Option(metavar="SHARE", help="By which two values may differ and agree; 0.01 for 1 %")
    ] = 0.0,
    worst: Annotated[int, typer.Option(metavar="N", help="Connections listed that differ most")] = 10,
    tunnels: Tunnels = False,
    as_json: AsJson = False,
) -> None:
    """Compare two tools on one capture, metric by metric."""
    session = Session(as_json, quiet=True)
    from mayfly.profile.agreement.answer import agreement
    from mayfly.workload.reading import read_as

    with read_as(tunnels=tunnels):
        found = agreement(a, b, tolerance=tolerance, worst=worst)
    session.tell(found)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly profile compare captures/office.pcap.gz tcptrace.csv --tolerance 0.01")(
        compare
    )
