"""What fills the link, by service."""

import numpy as np
import polars as pl
import pytest

from mayfly.profile.services import PORTS, SERVICES, _keys, services
from mayfly.workload.columns import columns_of

NEAR = frozenset({"10.0.0.1"})


def table(*rows):
    """Connections: protocol, ports, what the opener and the responder sent, and whether it is QUIC."""
    names = ("protocol", "opener_port", "responder_port", "opener_wire_bytes", "responder_wire_bytes", "quic")
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(
        opener=pl.lit("10.0.0.1"), responder=pl.lit("192.0.2.1"), quic_probably=pl.lit(False), ip_protocol=pl.lit(50)
    )


def test_services_are_those_of_the_port_and_quic_is_known_by_its_form():
    found = services(
        table(
            ("tcp", 50_000, 443, 100, 9_000, False),
            ("tcp", 50_001, 443, 100, 1_000, False),
            ("udp", 50_000, 4_433, 50, 5_000, True),
            ("udp", 50_000, 443, 40, 4_000, False),
            # Seen from its middle on: the opener is the server.
            ("tcp", 22, 50_002, 3_000, 30, False),
            ("other", 0, 0, 20, 2_000, False),
            ("icmp", 8, 0, 5, 5, False),
        ),
        NEAR,
    )
    rows = [(row["service"], row["transport"], row["port"], row["down_bytes"], row["up_bytes"]) for row in found]
    assert rows == [
        ("HTTPS", "tcp", 443, 10_000, 200),
        ("QUIC", "quic", None, 5_000, 50),
        ("UDP of port 443", "udp", 443, 4_000, 40),
        ("SSH", "tcp", 22, 30, 3_000),
        ("ESP", "other", None, 2_000, 20),
        ("other", None, None, 5, 5),
    ]
    assert [row["connections"] for row in found] == [2, 1, 1, 1, 1, 1]
    assert sum(row["share"] for row in found) == pytest.approx(1.0)


def test_a_port_without_a_name_is_called_by_its_number_and_little_is_no_row():
    found = services(table(("udp", 50_000, 9_999, 0, 10_000, False), ("tcp", 50_000, 7_000, 1, 0, False)), NEAR)
    assert [(row["service"], row["port"]) for row in found] == [("UDP port 9999", 9_999), ("other", None)]
    assert services(table(("udp", 1, 2, 0, 0, False)), NEAR) == []
    assert services(table().head(0), NEAR) == []


def test_services_add_up_to_all_bytes_whatever_there_is():
    random = np.random.default_rng(1)
    kinds = np.array(["tcp", "udp", "icmp", "other"])
    rows = [
        (str(random.choice(kinds)), *map(int, random.integers(0, 2**16, 2)), *map(int, random.integers(0, 10**9, 2)), q)
        for q in random.random(3_000) < 0.3
    ]
    rows = [(*row[:5], bool(row[5])) for row in rows]
    frame = table(*rows)
    found = services(frame, NEAR)
    assert len(found) == SERVICES + 1
    for way, end in (("up", "opener"), ("down", "responder")):
        assert sum(row[f"{way}_bytes"] for row in found) == frame[f"{end}_wire_bytes"].sum()
    assert sum(row["connections"] for row in found) == frame.height
    # Each connection has one service.
    assert len(_keys(columns_of(frame))) == frame.height and len(PORTS) == len(set(PORTS))
