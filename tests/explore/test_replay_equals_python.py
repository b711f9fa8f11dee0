"""The list of flows that `crates/replay` makes of a capture is the one of Python, nanosecond by nanosecond."""

from pathlib import Path

import pytest
from packets import FAR, NEAR, write_udp
from replayed_lists import ARCHIVES, RATES_BPS, disturbed, in_archive, of_command, of_rust, write_call

from mayfly.errors import MayflyError

ROOT = Path(__file__).parents[2]
DATA = next((up / "shared/data/pcap" for up in ROOT.parents if (up / "shared").is_dir()), ROOT / "shared/data/pcap")
OFFICE = ROOT / "captures/office.pcap.gz"
TINY = ROOT / "tests/data/tiny.pcapng.gz"


def captures():
    """Captures beside the checkout; one that is not there is skipped visibly."""
    known = sorted(path for path in DATA.rglob("*") if ".pcap" in path.name or ".dmp" in path.name)
    return [OFFICE, TINY, *known] if known else [OFFICE, TINY, DATA]


def in_archives():
    for archive in ARCHIVES if DATA.exists() else ():
        yield from in_archive(DATA / archive)


def differences(ours, theirs, path=""):
    """Where two answers differ: names of columns and the first rows that do."""
    if isinstance(ours, dict):
        assert isinstance(theirs, dict)
        for name in ours:
            yield from differences(ours[name], theirs[name], f"{path}.{name}" if path else name)
    elif ours != theirs:
        if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
            rows = [row for row, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]]
            yield f"{path}: {len(rows)} of {len(ours)} rows: " + "; ".join(
                f"{row}: {ours[row]} / {theirs[row]}" for row in rows[:3]
            )
        else:
            yield f"{path}: {str(ours)[:200]} / {str(theirs)[:200]}"


def check(path, content, internal=None, rates=RATES_BPS, rtts=(None,)):
    """Both lists are equal, or both refuse the capture in the same words; whether there is a list."""
    links = [(rate, rtt) for rate in rates for rtt in rtts]
    try:
        python = [of_command(path, rate, internal, rtt) for rate, rtt in links]
    except MayflyError as error:
        with pytest.raises(ValueError) as refused:
            of_rust(path, content, links, internal)
        assert str(refused.value) == str(error)
        return False
    rust = of_rust(path, content, links, internal)
    for link, ours, theirs in zip(links, python, rust, strict=True):
        names = set(ours)
        found = list(differences(ours, {name: theirs[name] for name in names}))
        assert not found, f"{path}, {link}: python / rust\n" + "\n".join(found)
    return True


def of_office():
    return OFFICE, OFFICE.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name)
def test_the_list_of_a_capture_is_that_of_python(path):
    if not path.is_file():
        pytest.skip("shared/data/pcap is not beside the checkout")
    check(path, path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("internal", [["10.0.0.0/8", "2001::/16"], ["0.0.0.0/1", "::/2"]], ids=lambda one: one[0])
@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name)
def test_named_networks_and_times_are_those_of_python(path, internal):
    if not path.is_file():
        pytest.skip("shared/data/pcap is not beside the checkout")
    check(path, path.read_bytes(), internal, rates=((3_000_000, 400_000),), rtts=(0.03,))


@pytest.mark.slow
def test_strange_captures_give_the_list_or_the_refusal_of_python(tmp_path):
    lists, refusals = 0, 0
    for number, (_, content) in enumerate(in_archives()):
        path = tmp_path / str(number)
        path.write_bytes(content)
        if check(path, content, rates=((2_000_000, 1_000_000),)):
            lists += 1
        else:
            refusals += 1
    if not lists:
        pytest.skip("shared/data/pcap is not beside the checkout")
    assert lists >= 300 and refusals >= 500


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_a_capture_with_holes_and_another_clock_is_that_of_python(number, tmp_path):
    """The office's, of which packets are lost, all times are multiplied, and some are out of order."""
    content = disturbed(OFFICE, number)
    path = tmp_path / "disturbed.pcap"
    path.write_bytes(content)
    assert check(path, content, rates=((10 ** (5 + number // 2), 10 ** (7 - number // 2)),))


def test_a_small_capture_is_that_of_python():
    check(TINY, TINY.read_bytes(), rtts=(None, 0.03))


def test_the_office_is_that_of_python():
    path, content = of_office()
    # More than it carried: the queue is not looked for, which takes a while in Python.
    assert check(path, content, ["10.10.0.0/24"], rates=RATES_BPS[1:2], rtts=(None, 0.05))


def test_a_call_of_the_capture_is_that_of_python(tmp_path):
    path = write_call(tmp_path / "call.pcap")
    assert check(path, path.read_bytes())
    (link,) = of_rust(path, path.read_bytes(), [(RATES_BPS[0], None)])
    assert link["calls"] == [(0, 900), (1, 900)] and link["probes"] == ["ping"]


@pytest.mark.parametrize("internal", [["10.99.0.0/24"], ["10.10.0.1/24"], ["10.10.0.0/33"], []])
def test_networks_that_cannot_be_are_refused_alike(internal):
    path, content = of_office()
    assert not check(path, content, internal, rates=RATES_BPS[1:2])


def test_years_between_packets_are_refused_alike(tmp_path):
    for apart_s in (4e7, 7e7, 2e9):
        path = write_udp(tmp_path / "years.pcap", [(0.0, NEAR, FAR, 1, 2, 9), (apart_s, NEAR, FAR, 3, 4, 9)])
        assert not check(path, path.read_bytes())
