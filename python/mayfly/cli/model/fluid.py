"""`mayfly model fluid`: TCP beside traffic that does not respond, as a fluid."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import Assets
from mayfly.cli.session import Session


def fluid(
    rate: Annotated[str, typer.Option(metavar="RATE", help="Of the link: 28mbit")] = "28mbit",
    tcp: Annotated[str, typer.Option(metavar="N,...", help="TCP flows, of each group")] = "30",
    rtt: Annotated[str, typer.Option(metavar="TIME,...", help="Round-trip time without queue, of each group")] = "50ms",
    nonresponsive: Annotated[str, typer.Option(metavar="RATE", help="Of what does not respond to losses: 10mbit")] = "",
    red: Annotated[
        str, typer.Option(metavar="MIN,MAX,P", help="Thresholds of RED, packets, and its probability at the upper one")
    ] = "15,45,0.1",
    weight: Annotated[float, typer.Option(metavar="SHARE", help="Of the present queue in RED's average")] = 0.002,
    spacing: Annotated[str, typer.Option(metavar="RULE", help="Of RED's drops: uniform, or wait as ns-2")] = "uniform",
    gentle: Annotated[bool, typer.Option(help="RED's probability rises to 1 at twice the upper threshold")] = True,
    drops: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Dropped whatever the queue, in place of RED: 1%; 0 is drop-tail"),
    ] = None,
    buffer: Annotated[int, typer.Option(metavar="PACKETS", help="Limit of the queue")] = 1000,
    window: Annotated[int, typer.Option(metavar="PACKETS", help="Of the receivers")] = 1000,
    elsewhere: Annotated[
        str, typer.Option(metavar="SHARE,...", help="Of the packets lost at other hops, of each group: 0.5%")
    ] = "0",
    per_ack: Annotated[int, typer.Option(metavar="N", help="Packets that an acknowledgement covers")] = 1,
    packet: Annotated[int, typer.Option(metavar="BYTES", help="On the wire, from 41 to 65535")] = 1000,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Of a trajectory from an empty queue; none when absent")
    ] = None,
    trajectory: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where it goes, with --duration: .csv, or .html with plots")
    ] = None,
    assets: Assets = "inline",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """TCP and traffic that does not respond at one queue: equilibrium, stability, trajectory."""
    session = Session(as_json, quiet=True, out=None if trajectory is None else trajectory.parent, assets=assets)
    from mayfly.errors import MayflyError
    from mayfly.models.queue.answer import numbers
    from mayfly.models.tcp.drop_laws import FixedDrops, Red
    from mayfly.models.tcp.fluid import Fluid
    from mayfly.models.tcp.fluid_answer import fluid_answer, groups_of
    from mayfly.text.quantity import probability, rate_bps, seconds

    if not 41 <= packet <= 65_535:
        raise MayflyError(f"packet = {packet}: must be from 41 to 65535 bytes")
    if trajectory is not None and (duration is None or trajectory.suffix not in (".csv", ".html")):
        raise MayflyError(f"trajectory = {trajectory}: must end in .csv or .html, and be given with duration")
    thresholds = numbers("red", red)
    if len(thresholds) != 3:
        raise MayflyError(f"red = {red}: must be three numbers: lower and upper threshold, and probability")
    low, high, most = thresholds
    model = Fluid(
        rate_bps(rate) / packet / 8,
        groups_of(
            numbers("tcp", tcp),
            [seconds(part, "rtt") for part in rtt.split(",")],
            window=window,
            elsewhere=[probability(part, "elsewhere") for part in elsewhere.split(",")],
            per_ack=per_ack,
        ),
        Red(low, high, most, weight, gentle, spacing) if drops is None else FixedDrops(probability(drops, "drops")),
        nonresponsive_pps=rate_bps(nonresponsive, "nonresponsive") / packet / 8 if nonresponsive else 0.0,
        buffer_packets=buffer,
    )
    found = fluid_answer(model, packet, None if duration is None else seconds(duration, "duration"))
    files = {}
    if trajectory is not None:
        from mayfly.models.tcp.fluid_page import write_trajectory

        files = {"files": session.placed({"trajectory": str(write_trajectory(trajectory, found))})}
    session.tell(found, files, [f"trajectory: {trajectory}"] if files else ())


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly model fluid --rate 28mbit --tcp 30 --rtt 50ms --nonresponsive 10mbit")(fluid)
