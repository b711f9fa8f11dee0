"""The office capture as if its connections were QUIC: the same users, the same order of disciplines."""

import gzip
from pathlib import Path

import pytest
from as_quic import as_quic
from invocation import mayfly_here

from mayfly.workload.connections import connections

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"


@pytest.fixture(scope="module")
def offices(tmp_path_factory):
    """The capture, and the same as QUIC."""
    folder = tmp_path_factory.mktemp("office")
    (folder / "tcp.pcap").write_bytes(data := gzip.decompress(OFFICE.read_bytes()))
    (folder / "quic.pcap").write_bytes(as_quic(data))
    return folder / "tcp.pcap", folder / "quic.pcap"


def test_connections_are_found_with_their_bytes_and_round_trips(offices):
    tcp, quic = (connections(path)[0] for path in offices)
    # One connection began before the capture, and not at the port of HTTP/3.
    tcp = tcp.filter(tcp["protocol"] == "tcp", tcp["opener_from"] == "syn")
    quic, others = quic.filter("quic"), quic.filter(~quic["quic"])
    assert quic.height == tcp.height and not others["quic_probably"].any()
    assert quic["rtt_s"].median() == pytest.approx(tcp["rtt_s"].median(), rel=0.02)
    for end in ("opener", "responder"):
        found, wanted = (frame[f"{end}_distinct_bytes"].sum() for frame in (quic, tcp))
        assert found == pytest.approx(wanted, rel=0.03), end


def test_the_link_is_full_as_long(offices, tmp_path):
    asked = ("--internal", "10.10.0.0/24", "--bootstrap", "0", "--out", tmp_path / "out", "--json")
    tcp, quic = (mayfly_here("profile", path, *asked).document["link"]["guess"] for path in offices)
    for way in ("down", "up"):
        assert quic[way]["rate_bps"] == pytest.approx(tcp[way]["rate_bps"], rel=0.02)
        assert quic[way]["full_s"] == pytest.approx(tcp[way]["full_s"], rel=0.1)
        assert quic[way]["wait_s"] == pytest.approx(tcp[way]["wait_s"], rel=0.2)


def test_the_order_of_disciplines_is_that_of_the_office(offices, tmp_path):
    asked = ("--rate", "10mbit", "--buffer", "300", "--internal", "10.10.0.0/24", "-n", "1")
    asked += ("-d", "fifo,fq_codel,cake", "--out", tmp_path / "out", "--json")
    tcp, quic = (mayfly_here("whatif", path, *asked).document for path in offices)
    assert quic["capture"]["quic_share"] > 0.9 and quic["recommendation"]["kind"] == tcp["recommendation"]["kind"]
    # Under fifo QUIC's credit fills the buffer, and the receive buffers of Linux do not: other hosts, another queue.
    for one, other in list(zip(tcp["disciplines"], quic["disciplines"], strict=True))[1:]:
        assert other["users"]["ping"]["p95_ms"] == pytest.approx(one["users"]["ping"]["p95_ms"], rel=0.1)
        assert other["users"]["pages"]["p95_s"] == pytest.approx(one["users"]["pages"]["p95_s"], rel=0.1)
    for document in (tcp, quic):
        fifo, *fair = document["disciplines"]
        assert all(row["users"]["ping"]["p95_ms"] < 0.3 * fifo["users"]["ping"]["p95_ms"] for row in fair)
        assert all(row["users"]["pages"]["p95_s"] < fifo["users"]["pages"]["p95_s"] for row in fair)
