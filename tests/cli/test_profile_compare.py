"""``mayfly profile compare``."""

import json
from pathlib import Path

from invocation import mayfly_here, refused_here

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "data" / "agreement" / "tcptrace.csv"
OFFICE = ROOT / "captures" / "office.pcap.gz"


def test_table_sentences_and_document_say_the_same():
    shown = mayfly_here("profile", "compare", OFFICE, SAMPLE)
    assert shown.status == 0 and "4 connections in both, 519 only in mayfly" in shown.out, shown.err
    document = json.loads(mayfly_here("profile", "compare", OFFICE, SAMPLE, "--json", "--worst", "1").out)
    assert document["matched"] == 4 and len(document["worst"]) == 1
    assert document["a"] == {"tool": "mayfly", "file": "office.pcap.gz", "connections": 707}


def test_what_no_tool_wrote_is_refused(tmp_path):
    (tmp_path / "x").write_text("words\n")
    assert "of no known tool" in refused_here("profile", "compare", OFFICE, tmp_path / "x", "--json")
