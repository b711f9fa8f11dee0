"""Both sides of a router that translates addresses, in one capture: each connection is one, and counts once."""

import pytest
from spellings import packets_of, pcap
from test_spellings import different, profiled
from translated import FORWARDED_NS, INSIDE, begun_inside, both_sides

MS = 10**6
COUNTED = {
    *("counts.packets", "counts.copies", "counts.skipped.duplicate", "counts.translated"),
    *(f"account[0].{what}.{unit}" for what in ("seen", "left_out.duplicate") for unit in ("count", "bytes")),
}
WAYS = {
    "at once": lambda goes_out: FORWARDED_NS,
    "5 ms in": lambda goes_out: FORWARDED_NS if goes_out else 5 * MS,
    "3 ms out": lambda goes_out: 3 * MS if goes_out else FORWARDED_NS,
}


@pytest.fixture(scope="module")
def packets():
    """Of connections that begin inside; the last packet comes in after a pause: no copy is later than the capture."""
    found = begun_inside(packets_of())
    while found[-1].ip[12:15] == INSIDE or found[-1].at_ns - found[-2].at_ns < 4 * MS:
        found.pop()
    return found


@pytest.fixture(scope="module")
def base(packets, tmp_path_factory):
    path = tmp_path_factory.mktemp("inside") / "inside.pcap"
    path.write_bytes(pcap(packets))
    return profiled(path)


@pytest.mark.parametrize(
    "way", ["5 ms in", *(pytest.param(way, marks=pytest.mark.slow) for way in ("at once", "3 ms out"))]
)
def test_both_sides_of_a_router_have_the_figures_of_the_inner_one(way, packets, base, tmp_path):
    path = tmp_path / "both.pcapng"
    path.write_bytes(both_sides(packets, WAYS[way]))
    found = profiled(path)
    assert set(different(base, found)) == COUNTED
    assert found["counts.packets"] == 2 * len(packets)
    assert found["counts.skipped.duplicate"] == len(packets)


def test_a_connection_that_began_before_has_its_inner_side_too(tmp_path):
    """Its first packet came in, so that the outer side was captured first."""
    every = packets_of()
    inside, both = tmp_path / "inside.pcap", tmp_path / "both.pcapng"
    inside.write_bytes(pcap(every))
    both.write_bytes(both_sides(every))
    base, found = profiled(inside), profiled(both)
    for what in ("connections", "bytes", "local_hosts", "remote_hosts"):
        assert found[f"dataset.{what}"] == base[f"dataset.{what}"]
