"""`mayfly model wlan`: closed forms of a wireless cell."""

from typing import Annotated

import typer

from mayfly.cli.session import Session


def wlan(
    standard: Annotated[
        str, typer.Option(metavar="NAME", help="802.11a, 802.11b, 802.11g, 802.11n or 802.11ac, frame by frame")
    ] = "802.11a",
    stations: Annotated[int, typer.Option(metavar="N", help="Stations, from 1 to 1000")] = 10,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of data: 54mbit, 11mbit, mcs7; the highest when absent")
    ] = None,
    rates: Annotated[
        str, typer.Option(metavar="RATE,...", help="Of the first stations, where they are others: 6mbit,6mbit")
    ] = "",
    ack_rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of acknowledgements; the highest mandatory one when absent")
    ] = None,
    short_preamble: Annotated[bool, typer.Option("--short-preamble", help="Of 802.11b")] = False,
    packet: Annotated[int, typer.Option(metavar="BYTES", help="IP packets with data, from 41 to 2304")] = 1500,
    tries: Annotated[int, typer.Option(metavar="N", help="Transmissions of a frame in all, from 1 to 255")] = 7,
    per_ack: Annotated[int, typer.Option(metavar="N", help="Packets for a TCP acknowledgement, from 1 to 8")] = 2,
    buffer: Annotated[
        int | None, typer.Option(metavar="PACKETS", help="Of the access point: the ratio of uploads to downloads")
    ] = None,
    uploads: Annotated[int | None, typer.Option(metavar="N", help="Long uploads, with --buffer")] = None,
    downloads: Annotated[int | None, typer.Option(metavar="N", help="Long downloads, with --buffer")] = None,
    window: Annotated[int, typer.Option(metavar="PACKETS", help="Receiver window, with --buffer")] = 43,
    response: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Of the smallest flows under LAS, measured: estimates the capacity"),
    ] = None,
    arrivals: Annotated[
        str | None, typer.Option(metavar="RATE,...", help="Downloads, and uploads, a second, with --response")
    ] = None,
    smallest: Annotated[int, typer.Option(metavar="PACKETS", help="Of the smallest flows, with --response")] = 3,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """Capacity of a wireless cell: saturated stations, TCP, unequal rates, uploads against downloads."""
    session = Session(as_json, quiet=True)
    from mayfly.errors import MayflyError
    from mayfly.models.queue.answer import numbers
    from mayfly.models.wlan.cell import cell_model
    from mayfly.models.wlan.times import TCP_ACK_BYTES, CellTimes
    from mayfly.scenario.airtimes import airtimes, overhead_bytes, standards
    from mayfly.text.quantity import seconds

    if not 1 <= stations <= 1000:
        raise MayflyError(f"stations = {stations}: must be from 1 to 1000")
    if not TCP_ACK_BYTES < packet <= 2304:
        raise MayflyError(f"packet = {packet}: must be from {TCP_ACK_BYTES + 1} to 2304")
    given = [part.strip() for part in rates.split(",")] if rates else []
    if len(given) > stations:
        raise MayflyError(f"rates = {rates}: must be at most {stations}, one per station")
    overhead = overhead_bytes(standards().get(standard, {}).get("aggregates", False))
    lengths = [packet + overhead, TCP_ACK_BYTES + overhead]

    def times(at: str | None) -> CellTimes:
        frames = airtimes(standard, at, lengths=lengths, short_preamble=short_preamble, ack_rate=ack_rate)
        return CellTimes.of(frames, overhead)

    found = cell_model(
        [times(at) for at in given] + [times(rate)] * (stations - len(given)),
        packet_bytes=packet,
        tries=tries,
        per_ack=per_ack,
        buffer_packets=buffer,
        uploads=uploads,
        downloads=downloads,
        window=window,
        response_s=None if response is None else seconds(response, "response"),
        arrivals=numbers("arrivals", arrivals) or (),
        smallest_packets=smallest,
    )
    session.tell(found)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly model wlan --standard 802.11a --stations 10")(wlan)
