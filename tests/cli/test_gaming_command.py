"""``mayfly gaming``: what it prints and writes, and what it refuses."""

import json

from invocation import mayfly, mayfly_here, refused_here


def test_the_pack_prints_its_tables_and_names_the_report(tmp_path):
    ended = mayfly_here("gaming", "-d", "fifo,efd", "--duration", "3s", "--out", tmp_path / "out")
    assert ended.status == 0, ended.err
    assert ended.err == ""
    for text in ("Who resists what", "spaced: goodput", "split: goodput", "overload: goodput", "efd"):
        assert text in ended.out, ended.out
    assert f"report: {tmp_path / 'out' / 'report.html'}" in ended.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "gaming.parquet",
        "report.html",
        "summary.json",
    ]


def test_one_document_and_nothing_else(tmp_path):
    ended = mayfly("gaming", "overload", "-d", "fifo", "--duration", "2s", "--json", "--out", tmp_path, "--seed", "7")
    assert ended.status == 0 and ended.err == ""
    document = ended.document
    assert document["command"] == "gaming" and document["seed"] == 7
    assert [case["part"] for case in document["cases"]] == ["overload"] * 3
    assert document == json.loads((tmp_path / "summary.json").read_text())


def test_bad_input_is_one_line(tmp_path):
    assert refused_here("gaming", "splits").startswith("part = 'splits': must be one of spaced, split, overload")
    assert "duration = '10q': must be a time" in refused_here("gaming", "--duration", "10q", "--json")
    assert "unknown discipline" in refused_here("gaming", "-d", "nothing", "--duration", "2s")
    assert "cannot be written" in refused_here("gaming", "--out", __file__)
    assert "replications = 0" in refused_here("gaming", "-n", "0")


def test_a_comparison_of_groups_prints_them_below_its_table(tmp_path):
    ended = mayfly_here("compare", "gaming-spaced", "-d", "fifo,las", "--duration", "3s", "--out", tmp_path)
    assert ended.status == 0, ended.err
    assert "Groups of flows: goodput over the fair share" in ended.out
    assert "Groups of flows" in (tmp_path / "report.html").read_text(encoding="utf-8")
    plain = mayfly_here("compare", "wired", "-d", "fifo", "--duration", "3s", "--out", tmp_path)
    assert "Groups" not in plain.out
    assert "<h2>Groups" not in (tmp_path / "report.html").read_text(encoding="utf-8")
