"""Loads of more directions of connections than memory is meant for: rows wait in a file, and all packets count."""

from pathlib import Path

import polars as pl
import pytest
from connection_captures import connection, write_ip

from mayfly.errors import MayflyError
from mayfly.profile.answer import profile
from mayfly.workload.captured import read_captured

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"


def document(captures, monkeypatch, most):
    monkeypatch.setattr("mayfly.profile.table.MOST_VOLUMES", most)
    return profile(captures, bootstrap=0).document()


def test_the_link_of_rows_in_a_file_is_that_of_rows_in_memory(monkeypatch):
    """Before, most packets of a capture with more directions than rows were in no load."""
    stored = document([OFFICE], monkeypatch, 500)
    held = document([OFFICE], monkeypatch, 5_000)
    # Windows of both are as wide.
    assert stored["counts"]["volume_width_s"] == held["counts"]["volume_width_s"] == 0.128
    assert stored["counts"]["volumes_left_out"] == 0
    assert stored == held
    assert stored["link"]["guess"]["down"]["wait_s"] > 0 and stored["link"]["longest_silence_s"] > 0
    carried = sum(way["bytes"] for way in stored["link"]["directions"].values())
    assert carried == stored["account"][0]["used"]["bytes"]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """1,500 connections, some of them open to the end, others answered by nobody."""
    rows = []
    for at in range(1_500):
        client, server = f"10.0.{at % 7}.{at % 50}", f"192.0.2.{at % 9}"
        own = connection(at * 0.05, client, server, port=1024 + at)
        rows += own[:1] if at % 13 == 0 else own
    rows.sort(key=lambda row: row[0])
    return write_ip(tmp_path_factory.mktemp("many") / "many.pcap", rows)


@pytest.mark.parametrize("unanswered", [True, False])
def test_connections_may_leave_as_well(many, monkeypatch, unanswered):
    monkeypatch.setattr("mayfly.workload.captured.most_connections", lambda: 300)
    stored = read_captured([str(many)], max_volumes=200, unanswered=unanswered)
    held = read_captured([str(many)], max_volumes=100_000, unanswered=unanswered)
    assert stored.read.is_stored() and held.read.is_stored()
    assert stored.counts["volume_width_s"] == 0.128 and stored.counts["volumes_left_out"] == 0
    one, other = (pl.DataFrame(found.read.volumes()) for found in (stored, held))
    sums = ("wire_bytes", "packets", "acked_bytes")

    def by_way(volumes):
        grouped = volumes.group_by("connection_id", "side").agg(*(pl.col(name).sum() for name in sums))
        return grouped.sort("connection_id", "side")

    assert by_way(one).equals(by_way(other)) and one.height > 1_500


def test_the_file_goes_with_the_folder(many):
    found = read_captured([str(many)], max_volumes=200)
    files = list(Path(found.folder.name).glob("*.volumes"))
    assert len(files) == 1 and files[0].stat().st_size % 48 == 0
    found.folder.cleanup()
    assert not files[0].exists()
    with pytest.raises(OSError, match="No such file"):
        found.read.volumes()


def test_no_room_for_the_file_is_one_line(many, monkeypatch, tmp_path):
    class Folder:
        name = str(tmp_path / "gone")

    monkeypatch.setattr("mayfly.workload.captured.WaitingFolder", Folder)
    line = r"^\S*gone: has no room for loads beyond memory, set TMPDIR to another folder: No such file or directory$"
    with pytest.raises(MayflyError, match=line):
        read_captured([str(many)], max_volumes=200)
