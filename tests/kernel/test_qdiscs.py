"""What every queue discipline of ours has to do in the kernel; the checks themselves are in kernel/uml/qdiscs.py."""

import dataclasses
import re
from functools import cache

import guest
import pytest
import qdiscs

pytestmark = pytest.mark.kernel

CHECKS = re.findall(r"^@check\ndef (\w+)", (guest.UML / "qdiscs.py").read_text(), re.MULTILINE)


@cache
def checked(row: qdiscs.Row) -> dict:
    return guest.run("qdiscs.py", {"row": dataclasses.asdict(row)}, modules=(row.module,))


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("row", qdiscs.ROWS, ids=lambda row: row.id)
def test_check(row, name):
    failure = checked(row)["results"][name]
    assert failure is None, failure


@pytest.mark.parametrize("row", qdiscs.ROWS, ids=lambda row: row.id)
def test_nothing_leaks(row):
    # Only the kernel of config.kasan looks for leaks (make test-kernel-kasan).
    leaks = checked(row)["leaks"]
    names = "|".join(one.id for one in qdiscs.ROWS)
    assert not re.search(rf"\b(mf|{names})_", leaks), leaks
