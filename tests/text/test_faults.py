"""Commands on a disk that fails, is full, writes in part, or outlives the process.

Nothing is half-written, nothing that was stored is lost, what is wrong is one line, and the same command ends
well when it runs again.
"""

from collections import Counter

import faults
import pytest
from fault_trials import cases, trials, unsafe_at_power_cut

pytestmark = pytest.mark.skipif(
    faults.compiler() is None, reason="no C compiler, or no Linux: nothing can be preloaded"
)

COMMANDS = ("compare", "compare --assets shared", "sweep", "profile")

SAMPLE = (
    ("compare", "eio", "rename", 2),
    ("compare", "kill", "rename", 3),
    ("compare --assets shared", "full", "write", -1),
    ("sweep", "eio", "pwrite64", 0),
    ("sweep", "kill", "rename", 1),
    ("sweep", "kill", "unlink", 1),
    ("profile", "short", "write", 1),
)
"""Command, fault, and the call it happens to: which of those of a name, from 0."""


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    with faults.warm(tmp_path_factory.mktemp("warm")) as process:
        yield process


def test_a_fault_leaves_nothing_half_written_and_the_same_command_again_ends_well(warm, tmp_path):
    known = {case.name: case for case in cases(warm, tmp_path, COMMANDS)}
    for case in known.values():
        assert unsafe_at_power_cut(case.calls, case.out) == []
    chosen = []
    for name, kind, call, which in SAMPLE:
        number = [made.number for made in known[name].calls if made.name == call][which]
        chosen.append((known[name], faults.Fault(number, kind)))
    ends, broken = trials(chosen, warm, tmp_path, 2)
    assert broken == []
    assert Counter(end for *_, end in ends.elements()) == {"killed": 3, "refused, one line": 3, "went on": 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*COMMANDS, "reproduce"])
def test_faults_at_calls_of_every_kind(warm, tmp_path, name):
    """Each seventh; benchmarks/faults.py has them all."""
    (case,) = cases(warm, tmp_path, [name])
    assert unsafe_at_power_cut(case.calls, case.out) == []
    # A reproduction simulates for ten seconds each time.
    chosen = [(case, fault) for fault in case.faults()][:: 39 if name == "reproduce" else 7]
    ends, broken = trials(chosen, warm, tmp_path, 2)
    assert broken == []
    assert {kind for _, kind, _ in ends} == {fault.kind for _, fault in chosen}
    print(*(f"{count:5} {kind}: {end}" for (_, kind, end), count in sorted(ends.items())), sep="\n")


def test_a_shim_that_does_nothing_is_seen(warm, tmp_path):
    """What the other tests hold against: they see a fault that does happen, and a file that is cut."""
    out = tmp_path / "out"
    command = ["simulate", "wired", "--discipline", "fifo", "--duration", "1s", "--quiet", "--json", "--out", out]
    failed = warm.run(out, command, faults.Fault(1, "eio"))
    assert (failed.status, failed.calls) == (2, []) and "Input/output error" in failed.err
    assert not out.exists()
    done = warm.run(out, command)
    assert done.status == 0 and {"mkdir", "open64", "write", "fsync", "rename"} <= {call.name for call in done.calls}
    for path in faults.results(out):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(Exception, match=r"."):
            faults.content(path)
        path.write_bytes(whole)
    (tmp_path / "out" / ".x.partial").touch()
    assert faults.leftovers(out) == [".x.partial"]
    early = [call for call in done.calls if call.name not in ("fsync", "fdatasync")]
    told = unsafe_at_power_cut(early, out)
    assert any("has its name before its content" in line for line in told) and f"{out} was not flushed" in told
