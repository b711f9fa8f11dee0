"""A bench: uploads behind the queue of a link, next to the server, where a path takes next to no time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.packets import write_tcp

import mayfly
from mayfly.metrics.users import transfers_of

CLIENT, SERVER = "192.168.7.2", ("198.51.100.7", 8080)
SYN, ACK = 2, 16
MSS, SIZE = 1448, 4_000_000
RATE_BPS = 5e6
PACKET_S = 8 * 1488 / RATE_BPS
BACK_S = 60e-6
"""Between the tap and the server, there and back."""

Packet = tuple[float, tuple[str, int], tuple[str, int], int, int, int, int]


def upload(start_s: float, port: int) -> Iterator[Packet]:
    """A request of 4 MB at the pace of the link, of which each second packet is acknowledged, and an answer."""
    client = (CLIENT, port)
    yield (start_s, client, SERVER, 0, 0, SYN, 0)
    yield (start_s + BACK_S, SERVER, client, 0, 1, SYN | ACK, 0)
    yield (start_s + 3e-4, client, SERVER, 1, 1, ACK, 0)
    at_s = start_s + 3e-3
    for place in range(-(-SIZE // MSS)):
        sent = place * MSS
        size = min(MSS, SIZE - sent)
        yield (at_s, client, SERVER, 1 + sent, 1, ACK, size)
        if place % 2 or sent + size == SIZE:
            yield (at_s + BACK_S, SERVER, client, 1, 1 + sent + size, ACK, 0)
        at_s += PACKET_S
    yield (at_s, SERVER, client, 1, 1 + SIZE, ACK, 120)
    yield (at_s + 3e-4, client, SERVER, 1 + SIZE, 121, ACK, 0)


def look_up(start_s: float, port: int) -> Iterator[Packet]:
    """A GET of 20 kB, which the link down sends at once."""
    client = (CLIENT, port)
    yield (start_s, client, SERVER, 0, 0, SYN, 0)
    yield (start_s + BACK_S, SERVER, client, 0, 1, SYN | ACK, 0)
    yield (start_s + 3e-4, client, SERVER, 1, 1, ACK, 0)
    yield (start_s + 4e-4, client, SERVER, 1, 1, ACK, 300)
    for place in range(14):
        at_s = start_s + 5e-4 + place * 1e-5
        yield (at_s, SERVER, client, 1 + place * MSS, 301, ACK, MSS)
        yield (at_s + 2e-4, client, SERVER, 301, 1 + (place + 1) * MSS, ACK, 0)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """Five uploads one after the other, and look-ups between them."""
    packets: list[Packet] = []
    for number in range(5):
        packets += upload(9.0 * number, 40_000 + number)
        packets += [
            packet
            for place in range(6)
            for packet in look_up(9.0 * number + 6.9 + 0.3 * place, 50_000 + 10 * number + place)
        ]
    packets.sort(key=lambda packet: packet[0])
    return Path(write_tcp(tmp_path / "bench.pcap", packets))


@pytest.mark.parametrize("rate", ["20mbit/5mbit", "20mbit/10mbit"])
def test_an_upload_next_to_its_server_is_one_transfer(bench: Path, rate: str) -> None:
    options: dict[str, Any] = {"internal": "192.168.7.0/24", "disciplines": "fifo,fq_codel", "replications": 1}
    found = mayfly.whatif(bench, rate, "150kB", **options)
    transfers = transfers_of(found.records, found.trains).filter(discipline="fifo")
    assert transfers.filter(direction="up")["size_bytes"].to_list() == [SIZE] * 5
    assert transfers.height == 5 + 30
    up_bps = float(rate.partition("/")[2].removesuffix("mbit")) * 1e6
    for row in found.summary["disciplines"]:
        # No link sends 4 MB faster than its rate.
        assert row["users"]["long"]["p50_s"] > 8 * SIZE / up_bps
