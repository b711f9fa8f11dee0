"""`mayfly model efd`, `efd-sizes` and `gaps`: EFD and its sub-flows."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.session import Session

Subflows = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="subflows.parquet of a run: flows are cut by its law, not into TCP's flights"),
]
Discipline = Annotated[
    str | None, typer.Option(metavar="LABEL", help="Of the sub-flows, where the table has several: efd(low=las)")
]
Since = Annotated[str, typer.Option(metavar="TIME", help="Sub-flows that began earlier are left out: 100s")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output and nothing else")]


def efd(
    law: Annotated[
        str, typer.Option(metavar="LAW", help="Flow sizes in packets: zipf:min=6,mean=40,cov=6, sample:FILE")
    ],
    rho: Annotated[float, typer.Option(metavar="LOAD", help="Offered load of the data, above 0, below 1")],
    threshold: Annotated[int, typer.Option(metavar="PACKETS", help="Of a sub-flow that go to the high queue")] = 20,
    at: Annotated[
        str | None, typer.Option(metavar="PACKETS,...", help="Sizes of flows and sub-flows; some when absent")
    ] = None,
    variant: Annotated[
        str, typer.Option(metavar="HIGH+LOW,...", help="fifo+fifo, las+fifo, fifo+las, las+las")
    ] = "fifo+fifo,las+fifo,fifo+las,las+las",
    subflows: Subflows = None,
    discipline: Discipline = None,
    since: Since = "0s",
    window: Annotated[int, typer.Option(metavar="PACKETS", help="Largest flight of TCP")] = 43,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the link, such as 10mbit: times are in seconds")
    ] = None,
    packet: Annotated[float, typer.Option(metavar="BYTES", help="Of a packet, with --rate")] = 1500.0,
    as_json: AsJson = False,
) -> None:
    """EFD by its sub-flows: their sizes in both queues, response times of sub-flows and flows."""
    session = Session(as_json, quiet=True)
    from mayfly.models.efd.answer import efd_answer
    from mayfly.models.queue.answer import numbers
    from mayfly.text.quantity import rate_bps, seconds

    found = efd_answer(
        law,
        rho,
        threshold,
        numbers("at", at),
        variants=[part.strip() for part in variant.split(",")],
        subflows=subflows,
        discipline=discipline,
        since_s=seconds(since),
        window=window,
        rate_bps=None if rate is None else rate_bps(rate),
        packet_bytes=packet,
    )
    session.tell(found)


def efd_sizes(
    law: Annotated[
        str, typer.Option(metavar="LAW", help="Flow sizes in packets: zipf:min=6,mean=40,cov=6, sample:FILE")
    ],
    rho: Annotated[float, typer.Option(metavar="LOAD", help="Offered load of the packets, above 0, below 1")],
    threshold: Annotated[int, typer.Option(metavar="PACKETS", help="Of a sub-flow that go to the high queue")] = 20,
    at: Annotated[
        str | None, typer.Option(metavar="PACKETS,...", help="Sizes of flows; quantiles of the law when absent")
    ] = None,
    rtt: Annotated[str, typer.Option(metavar="TIME", help="Propagation there and back")] = "0s",
    rate: Annotated[str, typer.Option(metavar="RATE", help="Of the link")] = "10mbit",
    access_rate: Annotated[str, typer.Option(metavar="RATE", help="Of the access links")] = "100mbit",
    buffer: Annotated[float, typer.Option(metavar="PACKETS", help="Places of the queue")] = 300.0,
    packet: Annotated[float, typer.Option(metavar="BYTES", help="Of a packet with data, on the wire")] = 1500.0,
    header: Annotated[float, typer.Option(metavar="BYTES", help="Of a packet without data, on the wire")] = 40.0,
    initial_window: Annotated[int, typer.Option(metavar="PACKETS", help="First window")] = 3,
    window: Annotated[int, typer.Option(metavar="PACKETS", help="Of the receiver")] = 43,
    per_ack: Annotated[int, typer.Option(metavar="N", help="Packets that an acknowledgement covers")] = 2,
    delayed_ack: Annotated[
        str, typer.Option(metavar="TIME", help="What a receiver waits for as many packets")
    ] = "200ms",
    as_json: AsJson = False,
) -> None:
    """EFD for flows of all sizes: response times over a path, set-up to tear-down."""
    session = Session(as_json, quiet=True)
    from mayfly.models.efd.sizes import Dumbbell
    from mayfly.models.efd.sizes_answer import efd_sizes_answer
    from mayfly.models.queue.answer import numbers
    from mayfly.text.quantity import rate_bps, seconds

    network = Dumbbell.of_rates(
        rate_bps(rate),
        seconds(rtt, "rtt"),
        access_bps=rate_bps(access_rate, "access-rate"),
        packet_bytes=packet,
        header_bytes=header,
        buffer=buffer,
        initial_window=initial_window,
        window=window,
        per_ack=per_ack,
        delayed_ack_s=seconds(delayed_ack, "delayed-ack"),
    )
    found = efd_sizes_answer(law, rho, threshold, network, numbers("at", at), rtt_s=seconds(rtt, "rtt"))
    session.tell(found)


def gaps(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="subflows.parquet of a run")],
    discipline: Discipline = None,
    since: Since = "0s",
    as_json: AsJson = False,
) -> None:
    """Fit laws to the times between the arrivals of sub-flows."""
    session = Session(as_json, quiet=True)
    from mayfly.models.laws.interarrival import gaps_answer
    from mayfly.text.quantity import seconds

    found = gaps_answer(file, discipline, seconds(since))
    session.tell(found)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(epilog="Example:  mayfly model efd --law zipf:min=6,mean=40,cov=6 --rho 0.5 --at 6,20")(efd)
    app.command(
        "efd-sizes",
        epilog="Example:  mayfly model efd-sizes --law zipf:min=6,mean=40,cov=6 --rho 0.7 --rtt 20ms --at 6,1000",
    )(efd_sizes)
    app.command(epilog="Example:  mayfly model gaps out/subflows.parquet --since 100s")(gaps)
