"""`mayfly model tcp`: rate of long transfers, time of short ones."""

from typing import Annotated

import typer

from mayfly.cli.session import Session


def tcp(
    size: Annotated[str, typer.Option(metavar="PACKETS,...", help="Sizes of transfers")] = "3,10,20,43,100,1000",
    rtt: Annotated[str, typer.Option(metavar="TIME", help="Round-trip time of a small packet")] = "100ms",
    loss: Annotated[
        str, typer.Option(metavar="SHARE", help="Of the packets with data that are lost: 0.01 or 1%")
    ] = "1%",
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the slowest link: 10mbit; without end when absent")
    ] = None,
    packet: Annotated[int, typer.Option(metavar="BYTES", help="On the wire, from 41 to 65535")] = 1500,
    initial_window: Annotated[int, typer.Option(metavar="PACKETS", help="First window")] = 3,
    window: Annotated[int, typer.Option(metavar="PACKETS", help="Of the receiver")] = 43,
    per_ack: Annotated[int, typer.Option(metavar="N", help="Packets that an acknowledgement covers")] = 2,
    delayed_ack: Annotated[
        str, typer.Option(metavar="TIME", help="What a receiver waits for as many packets")
    ] = "200ms",
    rto: Annotated[str, typer.Option(metavar="TIME", help="Timeout of a packet with data")] = "1s",
    syn_loss: Annotated[str, typer.Option(metavar="SHARE", help="Of the SYNs and their answers that are lost")] = "0",
    syn_rto: Annotated[str, typer.Option(metavar="TIME", help="First timeout of a SYN")] = "3s",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """TCP over a path with a round-trip time and a loss: rate of long transfers, time of short ones."""
    session = Session(as_json, quiet=True)
    from mayfly.models.queue.answer import numbers
    from mayfly.models.tcp.answer import tcp_answer
    from mayfly.models.tcp.latency import Path
    from mayfly.text.quantity import probability, rate_bps, seconds

    path = Path(
        seconds(rtt, "rtt"),
        probability(loss, "loss"),
        0.0 if rate is None else packet * 8 / rate_bps(rate),
        initial_window,
        window,
        per_ack,
        seconds(delayed_ack, "delayed-ack"),
        seconds(rto, "rto"),
        seconds(syn_rto, "syn-rto"),
        probability(syn_loss, "syn-loss"),
    )
    found = tcp_answer(numbers("size", size), path, packet)
    session.tell(found)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly model tcp --size 20,100,1000 --rtt 100ms --loss 1%")(tcp)
