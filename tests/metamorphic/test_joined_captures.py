"""A capture in two files has the figures of the one, as several files and joined again."""

import pytest
from spellings import SPELLINGS, figures, packets_of, pcap, pcapng, with_comments
from test_spellings import INSIDE, different, profiled

import mayfly
from mayfly.workload.reading import read_as

OF_FILES = ("counts.clocks",)
"""Of several files there is a clock of each."""


@pytest.fixture(scope="module")
def packets():
    return packets_of()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, packets):
    """The capture whole, and in two files: cut in time, and each packet in one or the other in turn."""
    folder = tmp_path_factory.mktemp("parts")
    cut = len(packets) // 3
    parts = {
        "whole": packets,
        "first": packets[:cut],
        "second": packets[cut:],
        "odd": packets[::2],
        "even": packets[1::2],
    }
    for name, part in parts.items():
        (folder / f"{name}.pcap").write_bytes(pcap(part))
    return folder


@pytest.fixture(scope="module")
def base(folder):
    return profiled(folder / "whole.pcap")


def without_clocks(found):
    return {place: value for place, value in found.items() if not place.startswith(OF_FILES)}


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_two_files_one_after_the_other_have_the_figures_of_the_capture(order, folder, base):
    found = profiled(*(folder / f"{name}.pcap" for name in order))
    assert different(without_clocks(base), without_clocks(found)) == {}


def test_two_files_of_different_spellings_have_the_figures_of_the_capture(folder, base, packets, tmp_path):
    second = tmp_path / "second.pcapng.zst"
    second.write_bytes(SPELLINGS["Linux cooked"](packets[len(packets) // 3 :]))
    found = profiled(folder / "first.pcap", second)
    assert different(without_clocks(base), without_clocks(found)) == {}


def test_files_that_share_packets_in_turn_lose_what_looks_like_copies(folder, base):
    """An exception: equal packets of two taps are copies (docs/captures.md), and these files are two taps.

    Three acknowledgements of the capture are sent again within the window of 10 ms, each time into the other file.
    """
    found = profiled(folder / "odd.pcap", folder / "even.pcap")
    assert base["counts.skipped.duplicate"] == 0
    assert base["counts.decoded"] - found["counts.skipped.duplicate"] == found["dataset.packets"]
    assert 0 < found["counts.skipped.duplicate"] <= 5


def test_files_that_share_packets_in_turn_have_the_figures_of_the_capture_where_copies_stay(folder, base):
    with read_as("keep"):
        found = profiled(folder / "odd.pcap", folder / "even.pcap")
    assert set(different(without_clocks(base), without_clocks(found))) == {"counts.copies"}


def asked(path):
    answer = mayfly.whatif(
        path, "10mbit", 300, internal=INSIDE, disciplines="fifo", replications=1, overrides={"duration": "30s"}
    )
    own = (".cpu_s", ".path", ".source[0]")
    return {place: value for place, value in figures(answer.summary) if not place.endswith(own)}


def test_joined_again_a_capture_has_the_answer_of_whatif(packets, folder, tmp_path):
    """``whatif`` takes one file: sections of pcapng may follow one another, as ``cat`` joins them."""
    cut = len(packets) // 3
    joined = tmp_path / "joined.pcapng"
    joined.write_bytes(pcapng(packets[:cut]) + with_comments(packets[cut:]))
    expected, found = asked(folder / "whole.pcap"), asked(joined)
    assert len(expected) > 200
    assert different(expected, found) == {}
