"""Scripts of packetdrill on the TCP of the guest: whether the interpreter plays them as packetdrill does."""

import sys
from pathlib import Path

import guest
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from packetdrill import page, results

pytestmark = pytest.mark.kernel
FRAGMENT = "config.packetdrill"


def on_kernel(cases: list[results.Case], common: Path) -> list[results.Verdict]:
    return results.on_kernel(cases, common, lambda module, given: guest.run(module, given, fragment=FRAGMENT))


@pytest.mark.parametrize("column", results.KERNELS)
def test_scripts_keep_their_verdicts_on_the_kernel(monkeypatch, column):
    monkeypatch.setenv("MAYFLY_KERNEL", results.KERNELS[column])
    if column not in page.played(results.recorded()):
        pytest.skip("nothing is recorded: MAYFLY_KERNEL=newest python benchmarks/packetdrill --kernel --record")
    guest.kernel(FRAGMENT)
    if not results.GTESTS.is_dir():
        pytest.skip("../shared/packetdrill, scripts that packetdrill comes with, is not here")
    try:
        common = results.selftests(guest.CACHE)
    except results.UnavailableError as why:
        pytest.skip(str(why))
    groups = results.scope()
    cases = [*results.cases("gtests", results.GTESTS), *results.cases("selftests", common)]
    verdicts = on_kernel([case for case in cases if "out" not in groups[case.group]], common)
    assert not results.changes(verdicts, column)
