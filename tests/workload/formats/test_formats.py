"""The registry of formats: told by content, written by name, from one to the other."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.workload.formats.convert import converted
from mayfly.workload.formats.registry import FORMATS, read_flows_any, rows, write_flows_as
from mayfly.workload.lists import flow_list

OFFICE = Path(__file__).parents[3] / "captures" / "office.pcap.gz"


@pytest.fixture
def flows():
    return flow_list(
        pl.DataFrame(
            {
                "start_s": [0.0, 0.5, 0.75],
                "src": [1, 1, 2],
                "dst": [8, 9, 8],
                "direction": ["down", "up", "down"],
                "protocol": ["tcp", "tcp", "udp"],
                "size_bytes": [2920, None, 5000],
                "rate_bps": [None, None, 1e6],
                "script": [None, "up 400 | wait 20ms | down 14600", None],
            }
        )
    )


def test_every_row_of_the_registry_is_whole():
    for name, row in FORMATS.items():
        assert name == row.id and row.title and row.holds and row.source
        assert row.read or row.write
        assert bool(row.suffixes) <= (row.write is not None)
    assert [row["id"] for row in rows()] == list(FORMATS)


@pytest.mark.parametrize("name", ["flows.csv", "flows.csv.gz", "flows.parquet"])
def test_our_own_formats_hold_everything(name, flows, tmp_path):
    assert write_flows_as(flows, tmp_path / name) == []
    assert read_flows_any(tmp_path / name).equals(flows)


def test_content_tells_the_format_whatever_the_name(flows, tmp_path):
    write_flows_as(flows, tmp_path / "flows.dat", "parquet")
    assert read_flows_any(tmp_path / "flows.dat").equals(flows)


def test_a_capture_is_a_list_of_its_flows(tmp_path):
    found = converted(OFFICE, tmp_path / "office.csv.gz", internal=["10.10.0.0/24"])
    assert found.document()["flows"] == 1407
    assert gzip.decompress((tmp_path / "office.csv.gz").read_bytes()).startswith(b"flow_id,start_s")
    assert read_flows_any(tmp_path / "office.csv.gz").equals(found.flows)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target": "x.foo"}, "x.foo: the name must end in .csv"),
        ({"from_format": "csw"}, "format = csw: must be one of csv,"),
        ({"to_format": "pcap"}, "format = pcap: must be one of csv,"),
        ({"mss": 0}, "mss = 0: must be a whole number from 1 to 65535 bytes"),
        ({"internal": ["x"]}, "internal = 'x': must be a network"),
        ({"source": "none.csv"}, "none.csv: no such file"),
        ({"target": "none/x.csv"}, "none/x.csv: cannot be written"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(given, said, flows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_flows_as(flows, "flows.csv")
    with pytest.raises(MayflyError) as told:
        converted(**({"source": "flows.csv", "target": "x.csv"} | given))
    assert said in str(told.value) and "\n" not in str(told.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flows.csv"]


def test_what_no_format_knows_is_refused_as_a_flow_list(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("some words\nand more\n")
    with pytest.raises(MayflyError, match="none of its columns is known"):
        read_flows_any(path)
    path.write_bytes(b"")
    with pytest.raises(MayflyError, match="the file is empty"):
        read_flows_any(path)
    path.write_bytes(gzip.compress(b"start_s,size_bytes\n0,1\n" * 1000)[:30])
    with pytest.raises(MayflyError, match="cannot be read"):
        read_flows_any(path)
