"""`mayfly model sampling`: who is taken for long by a lottery over packets."""

from typing import Annotated

import typer

from mayfly.cli.session import Session


def sampling(
    at: Annotated[str, typer.Option(metavar="PACKETS,...", help="Sizes of flows, whole")] = "1,10,50,100,1000",
    p: Annotated[
        str | None, typer.Option(metavar="SHARE,...", help="Of the packets that are drawn; TS / threshold when absent")
    ] = None,
    ts: Annotated[str, typer.Option(metavar="N,...", help="Packets drawn that make a flow sampled")] = "1",
    threshold: Annotated[
        float | None, typer.Option(metavar="PACKETS", help="A flow of fewer is short, any other long")
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(metavar="LAW", help="Sizes of all flows: zipf:min=1,max=1e6,alpha=1.1; asks for --threshold"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """Flows sampled by SIFT and X-Protect, by size, and the share of flows put on the wrong side."""
    session = Session(as_json, quiet=True)
    from mayfly.models.queue.answer import numbers
    from mayfly.models.sampling.curves import curves

    found = curves(numbers("at", at), numbers("p", p), numbers("ts", ts), threshold=threshold, law=law)
    session.tell(found)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly model sampling --p 0.02 --at 10,50,100")(sampling)
