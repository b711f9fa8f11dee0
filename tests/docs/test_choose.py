"""The figures of docs/how-to/choose.md are those of its command."""

import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from invocation import mayfly_here

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "choose.md").read_text(encoding="utf-8")


def shown(seconds):
    """As the table writes a time."""
    return f"{1000 * seconds:.0f} ms" if seconds < 0.2 else f"{seconds:.2f} s"


@pytest.mark.slow
def test_the_table_of_the_office_is_what_its_command_gives(tmp_path, monkeypatch):
    (tmp_path / "captures").symlink_to(ROOT / "captures")
    monkeypatch.chdir(tmp_path)
    command = shlex.split(re.search(r"^\$ mayfly (whatif .* --out choose)$", PAGE, re.MULTILINE)[1])
    assert mayfly_here(*command).status == 0
    flows = pl.read_parquet("choose/flows.parquet").with_columns(pl.col("response_time_s").fill_null(float("inf")))
    lines = []
    for row in json.loads(Path("choose/summary.json").read_text(encoding="utf-8"))["disciplines"]:
        own = flows.filter(pl.col("discipline") == row["label"], pl.col("protocol") == "tcp")
        short = own.filter(pl.col("size_bytes") <= 100_000)["response_time_s"]
        long = own.filter(pl.col("size_bytes") > 1_000_000)["response_time_s"]
        cells = [shown(short.quantile(0.5)), shown(short.quantile(0.95)), shown(long.quantile(0.5))]
        cells += [f"{1000 * row['queueing_delay']['mean_s']:.0f} ms", f"{row['drops']:,}"]
        lines.append(f"| `{row['label']}` | {' | '.join(cells)} |")
    assert lines == re.findall(r"^\| `\w+` \| \d.*\|$", PAGE, re.MULTILINE)


def test_every_situation_has_its_evidence():
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE.partition("## A link")[0], re.MULTILINE)[2:]
    assert len(rows) >= 7
    assert all("](" in evidence for *_, evidence in rows)


def test_the_words_people_search_for_are_there():
    pages = {name: (ROOT / "docs" / name).read_text(encoding="utf-8").lower() for name in ("index.md", "glossary.md")}
    for word in ("bufferbloat", "latency under load"):
        assert word in PAGE.lower() and all(word in text for text in pages.values())
    assert "qoe" in PAGE.lower() and "qoe" in pages["glossary.md"]
