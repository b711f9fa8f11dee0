"""One capture in many spellings has the same figures, digit for digit."""

import pytest
from spellings import SPELLINGS, figures, packets_of, pcap

import mayfly

INSIDE = ["10.10.0.0/24"]
OF_THE_FILE = ("captures", "counts.taps", "counts.link_types", "counts.nanoseconds")
"""What a profile says of the file itself: its name, interfaces, link types, and that microseconds were none."""


def profiled(*paths):
    document = mayfly.profile(paths if len(paths) > 1 else paths[0], internal=INSIDE).document()
    return {place: value for place, value in figures(document) if not place.startswith(OF_THE_FILE)}


NAMES = "account[0].source"
"""Names of files differ."""


def different(expected, found):
    return {
        place: (expected.get(place), found.get(place))
        for place in expected | found
        if expected.get(place) != found.get(place) and not place.startswith(NAMES)
    }


@pytest.fixture(scope="module")
def packets():
    return packets_of()


@pytest.fixture(scope="module")
def base(packets, tmp_path_factory):
    path = tmp_path_factory.mktemp("base") / "base.pcap"
    path.write_bytes(pcap(packets))
    found = profiled(path)
    assert len(found) > 3000
    return found


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_spelling_of_a_capture_has_its_figures(name, packets, base, tmp_path):
    path = tmp_path / "capture"
    path.write_bytes(SPELLINGS[name](packets))
    assert different(base, profiled(path)) == {}


def test_a_capture_of_another_day_has_the_figures_and_another_date(packets, base, tmp_path):
    days, path = 1000, tmp_path / "capture.pcap"
    path.write_bytes(pcap([one._replace(at_ns=one.at_ns - days * 86_400 * 10**9) for one in packets]))
    found = different(base, profiled(path))
    assert set(found) == {"dataset.date", "counts.first_epoch_s"}
    before, after = found["counts.first_epoch_s"]
    assert before - after == days * 86_400
