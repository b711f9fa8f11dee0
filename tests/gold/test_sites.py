"""Connections of a capture, their classes and the site that they belong to are those of ``tests/data/gold``."""

from pathlib import Path

import polars as pl
import pytest
from gold import at_once, check, shared, table
from site_captures import SITES, pairs, written
from test_lists_of_captures import OFFICE, SHARED, TINY

from mayfly.errors import MayflyError
from mayfly.profile.listed import listed


def holds(case: str, capture: Path, folder: Path, internal: list[str] | None = None) -> None:
    """Compares the document of ``mayfly profile --connections`` and its table."""
    try:
        found = listed([capture], internal=internal)
    except MayflyError as refused:
        result = {"refused": str(refused).replace(str(capture), "CAPTURE")}
    else:
        document = found.document()
        del document["captures"]
        # It has tests of its own (tests/workload/test_account.py).
        del document["account"]
        # Counted in a table that forgets some by a key drawn for each reading (docs/captures.md).
        document["counts"] = {name: count for name, count in document["counts"].items() if name != "copies"}
        frame = pl.read_parquet(found.write(folder)["connections"])
        columns = table(frame)
        # Of many captures in one digest.
        connections = at_once(columns) if case in SHARED else columns
        result = {
            "document": document,
            "sentences": [said for said in found.sentences() if not said.startswith("What this capture cannot")],
            "connections": connections,
        }
    check("sites", case + ("" if internal is None else f", internal {' '.join(internal)}"), result)


@pytest.mark.parametrize("internal", [None, ["10.10.0.0/24"], ["10.10.0.0/28", "2001:db8::/32"]])
def test_the_office_gives_its_connections(tmp_path, internal):
    holds("office", OFFICE, tmp_path, internal)


def test_a_file_of_several_interfaces_gives_its_connections(tmp_path):
    holds("tiny", TINY, tmp_path)


@pytest.mark.parametrize("kind", SITES)
def test_sites_are_found(tmp_path, kind):
    capture = written(tmp_path / "site.pcap", pairs(SITES[kind]))
    holds(kind, capture, tmp_path)
    holds(kind, capture, tmp_path, ["8.0.0.0/7", "10.0.0.0/8", "2001:db8::/32", "16.0.0.0/4"])


@pytest.mark.parametrize("internal", [["192.0.2.0/24"], ["10.0.0.1/8"], ["10.10.0.0/33"], []])
def test_networks_that_cannot_be_are_refused(tmp_path, internal):
    holds("office", OFFICE, tmp_path, internal)


@pytest.mark.parametrize("internal", [None, ["10.0.0.0/8", "2001::/16"]], ids=["found", "named"])
@pytest.mark.parametrize("name", SHARED)
def test_captures_give_their_connections(tmp_path, name, internal):
    holds(name, shared(name), tmp_path, internal)
