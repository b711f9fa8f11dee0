"""The command ``mayfly check``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import AsJson
from mayfly.cli.session import Session


def check(
    device: Annotated[str, typer.Argument(metavar="DEV", help="Interface of the link: eth0")],
    ping: Annotated[
        str,
        typer.Option(
            "--ping", metavar="HOST", help="Host that is asked for pings: beyond the link, near your provider's end"
        ),
    ],
    prediction: Annotated[
        Path, typer.Option("--prediction", metavar="DIR", help="Folder, or summary.json, of mayfly whatif")
    ] = Path("mayfly-whatif"),
    length: Annotated[str, typer.Option("--for", metavar="TIME", help="How long; Ctrl-C ends it sooner")] = "60s",
    as_json: AsJson = False,
) -> None:
    """Hold a loaded link to what was predicted of it.

    It pings and reads the counters of the interface, and changes nothing. Load the link meanwhile.
    """
    session = Session(as_json, quiet=as_json)
    from mayfly.qdisc.check import check as run
    from mayfly.text.quantity import seconds

    with session.progress(f"check {device}") as progress:
        found = run(device, ping, prediction, seconds(length, "--for"), progress)
    session.tell(found)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly check eth0 --ping 192.0.2.1 --prediction mayfly-whatif")(check)
