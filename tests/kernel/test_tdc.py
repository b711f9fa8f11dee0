"""The cases of kernel/tdc, which are in the kernel's own format, run by the kernel's own driver in the guest."""

import json
import subprocess
from functools import cache
from pathlib import Path

import guest
import pytest
import qdiscs

pytestmark = pytest.mark.kernel

TDC = qdiscs.TDC
FILES = sorted(TDC.glob("*.json"))


@cache
def driver() -> str:
    done = subprocess.run([TDC / "fetch.sh", Path(guest.kernel()).parent], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_discipline_has_its_cases_and_no_two_share_an_id():
    modules = {file.stem.removeprefix("sch_") for file in guest.KERNEL.glob("sch_*.c")} - {"common"}
    assert {file.stem for file in FILES} == modules == {row.id for row in qdiscs.ROWS}
    assert {row.id for row in qdiscs.KNOWN} <= modules


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_cases_alone_tell_options_that_are_taken_and_refused(file):
    row = qdiscs.from_cases(file.stem)
    assert len(row.options) > 5 and len(row.refused) > 5
    assert all(option and pattern for option, _, pattern in row.options)
    ids = [case["id"] for file in FILES for case in json.loads(file.read_text())]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_all_cases_pass(file):
    cases = json.loads(file.read_text())
    found = guest.run("tdc.py", {"driver": driver(), "files": [str(file)]}, modules=(f"sch_{file.stem}",))
    assert [row["id"] for row in found["results"]] == [case["id"] for case in cases], found["output"][-3000:]
    bad = [row for row in found["results"] if row["outcome"] != "ok"]
    assert not bad and found["status"] == 0, f"{bad}\n{found['output'][-3000:]}"
