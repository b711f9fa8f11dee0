"""One declaration of each column: what crosses the border, what is written and what the docs say agree with it."""

import json
import re
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

from mayfly import _native
from mayfly.comparison.comparison import run
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.tables import FILES, FLOWS
from mayfly.tables import Column, Table, native
from mayfly.tables.table import DTYPES
from mayfly.workload.connections import CONNECTIONS, read_captures
from mayfly.workload.lists import COLUMNS, FLOW_LIST

ROOT = Path(__file__).parents[2]
NATIVE = [table["name"] for table in json.loads(_native.table_schema())]
PAGE = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```\{columns\} (\S+):(\S+)", PAGE)


def complete(table: Table) -> None:
    names = [column.name for column in table.columns]
    assert len({*names}) == len(names)
    for column in table.columns:
        assert column.type in DTYPES or column.type == "string or int64", column
        # A sentence that stands by itself in the documentation.
        assert column.meaning.endswith(".") and not column.meaning.startswith(" "), column
        assert 1 <= column.since <= table.version


@pytest.mark.parametrize("name", NATIVE)
def test_every_native_column_has_a_type_and_a_meaning(name):
    complete(native(name))


@pytest.mark.parametrize(("module", "name"), SHOWN)
def test_every_table_of_the_page_is_declared_in_full(module, name):
    complete(getattr(import_module(module), name))


def test_the_page_shows_every_table_that_a_run_writes_and_has_none_of_its_own():
    shown = {getattr(import_module(module), name).name for module, name in SHOWN}
    assert shown >= {*FILES} - {"drops"}
    assert "| column |" not in PAGE


def test_a_written_table_has_the_declared_columns_and_says_what_they_mean(tmp_path):
    flows = pl.DataFrame({"start_s": [0.0, 0.5], "size_bytes": [50_000, 3_000], "group": ["a", None]})
    scenario = load_scenario("wired", {"duration": "5s", "trace": ["0"], "subflows": True, "workload.load": None})
    files = run(scenario, "efd", flows, trace_drops=True).write(tmp_path, report=False)
    for key in ("flows", "samples", "packets", "timeouts", "subflows", "drops"):
        table, kept = FILES[key], pl.read_parquet(files[key])
        expected = [column.name for column in table.columns if not column.optional or column.name in kept.columns]
        assert kept.columns == expected, key
        assert {name: kept.schema[name] for name in kept.columns if name in table.schema} == {
            name: dtype for name, dtype in table.schema.items() if name in kept.columns
        }
        told = pl.read_parquet_metadata(files[key])
        assert (told["mayfly.table"], told["mayfly.schema"]) == (table.name, str(table.version))
        meanings = json.loads(told["mayfly.columns"])
        assert {*kept.columns} <= {*meanings} and all(row["meaning"] for row in meanings.values())
        for column in table.columns:
            if column.name in kept.columns and not column.nullable and column.name not in ("src", "dst"):
                assert column.optional or kept[column.name].null_count() == 0, (key, column.name)


def test_native_tables_carry_unit_and_meaning_to_whoever_reads_arrow():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pyarrow.table(_native.JobServer([("fcfs", float("inf"))]).finish(1.0))
    field = table.schema.field("response_time")
    assert (field.metadata[b"unit"], field.metadata[b"since"]) == (b"s", b"1") and field.metadata[b"meaning"]


def test_a_table_may_be_taken_more_than_once_and_knows_its_length():
    server = _native.JobServer([("fcfs", float("inf"))])
    ones = memoryview(b"").cast("B")
    assert len(ones) == 0
    left = server.finish(1.0)
    assert len(left) == 0
    assert pl.DataFrame(left).schema == pl.DataFrame(left).schema == native("jobs").schema


def test_the_flow_list_is_declared_with_its_bounds():
    assert [column.name for column in FLOW_LIST.columns] == [*COLUMNS]
    assert [column.name for column in FLOW_LIST.columns if not column.optional] == ["start_s"]


def test_connections_read_have_the_declared_columns():
    reading = read_captures(ROOT / "captures" / "office.pcap.gz")
    assert dict(reading.connections.schema) == CONNECTIONS.schema
    assert CONNECTIONS.metadata()["mayfly.schema"] == "5"


def test_a_flow_record_is_declared_once():
    """The doc comment of the field in Rust is the meaning in the docs and in the files."""
    source = " ".join(
        (ROOT / "crates/netsim/src/out/records.rs").read_text(encoding="utf-8").replace("///", "").split()
    )
    for column in native("flows").columns:
        if not column.name.startswith("queue_"):
            assert " ".join(column.meaning.split()) in source, column.name
    assert {column.name for column in native("flows").columns} - {"begun_s"} <= {c.name for c in FLOWS.columns}


def test_markdown_escapes_what_would_end_a_cell():
    table = Table("one", (Column("a", "int64", "s", "This | that.", nullable=True, optional=True),))
    assert table.markdown().splitlines()[-1] == "| `a` ? | int64? | s | This \\| that. |"
