"""`mayfly profile`: what is in a capture."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mayfly.cli.lazy import LazyGroup, Table
from mayfly.cli.options import (
    Anonymize,
    AnonymizeKey,
    Assets,
    Begin,
    Busiest,
    Duplicates,
    End,
    Filter,
    Tunnels,
    anonymizing,
    spanned,
)
from mayfly.cli.profile.options import AsJson, Captures, Certificates, Cluster, Internal, Quiet, Shards, Workers
from mayfly.cli.session import Session

COMMANDS: Table = {
    "captures": ("", None),
    "compare": ("mayfly.cli.profile.compare", "Compare two tools on one capture, metric by metric."),
    "roles": (
        "mayfly.cli.profile.roles",
        "Servers and clients by what their connections look like: train, apply.",
    ),
}
"""Module of each command and what ``mayfly profile --help`` says of it; a test holds the text to its own."""


class WithDefault(LazyGroup):
    """Commands, and one that the first word need not name: a capture is profiled."""

    table = COMMANDS
    default = "captures"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the default command before arguments that name none."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=WithDefault,
    help="What is in a capture: classes, load, laws, hosts.\n\n"
    "`mayfly profile CAPTURE` profiles captures; its options are those of `mayfly profile captures --help`.",
    epilog="Example:  mayfly profile captures/office.pcap.gz --internal 10.10.0.0/24 --bin 5s",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command(
    epilog="Examples:  mayfly profile captures/office.pcap.gz --internal 10.10.0.0/24 --bin 5s; "
    "mayfly profile minutes/*.pcap.zst --cluster dask://head:8786 --shards /shared/scratch"
)
def captures(
    captures: Captures,
    internal: Internal = None,
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Roles of local hosts: CSV with the header host,role")
    ] = None,
    roles: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Roles of the other local hosts: of mayfly profile roles train")
    ] = None,
    bin_width: Annotated[
        str | None,
        typer.Option("--bin", metavar="TIME", help="Width of a bin of the load; some hundred bins if absent"),
    ] = None,
    bootstrap: Annotated[int, typer.Option(metavar="N", help="Samples for the p of the fits; 0 for none")] = 99,
    seed: Annotated[int, typer.Option(metavar="N", help="Of these samples")] = 1,
    trains: Annotated[bool, typer.Option("--trains", help="Also write trains.parquet: who sent how much when")] = False,
    connections: Annotated[
        bool, typer.Option("--connections", help="Write connections.parquet and go no further: no laws, no report")
    ] = False,
    begin: Begin = None,
    end: End = None,
    busiest: Busiest = None,
    filter: Filter = None,
    anonymize: Anonymize = False,
    anonymize_key: AnonymizeKey = None,
    duplicates: Duplicates = None,
    tunnels: Tunnels = False,
    workers: Workers = None,
    cluster: Cluster = None,
    certificates: Certificates = None,
    shards: Shards = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for report.html, profile.json and the tables")
    ] = Path("mayfly-profile"),
    laws: Annotated[bool, typer.Option("--laws", help="Also print classes, connections, laws and their tests")] = False,
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Profile captures; the name may be left out."""
    from mayfly.workload.reading import read_as

    session = Session(as_json, quiet, out, assets)
    sharding = None
    if (workers, cluster, certificates, shards) != (None, None, None, None):
        from mayfly.profile.shards import sharding_of

        sharding = sharding_of(workers, cluster, certificates, shards)
    sources: dict[str, Any] = {"internal": internal, "hosts": hosts, "model": roles, "sharding": sharding}
    sources |= {"filter": filter, "anonymize": anonymizing(anonymize, anonymize_key)}
    span = spanned(captures, begin, end, busiest)
    if connections:
        from mayfly.profile.listed import listed

        with read_as(duplicates, tunnels, span=span), session.progress(f"read {captures[0].name}") as progress:
            rows = listed(captures, trains=trains, progress=progress, **sources)
        files = rows.write(out)
        session.tell(rows, {"files": files}, ["connections: " + files["connections"]])
        return
    from mayfly.profile.answer import profile
    from mayfly.text.quantity import seconds

    with read_as(duplicates, tunnels, span=span), session.progress(f"profile {captures[0].name}") as progress:
        found = profile(
            captures,
            bin_s=None if bin_width is None else seconds(bin_width, "bin"),
            bootstrap=bootstrap,
            seed=seed,
            trains=trains,
            progress=progress,
            **sources,
        )
    files = session.placed(found.write(out))
    appendix = found.details() if laws else []
    session.tell(found, {"files": files}, [*appendix, "report: " + files["report"]])


# With a callback there is a group, of which this is one command.
app.callback()(lambda: None)


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="profile")
