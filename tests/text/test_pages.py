"""Long tables whose values are pages of a file are equal to those in memory."""

from pathlib import Path

import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.text import pages
from mayfly.text.pages import in_pages


def table(rows):
    script = [{"up": True, "size_bytes": 400, "parts": [1, 2]}, {"up": False, "size_bytes": 9, "parts": []}]
    return pl.DataFrame(
        {
            "number": range(rows),
            "time_s": [None, 0.5] * (rows // 2),
            "short": ["tcp", "udp"] * (rows // 2),
            "host": ["2001:db8::1:2:3:4", None] * (rows // 2),
            "over": [True, None] * (rows // 2),
            "script": [script, None] * (rows // 2),
            "nothing": pl.Series([None] * rows, dtype=pl.String),
        }
    )


@pytest.fixture(autouse=True)
def long(monkeypatch):
    monkeypatch.setattr(pages, "LONG", 10)


def test_a_long_table_is_equal_and_its_file_gone(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = table(1_000)
    found = in_pages(made)
    assert found.equals(made) and found.schema == made.schema
    assert list(tmp_path.iterdir()) == []
    assert found["script"].list.len().sum() == 1_000 and found["number"].to_numpy()[-1] == 999


def test_parts_and_cut_rows_are_those_of_the_table():
    made = pl.concat([table(100)[3:], table(50), table(100)[:7]])
    assert made.n_chunks() == 3
    found = in_pages(made)
    assert found.equals(made)
    # What is done with its rows later does not ask where they are.
    assert found.filter(pl.col("number") > 90).equals(made.filter(pl.col("number") > 90))
    assert found.with_columns(found["script"].list.len().alias("count")).equals(
        made.with_columns(made["script"].list.len().alias("count"))
    )


def test_a_short_table_stays_where_it_is():
    made = table(8)
    assert in_pages(made) is made


def test_no_room_for_the_file_is_one_line(monkeypatch, tmp_path):
    class Folder:
        name = str(tmp_path / "gone")

        def cleanup(self) -> None:
            pass

    monkeypatch.setattr(pages, "WaitingFolder", Folder)
    line = r"^\S*gone: has no room for tables beyond memory, set TMPDIR to another folder: No such file[^\n]*$"
    with pytest.raises(MayflyError, match=line):
        in_pages(table(20))


def test_a_replay_in_pages_has_the_same_figures(monkeypatch):
    import mayfly

    office = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
    given = {"internal": "10.10.0.0/24", "disciplines": "fifo,fq_codel", "replications": 1}
    found = mayfly.whatif(office, "10mbit", 300, overrides={"duration": "60s"}, **given)
    monkeypatch.setattr(pages, "LONG", 1 << 40)
    held = mayfly.whatif(office, "10mbit", 300, overrides={"duration": "60s"}, **given)
    assert found.records.equals(held.records) and found.trains.equals(held.trains)
    timed = ("cpu_s",)

    def figures(document):
        if isinstance(document, dict):
            return {key: figures(value) for key, value in document.items() if key not in timed}
        return [figures(one) for one in document] if isinstance(document, list) else document

    assert figures(found.summary) == figures(held.summary)
