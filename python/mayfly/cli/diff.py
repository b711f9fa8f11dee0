"""The command ``mayfly diff``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import AsJson, Duplicates, Tunnels
from mayfly.cli.session import Session


def diff(
    before: Annotated[
        Path, typer.Argument(metavar="BEFORE", help="Folder of mayfly compare, whatif or simulate, or a capture")
    ],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="What to compare with it")],
    internal: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="Network on the near side of the link, for captures; repeatable"),
    ] = None,
    duplicates: Duplicates = None,
    tunnels: Tunnels = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the resamples behind the intervals")] = 1,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for report.html, diff.json")] = Path("mayfly-diff"),
    as_json: AsJson = False,
) -> None:
    """Compare two runs or captures: what changed beyond chance."""
    session = Session(as_json, quiet=True, out=out)
    from mayfly.diff.answer import diff as run
    from mayfly.workload.reading import read_as

    with read_as(duplicates, tunnels):
        found = run(before, after, internal=internal, seed=seed)
    files = found.write(out)
    session.tell(found, {"files": files}, ["report: " + files["report"]])


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly diff before.pcap after.pcap --internal 10.10.0.0/24")(diff)
