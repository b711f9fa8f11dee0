"""`mayfly workload`: flow lists from and to files of other programs, and drawn from what was measured."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import Duplicates, Filter, Tunnels
from mayfly.cli.session import Session
from mayfly.cli.workload import profile as workload_profile

app = typer.Typer(
    help="Flow lists: convert, measure in captures, draw.",
    epilog="Example:  mayfly workload convert captures/office.pcap.gz flows.csv.gz",
    no_args_is_help=True,
    rich_markup_mode=None,
)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output and nothing else")]


@app.command(epilog="Example:  mayfly workload convert captures/office.pcap.gz flows.csv.gz --internal 10.10.0.0/24")
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File in any readable format, found by its content")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File to write; its ending chooses the format")],
    from_format: Annotated[str | None, typer.Option("--from", metavar="ID", help="Format of IN")] = None,
    to_format: Annotated[str | None, typer.Option("--to", metavar="ID", help="Format of OUT")] = None,
    mss: Annotated[int, typer.Option(metavar="BYTES", help="Payload of a full packet, where IN counts packets")] = 1460,
    internal: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="Near side of the link, for captures and logs; repeatable; else inferred"),
    ] = None,
    filter: Filter = None,
    duplicates: Duplicates = None,
    tunnels: Tunnels = False,
    as_json: AsJson = False,
) -> None:
    """Read flows from one format and write them in another."""
    session = Session(as_json, quiet=True, out=target.parent)
    from mayfly.workload.formats.convert import converted
    from mayfly.workload.reading import read_as

    with read_as(duplicates, tunnels):
        found = converted(source, target, from_format, to_format, mss=mss, internal=internal, filter=filter)
    session.tell(found)


@app.command(epilog="Example:  mayfly workload formats")
def formats(as_json: AsJson = False) -> None:
    """List the formats that can be read and written."""
    session = Session(as_json, quiet=True)
    from mayfly.workload.formats.registry import rows

    if as_json:
        session.print_json({"formats": rows()})
        return
    from mayfly.workload.formats.terminal import formats_table

    session.print(formats_table(rows()))


workload_profile.add_to(app)


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="workload")
