"""Captures that Wireshark 4.6.9 and Linux 7.2.7 wrote on 2026-11-28, next to what each tool says of them."""

import shutil
import subprocess
from pathlib import Path

import pytest
from invocation import refused_here

from mayfly.workload.connections import connections

ROOT = Path(__file__).parents[2]
INPUTS = ROOT.parent / "shared" / "audit" / "inputs"
OFFICE = ROOT / "captures" / "office.pcap.gz"


def recorded(name: str) -> Path:
    path = INPUTS / name
    if not path.exists():
        pytest.skip("../shared/audit/inputs is not here")
    return path


@pytest.mark.parametrize("name", ["big6.96.pcap", "big4.96.pcap"])
def test_big_tcp_of_either_version_has_all_its_bytes(name):
    """Packets of 198,578 bytes, length field 0, no hop-by-hop header: tcpdump 4.99.6 reads no such IPv6."""
    frame, _ = connections(recorded(f"tc/{name}"))
    assert frame["opener_payload_bytes"].to_list() == frame["opener_distinct_bytes"].to_list() == [4_000_000]


def test_fragments_are_counted_as_packets_with_their_headers():
    """Nfpcapd puts them together: 5 packets of 15,140 bytes; nfstream and cicflowmeter count first fragments alone."""
    frame, _ = connections(recorded("formats/frag.pcap"))
    assert frame.select("opener_packets", "opener_wire_bytes", "opener_payload_bytes").rows() == [(15, 15_340, 15_000)]


def test_a_repeated_segment_gives_no_round_trip_time():
    """Karn's algorithm; tshark 4.0 to 4.6 counts ack_rtt from the first sending, 4.6 with the flag ambiguous_ack."""
    frame, _ = connections(recorded("formats/karn.pcap"))
    names = ("opener_retransmits", "data_ack_to_responder_samples", "opener_distinct_bytes")
    assert frame.select(names).rows() == [(1, 0, 1000)]


def test_content_counts_and_not_the_name():
    """Dumpcap 4.6.9 wrote plain pcapng under the name .pcapng.gz."""
    frame, counts = connections(recorded("formats/plain-pcapng-named.pcapng.gz"))
    assert (frame.height, counts["packets"], counts["truncated"]) == (2, 24, False)


@pytest.mark.parametrize(
    ("name", "epoch_s"),
    [
        ("res0", 1_750_000_000.0),
        ("res3", 1_750_000_000.0),
        ("res9", 1_750_000_000.0),
        # tshark 4.6.9 reads no finer than 10^-19.
        ("res20", 1e-8),
        ("offset", 1_750_003_600.123457),
    ],
)
def test_resolutions_and_offsets_of_time(name, epoch_s):
    _, counts = connections(recorded(f"formats/{name}.pcapng"))
    assert counts["first_epoch_s"] == pytest.approx(epoch_s, abs=1e-6 if epoch_s > 1 else 1e-12)


def test_lz4_of_wireshark_reads_as_the_plain_file():
    """Tshark, editcap, mergecap and dumpcap 4.6 write it with `--compress lz4`."""
    plain, packed = (connections(recorded(f"formats/two.{kind}")) for kind in ("pcapng", "lz4.pcapng"))
    assert packed[0].equals(plain[0]) and packed[1] == plain[1] and packed[0].height == 1


@pytest.mark.parametrize("level", [["-1"], ["-9", "-B4", "-BD"], ["-1", "--no-frame-crc", "-BX"]])
def test_lz4_reads_as_the_plain_file(tmp_path, level):
    if shutil.which("lz4") is None:
        pytest.skip("lz4 is not installed")
    unpacked = subprocess.run(["gzip", "-dc", OFFICE], capture_output=True, check=True).stdout
    path = tmp_path / "office.pcap.lz4"
    path.write_bytes(subprocess.run(["lz4", "-c", *level], input=unpacked, capture_output=True, check=True).stdout)
    frame, counts = connections(path)
    expected, counted = connections(OFFICE)
    assert frame.equals(expected) and counts == counted


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("two.rh6_1libpcap", "a pcap with the record headers of Red Hat 6.1 (convert it: editcap -F pcap)"),
        ("two.suse6_3libpcap", "a pcap with the record headers of SuSE 6.3 (convert it: editcap -F pcap)"),
        ("two.nokialibpcap", "a pcap with the record headers of Nokia (convert it: editcap -F pcap)"),
        ("two.snoop", "a snoop capture (convert it: editcap -F pcap)"),
        ("two.netmon1", "a Network Monitor 1 capture (convert it: editcap -F pcap)"),
        ("two.netmon2", "a Network Monitor 2 capture (convert it: editcap -F pcap)"),
        ("two.erf", "records of ERF (convert it: editcap -F pcap)"),
    ],
)
def test_other_formats_of_editcap_are_named_with_the_remedy(name, said):
    assert f"{name}: not a capture: found {said}" in refused_here("profile", recorded(f"formats/{name}"))
