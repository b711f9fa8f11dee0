"""`mayfly profile roles`: servers and clients by what their connections look like."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import Tunnels
from mayfly.cli.profile.options import AsJson, Captures, Internal, Quiet
from mayfly.cli.session import Session

app = typer.Typer(
    help="Servers and clients by what their connections look like: train, apply.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Normalisation = Annotated[
    str, typer.Option(metavar="HOW", help="Of the features over the hosts of a trace: linear, student or none")
]
Least = Annotated[int, typer.Option("--least", metavar="N", help="Fewest connections of a host that is judged")]


@app.command(epilog="Example:  mayfly profile roles train site.pcap.gz --hosts hosts.csv --out roles.json")
def train(
    captures: Captures,
    hosts: Annotated[Path, typer.Option(metavar="FILE", help="Known roles: CSV with the header host,role")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The model, JSON")] = Path("roles.json"),
    internal: Internal = None,
    tunnels: Tunnels = False,
    method: Annotated[str, typer.Option(metavar="NAME", help="c45 or naive-bayes")] = "c45",
    normalisation: Normalisation = "linear",
    least: Least = 10,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the parts that are held out")] = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn roles from a site whose hosts are known."""
    session = Session(as_json, quiet, out.parent)
    from mayfly.profile.roles.answer import trained
    from mayfly.workload.reading import read_as

    with read_as(tunnels=tunnels), session.progress("profile roles train") as progress:
        found = trained(
            captures,
            hosts,
            internal=internal,
            method=method,
            normalisation=normalisation,
            least=least,
            seed=seed,
            progress=progress,
        )
    file = found.write(out)
    session.tell(found, {"files": {"model": file}}, [f"model: {file}"])


@app.command(epilog="Example:  mayfly profile roles apply roles.json monday.pcap.gz tuesday.pcap.gz --out hosts.csv")
def apply(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What train wrote")],
    captures: Captures,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The hosts with their roles, CSV")] = Path("roles.csv"),
    internal: Internal = None,
    tunnels: Tunnels = False,
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Known roles to compare with: CSV with the header host,role")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Tell the roles of the hosts of another site; each capture is a trace of its own."""
    session = Session(as_json, quiet, out.parent)
    from mayfly.profile.roles.answer import applied
    from mayfly.workload.reading import read_as

    with read_as(tunnels=tunnels), session.progress("profile roles apply") as progress:
        found = applied(model, captures, internal=internal, hosts=hosts, progress=progress)
    file = found.write(out)
    session.tell(found, {"files": {"hosts": file}}, [f"hosts: {file}"])


@app.command(epilog="Example:  mayfly profile roles features site.pcap.gz --hosts hosts.csv --out site.arff")
def features(
    captures: Captures,
    out: Annotated[Path, typer.Option(metavar="FILE", help="CSV, or .arff for Weka")] = Path("features.csv"),
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Known roles: CSV with the header host,role")
    ] = None,
    internal: Internal = None,
    tunnels: Tunnels = False,
    normalisation: Normalisation = "linear",
    least: Least = 10,
    quiet: Quiet = False,
) -> None:
    """Write the features of the hosts for other programs."""
    session = Session(False, quiet, out.parent)
    from mayfly.profile.hosts import read_hosts
    from mayfly.profile.roles.answer import features_of, write_features
    from mayfly.workload.reading import read_as

    known = {} if hosts is None else read_hosts(hosts)
    with read_as(tunnels=tunnels), session.progress("profile roles features") as progress:
        measured = features_of(captures, internal, progress)
    count = write_features(out, measured, known, normalisation, least)
    session.print(f"{count} hosts: {out}")


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="roles")
