"""Scripts and bursts are data between a source of flows and the figures: their text is for files alone."""

from pathlib import Path

import polars as pl
import pytest

import mayfly
from mayfly import _native
from mayfly.workload.bursts import BURSTS
from mayfly.workload.scripts import SCRIPT

TINY = Path(__file__).parents[1] / "data" / "tiny.pcapng.gz"
TEXT = ("parse_scripts", "write_scripts", "parse_bursts", "write_bursts")


@pytest.fixture
def textless(monkeypatch):
    """Reading or writing the text of a script or of bursts is an error."""

    def refuse(*_):
        raise AssertionError("text of a script or of bursts")

    for name in TEXT:
        monkeypatch.setattr(_native, name, refuse)


@pytest.mark.usefixtures("textless")
@pytest.mark.parametrize("form", ["users", "trains", "packets", "transfers"])
def test_whatif_reads_and_writes_no_text(form):
    found = mayfly.whatif(TINY, "2mbit", 50, disciplines=["fifo", "fq_codel"], replay=form)
    records = found.records
    assert len(found.summary["disciplines"]) == 2
    kinds = {name: records.schema[name] for name in ("script", "bursts") if name in records.columns}
    assert kinds == {name: kind for name, kind in (("script", SCRIPT), ("bursts", BURSTS)) if name in kinds}
    # Of a capture with TCP and UDP each form but that of transfers has one of the two.
    assert kinds or form == "transfers"


@pytest.mark.usefixtures("textless")
@pytest.mark.parametrize("name", ["pages", "household"])
def test_compare_and_simulate_read_and_write_no_text(name):
    scenario = mayfly.load_scenario(name, {"duration": "5s"})
    assert SCRIPT in mayfly.compare(scenario, "fifo,efd").records.schema.values()
    assert SCRIPT in mayfly.run(scenario, "fifo").records.schema.values()


def test_text_is_read_where_a_user_gives_it_and_written_where_files_are(tmp_path, monkeypatch):
    calls = []
    for name in TEXT:
        own = getattr(_native, name)
        monkeypatch.setattr(_native, name, lambda *given, name=name, own=own: calls.append(name) or own(*given))
    texts = ["up 400 | wait 20ms | down 9000 | done", None]
    flows = pl.DataFrame(
        {"start_s": [0.0, 0.0], "protocol": ["tcp", "udp"], "script": texts, "bursts": [None, "0:1000x20/0.01"]}
    )
    found = mayfly.compare(mayfly.load_scenario("wired", {"duration": "5s"}), "fifo,efd", flows)
    assert sorted(calls) == ["parse_bursts", "parse_scripts"]
    files = found.write(tmp_path, report=False)
    assert sorted(calls[2:]) == ["write_bursts", "write_scripts"]
    written = pl.read_parquet(files["flows"]).filter(discipline="fifo").sort("flow_id")
    assert written["script"].to_list() == texts and written["bursts"].to_list() == [None, "0:1000x20/0.01"]
