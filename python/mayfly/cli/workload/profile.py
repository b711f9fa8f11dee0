"""`mayfly workload from` and `draw`: a workload measured in captures, and flow lists drawn from it."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import Duplicates, Filter, Tunnels
from mayfly.cli.profile.options import AsJson, Captures, Internal, Quiet
from mayfly.cli.session import Session


def measure(
    captures: Captures,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The workload, TOML")] = Path(
        "workload.toml"
    ),
    internal: Internal = None,
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Roles of local hosts: CSV with the header host,role")
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Fit laws to some of gap,size,rtt, or all; the others stay as measured"),
    ] = None,
    points: Annotated[int, typer.Option(metavar="N", help="Most steps of a measured law, from 2")] = 400,
    bin_width: Annotated[
        str, typer.Option("--bin", metavar="TIME", help="Width of a bin of the load, for its periods")
    ] = "5min",
    filter: Filter = None,
    duplicates: Duplicates = None,
    tunnels: Tunnels = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure a workload: arrivals, sizes and round-trip times by class."""
    session = Session(as_json, quiet, out.parent)
    from mayfly.profile.workload.answer import Made
    from mayfly.profile.workload.measure import fit_list, workload_from
    from mayfly.summary_types import Accounted
    from mayfly.text.quantity import seconds
    from mayfly.workload.reading import read_as

    account = list[Accounted]()
    with read_as(duplicates, tunnels), session.progress(f"workload from {captures[0].name}") as progress:
        workload = workload_from(
            captures,
            internal=internal,
            hosts=hosts,
            fit=fit_list(fit),
            points=points,
            bin_s=seconds(bin_width, "bin"),
            progress=progress,
            filter=filter,
            accounts=account,
        )
    made = Made(workload, account)
    file = made.write(out)
    session.tell(made, {"files": {"workload": file}}, [f"workload: {file}"])


def draw(
    workload: Annotated[Path, typer.Argument(metavar="WORKLOAD", help="What mayfly workload from wrote")],
    duration: Annotated[
        str, typer.Option(metavar="TIME", help="Flows start within it; the periods begin again when they are over")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="The flow list, in any format of mayfly workload formats"),
    ] = Path("flows.parquet"),
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of all random streams, from 0 to 2^63 - 1")] = 1,
    load: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Mean load of the busier direction, such as 8mbit; as measured if absent"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a flow list from a workload, for --flows."""
    session = Session(as_json, True, out.parent)
    from mayfly.profile.workload.answer import drawn_from
    from mayfly.text.quantity import rate_bps, seconds

    load_bps = None if load is None else float(rate_bps(load, "load"))
    drawn = drawn_from(workload, duration_s=seconds(duration, "duration"), seed=seed, load_bps=load_bps)
    notes = drawn.write(out)
    lines = [*(f"note: {note}" for note in notes), f"flows: {out}"]
    session.tell(drawn, {"files": {"flows": str(out)}, "notes": notes}, lines)


def add_to(app: typer.Typer) -> None:
    """Add both commands."""
    example = "Example:  mayfly workload from captures/office.pcap.gz --internal 10.10.0.0/24 -o office.toml"
    app.command("from", epilog=example)(measure)
    app.command(epilog="Example:  mayfly workload draw office.toml --duration 10min --load 8mbit -o flows.csv.gz")(draw)
