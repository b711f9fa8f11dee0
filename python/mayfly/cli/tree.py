"""The command ``mayfly tree``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import (
    AsJson,
    Assets,
    Disciplines,
    Duplicates,
    Duration,
    Overrides,
    Quiet,
    Seed,
    Tunnels,
    changes,
)
from mayfly.cli.session import Session


def tree(
    nodes: Annotated[Path, typer.Argument(metavar="FILE", help="network.json of LibreQoS: sites and access points")],
    *,
    devices: Annotated[
        Path, typer.Option(metavar="FILE", help="ShapedDevices.csv of LibreQoS: circuits, their addresses and rates")
    ],
    capture: Annotated[
        list[Path] | None,
        typer.Option(metavar="CAPTURE", help="pcap or pcapng, whose hosts are in the circuits; repeatable"),
    ] = None,
    household: Annotated[
        str,
        typer.Option(
            metavar="SCENARIO", help="Scenario of network and transport, and without a capture of the traffic"
        ),
    ] = "household",
    duplicates: Duplicates = None,
    tunnels: Tunnels = False,
    disciplines: Disciplines = None,
    duration: Duration = None,
    seed: Seed = None,
    overrides: Overrides = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for report.html, circuits.parquet, summary.json")
    ] = Path("mayfly-tree"),
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Shapers in a tree: what each circuit would get."""
    session = Session(as_json, quiet, out, assets)
    from mayfly.trees.answer import tree as run
    from mayfly.workload.reading import read_as

    changed = changes(overrides, duration=duration, seed=seed)
    with read_as(duplicates, tunnels), session.progress(f"tree {nodes.name}") as progress:
        found = run(
            nodes,
            devices,
            capture or (),
            disciplines=disciplines,
            household=household,
            overrides=changed,
            progress=progress,
        )
    files = session.placed(found.write(out))
    session.tell(found, {"files": files}, ["report: " + files["report"]])


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        epilog="Example:  mayfly tree captures/provider/network.json --devices captures/provider/ShapedDevices.csv "
        "--capture captures/office.pcap.gz"
    )(tree)
