"""The command ``mayfly explore``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import Anonymize, AnonymizeKey, Filter, Tunnels, anonymizing


def explore(
    captures: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="CAPTURE", help="What the page can open by name: pcap or pcapng, .gz, .zst and .lz4 too"
        ),
    ] = None,
    internal: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="Network on the near side of the captures; repeatable; inferred if absent"),
    ] = None,
    tunnels: Tunnels = False,
    filter: Filter = None,
    anonymize: Anonymize = False,
    anonymize_key: AnonymizeKey = None,
    port: Annotated[int, typer.Option(metavar="N", help="Of the local server; 0 finds a free one")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page, or print its address")] = True,
) -> None:
    """Play with a congested link in the browser."""
    from mayfly.explore.server import serve, serving

    key = anonymizing(anonymize, anonymize_key)
    opened = captures or ()
    near = internal or ()
    serve(serving(opened, port=port, internal=near, filter=filter, anonymize=key, tunnels=tunnels), browser)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly explore captures/office.pcap.gz --internal 10.10.0.0/24")(explore)
