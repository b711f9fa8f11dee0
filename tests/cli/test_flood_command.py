"""``mayfly flood``: what it prints and writes, and what it refuses."""

import json
from pathlib import Path

from invocation import mayfly, mayfly_here, refused_here


def test_a_table_per_case_and_the_name_of_the_file(tmp_path):
    ended = mayfly_here("flood", "-d", "fifo,efd", "--duration", "6s", "--out", tmp_path / "out")
    assert ended.status == 0, ended.err
    for text in ("No flood", "22 CBR flows in step", "14 CBR flows staggered", "efd"):
        assert text in ended.out, ended.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "flood.parquet",
        "report.html",
        "summary.json",
    ]
    assert "report: " in ended.out


def test_a_shared_library_stands_beside_the_report(tmp_path):
    ended = mayfly_here("flood", "-d", "fifo", "--duration", "6s", "--out", tmp_path, "--assets", "shared", "--json")
    assert ended.status == 0, ended.err
    library = Path(ended.document["files"]["assets"])
    assert library.parent == tmp_path / "mayfly-assets" and library.stat().st_size > 1_000_000
    assert (tmp_path / "report.html").stat().st_size < 200_000


def test_one_document_and_nothing_else(tmp_path):
    ended = mayfly("flood", "-d", "fifo", "--duration", "6s", "--json", "--out", tmp_path, "--seed", "7")
    assert ended.status == 0 and ended.err == ""
    assert ended.document["command"] == "flood" and ended.document["seed"] == 7
    assert ended.document == json.loads((tmp_path / "summary.json").read_text())


def test_mistakes_are_one_line(tmp_path):
    refused_here("flood", "-d", "nothing", "--out", tmp_path)
    refused_here("flood", "--duration", "0s", "--out", tmp_path)
    refused_here("flood", "--assets", "linked", "--out", tmp_path)
