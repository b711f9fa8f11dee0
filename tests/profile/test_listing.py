"""`mayfly profile --connections` by the compiled module beside tables of Python; what does not fit into memory."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from site_captures import SITES, SYN, exchange, packet, pairs, written

from mayfly.errors import MayflyError
from mayfly.limits import limits
from mayfly.profile.answer import profile
from mayfly.profile.listed import Listed, listed
from mayfly.profile.listing import listing
from mayfly.profile.sentences import summed_up
from mayfly.workload.connections import read_connections
from mayfly.workload.reading import CONNECTION_BYTES, most_connections, most_open

ROOT = Path(__file__).parents[2]
OFFICE, TINY = ROOT / "captures/office.pcap.gz", ROOT / "tests/data/tiny.pcapng.gz"


FOUND = {
    "a network": ("network", ["8.1.1.0/24"], (0, 40, 0), 40),
    "a network of IPv6": ("network", ["2001:db8:1::/64"], (0, 39, 0), 39),
    "openers": ("openers", [], (0, 40, 0), 40),
    "servers of the site": ("private", [], (1, 1, 0), 40),
    "private and IPv6": ("private", [], (1, 3, 0), 1),
    "multicast": ("private", [], (0, 1, 0), 1),
}
"""Of each: how the site is found, its networks, its servers, clients and other hosts, and how many hosts are beyond."""


def same(captures: list[Path], folder: Path, internal: list[str] | None = None) -> None:
    ours, theirs = listed(captures, internal=internal), listing(captures, internal=internal)
    assert isinstance(ours, Listed)
    assert json.dumps(ours.document()) == json.dumps(theirs.document())
    files = [found.write(folder / name) for name, found in (("ours", ours), ("theirs", theirs))]
    frames = [pl.read_parquet(each["connections"]) for each in files]
    assert_frame_equal(*frames)
    metadata = [pl.read_parquet_metadata(each["connections"]) for each in files]
    for key in ("mayfly.table", "mayfly.schema"):
        assert metadata[0][key] == metadata[1][key]
    for key in ("mayfly.columns", "mayfly.counts"):
        assert json.loads(metadata[0][key]) == json.loads(metadata[1][key])
    assert read_connections(files[0]["connections"])[0].equals(read_connections(files[1]["connections"])[0])


@pytest.mark.parametrize("internal", [None, ["10.10.0.0/24"], ["10.10.0.0/28", "2001:db8::/32"]])
def test_an_office_is_listed_as_by_python(tmp_path, internal):
    same([OFFICE], tmp_path, internal)


def test_a_file_of_several_interfaces_is_listed_as_by_python(tmp_path):
    same([TINY], tmp_path)


@pytest.mark.parametrize("kind", SITES)
def test_sites_are_told_as_by_python(tmp_path, kind):
    capture = written(tmp_path / "site.pcap", pairs(SITES[kind]))
    same([capture], tmp_path)
    found_by, networks, roles, beyond = FOUND[kind]
    found = listed([capture])
    assert (found.site["found_by"], found.site["networks"]) == (found_by, networks)
    assert tuple(found.site[role] for role in ("server", "client", "unknown")) == roles
    assert found.dataset["remote_hosts"] == beyond


@pytest.mark.parametrize("kind", SITES)
def test_hosts_that_memory_does_not_hold_are_told_from_files(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("mayfly.profile.listed.most_hosts", lambda: 3)
    capture = written(tmp_path / "site.pcap", pairs(SITES[kind]))
    same([capture], tmp_path)
    same([capture], tmp_path, ["8.0.0.0/7", "10.0.0.0/8", "2001:db8::/32", "16.0.0.0/4"])


@pytest.mark.parametrize("most", [None, 3])
def test_what_no_capture_answers_is_refused_as_by_python(tmp_path, monkeypatch, most):
    monkeypatch.setattr("mayfly.profile.listed.most_hosts", lambda: most)
    for internal in (["192.0.2.0/24"], ["10.0.0.1/8"]):
        said = []
        for call in (listed, listing):
            with pytest.raises(MayflyError) as caught:
                call([OFFICE], internal=internal)
            said.append(str(caught.value))
        assert said[0] == said[1]
    with pytest.raises(MayflyError, match="no connection to profile: no packet in it"):
        listed([written(tmp_path / "empty.pcap", [])])


@pytest.fixture
def memory(monkeypatch):
    """Sets a limit of memory that holds so many connections, and none that ends the reading."""

    def limited(connections: int) -> None:
        monkeypatch.setattr("mayfly.profile.listed.most_connections", lambda: connections)
        monkeypatch.setattr("mayfly.profile.table.most_connections", lambda: connections)
        monkeypatch.setattr("mayfly.workload.captured.most_connections", lambda: connections)

    return limited


def test_the_limit_of_memory_tells_how_many_connections_are_held(monkeypatch):
    # Commands that other tests ran in this process may have left theirs.
    monkeypatch.setattr(limits, "memory_bytes", None)
    assert (most_connections(), most_open()) == (2**32 - 2, 1_000_000)
    monkeypatch.setattr(limits, "memory_bytes", 2_000_000_000)
    assert 500_000 < most_connections() < 0.4 * 2e9 / CONNECTION_BYTES
    # What bounds all that are held bounds the open ones.
    assert most_open() == 2**32 - 2
    monkeypatch.setattr(limits, "memory_bytes", 10)
    assert most_connections() == 1_000


def test_connections_that_do_not_fit_into_memory_are_listed_all_the_same(tmp_path, memory):
    rows = [
        row for at in range(500) for row in exchange(2_000 * at, f"10.0.{at % 7}.{at % 50}", "192.0.2.1", 5000 + at)
    ]
    capture = written(tmp_path / "many.pcap", rows)
    whole = listing([capture])
    memory(20)
    found = listed([capture])
    assert (Path(found._folder.name) / "left.parquet").exists()
    assert found.counts["evicted"] == found.counts["unanswered"]["connections"] == 0
    assert found.dataset == whole.document()["dataset"] and found.site == whole.document()["site"]
    assert not any("in no row" in sentence for sentence in found.sentences())
    path = found.write(tmp_path / "out")["connections"]
    assert_frame_equal(pl.read_parquet(path).sort("connection_id"), whole.frame)
    frame, _ = read_connections(path)
    assert frame["connection_id"].to_list() == list(range(500))


def test_a_flood_is_summed_up_and_said(tmp_path, memory):
    flood = [(at * 10, packet(f"2.{at // 250}.{at % 250}.9", "10.0.0.1", (5000, 80), at, 0, SYN)) for at in range(3000)]
    capture = written(tmp_path / "flood.pcap", flood + exchange(29_000, "10.0.0.5", "10.0.0.1", 6000))
    memory(100)
    found = listed([capture])
    assert found.counts["unanswered"] == {"connections": 2901, "packets": 2901, "bytes": 2901 * 40}
    assert found.dataset["connections"] == 100
    said = "2,901 connections that nobody answered (scans, floods: 2,901 packets, 116 kB) are in no row"
    assert found.sentences()[-1] == said
    assert said in [str(sentence) for sentence in summed_up(found.counts, listed=False)]
    whole = profile([capture], bootstrap=0)
    assert whole.connections.counts["unanswered"]["connections"] == 2901
    # Lists have all of them in a file.
    assert listing([capture], whole=True).columns.height == 3_001


def test_files_that_follow_one_another_are_profiled_as_one(tmp_path):
    """Whatever the order of the names, and compressed or not."""
    rows = [row for at in range(300) for row in exchange(7_000 * at, f"10.0.0.{at % 50}", "192.0.2.1", 5000 + at)]
    rows.sort(key=lambda row: row[0])
    one = written(tmp_path / "one.pcap", rows)
    parts = []
    for place, (begin, end) in enumerate([(0, 500), (500, 501), (501, 1300), (1300, len(rows))]):
        part = written(tmp_path / f"part-{9 - place}.pcap", rows[begin:end])
        zipped = part.with_suffix(".pcap.gz")
        zipped.write_bytes(gzip.compress(part.read_bytes()))
        parts.append(zipped if place % 2 else part)
    ours, theirs = profile(sorted(parts), bootstrap=0), profile([one], bootstrap=0)
    assert ours.frame.equals(theirs.frame)
    documents = [dict(found.document()) for found in (ours, theirs)]
    for document in documents:
        document["captures"] = None
        document["account"] = [document["account"][0] | {"source": None}]
        document["counts"] = document["counts"] | {"clocks": None}
    assert documents[0] == documents[1]
