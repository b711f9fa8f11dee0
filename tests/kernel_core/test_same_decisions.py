"""The cores of the kernel modules (kernel/core) decide about every packet as the disciplines of crates/qdisc do."""

import functools
import itertools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import cores
import pytest
import traces

EFD = [(f"high={high}", f"low={low}") for high in ("fifo", "las") for low in ("fifo", "las")]
METHODS = ("default", "response", "basic", "p0", "loss", "multihop", "cbr")
ESTMRED = [
    ("estimate=off",),
    ("estimate=off", "mode=bytes", "ecn=on", "gentle=off", "weight=0.1", "min_th=2000"),
    (
        "estimate=off",
        "spacing=wait",
        "ecn=on",
        "mark_max=0.05",
        "max_p=0.5",
        "max_th=9",
        "weight=1",
        "transmission=0.003",
    ),
    *(("rtt=0.03", "rate=6e6", f"method={method}", "weight=0.02", "per_estimate=7") for method in METHODS),
    ("mode=bytes", "mean_packet=700.4", "rtt=0.0101", "ticks=100", "per_ack=2", "weight=0.05", "queued_rtt=0.05"),
    ("method=p0", "gamma_1=0", "gamma_2=1.9", "queue_filter=0.8", "drop_filter=0.23", "smoothing=0.975", "weight=1"),
    ("rate=8e9", "mean_packet=1", "rtt=60", "ticks=1000000", "mode=bytes", "per_estimate=1", "method=loss"),
    ("rate=8e9", "mean_packet=1", "rtt=0.0001", "gamma_1=1e6", "per_ack=16"),
    ("rtt=0.02", "above=0.05", "below=0.01", "start=60", "start_share=0.2", "zero_intervals=1", "sampling=0.004"),
]
TABLES = [(), ("visit=0.3", "timeout=1.7"), ("visit=7", "timeout=0.001")]
ROWS = [
    *(("efd", (*order, f"threshold={threshold}")) for order in EFD for threshold in (1, 1500.5, 30_000)),
    *(("pefd", (*order, f"threshold={threshold}")) for order in EFD for threshold in (1, 20)),
    *(("efdack", (*order, f"threshold={threshold}")) for order in EFD for threshold in (1, 30_000)),
    *(("estmred", ("arithmetic=integers", *options)) for options in ESTMRED),
    *((discipline, table) for discipline in ("las", "lasack") for table in TABLES),
    *(
        ("lars", (f"count={count}", f"half_life={half_life}", *table))
        for count in ("sent", "acknowledged")
        for half_life in (0.001, 1, 2.5, 100_000)
        for table in TABLES
    ),
    *(
        (discipline, (f"threshold={threshold}", *table))
        for discipline in ("run2c", "run2cack")
        for threshold in (1, 1500.5, 30_000)
        for table in TABLES
    ),
]
ROWS += [row for id in cores.ids() if id not in {row[0] for row in ROWS} for row in cores.rows(id)]
"""Disciplines with options: every core, every option. One that is not above gets what its registry says."""

LIMITS = ("1p", "2p", "30p", "300p", "1500b", "4000b", "100000b", "700000b")


@functools.cache
def text_of(trace: Callable[..., Iterator[str]], *arguments: float) -> str:
    """The lines of a trace, written once for all that take it."""
    return "\n".join(trace(*arguments)) + "\n"


def compare(programs: tuple[Path, Path], discipline: str, limit: str, options: tuple[str, ...], text: str) -> list[str]:
    """The lines of both; fails at the first in which they differ."""
    lines = []
    for program in programs:
        done = subprocess.run([program, discipline, limit, *options], input=text, capture_output=True, text=True)
        assert done.returncode == 0, (program.parent.name, done.stderr)
        lines.append(done.stdout.splitlines())
    core, crate = lines
    assert len(core) == len(crate) == text.count("\n")
    if core == crate:
        return core
    at = next(k for k, (a, b) in enumerate(zip(core, crate, strict=True)) if a != b)
    before = "\n".join(text.splitlines()[max(at - 3, 0) : at + 1])
    pytest.fail(f"{discipline} {limit} {options}, line {at + 1}:\ncore  {core[at]}\ncrate {crate[at]}\nafter\n{before}")


@pytest.mark.parametrize(("discipline", "options"), ROWS, ids=lambda value: value if isinstance(value, str) else "")
def test_random_calls(programs, discipline, options):
    for seed, (limit, flows) in enumerate(itertools.product(LIMITS, (2, 40))):
        compare(programs, discipline, limit, options, text_of(traces.drawn, seed, 3000, flows))


def test_a_core_is_found_by_its_driver_and_gets_every_option_that_the_registry_has(programs):
    assert {"efd", "pefd", "efdack", "estmred", "las", "lasack", "lars", "run2c", "run2cack"} <= set(cores.ids())
    assert {row[0] for row in ROWS} == set(cores.ids())
    assert {value.split("=")[0] for value in cores.values("lars")} == {"half_life", "count", "visit", "timeout"}
    assert "high=las" in cores.values("efd") and "threshold=10000" in cores.values("efd")
    for discipline, options in (*cores.rows("efd"), *cores.rows("lars")):
        compare(programs, discipline, "30p", options, text_of(traces.drawn, 1, 1000, 40))


@pytest.mark.parametrize("discipline", sorted({row[0] for row in ROWS}))
def test_traffic_made_to_hurt(programs, discipline):
    own = [options for other, options in ROWS if other == discipline]
    for options in (own[0], own[-1]):
        for limit in ("3p", "1000p", "300000b"):
            compare(programs, discipline, limit, options, text_of(traces.flood, 20_000))
            compare(programs, discipline, limit, options, text_of(traces.alternation, 5000))


@pytest.mark.parametrize("half_life", [0.001, 1, 2.5, 100_000])
def test_contests_that_the_last_bits_decide(programs, half_life):
    options = (f"half_life={half_life}", "timeout=1000000")
    compare(programs, "lars", "100p", options, text_of(traces.contests, half_life, 40_000))


@pytest.mark.parametrize("discipline", sorted({row[0] for row in ROWS}))
def test_a_recorded_capture(programs, discipline):
    own = [options for other, options in ROWS if other == discipline]
    for options in (own[0], own[-1]):
        compare(programs, discipline, "100p", options, text_of(traces.recorded, 2e6))


@pytest.mark.parametrize("method", METHODS)
def test_estimates_of_a_congested_link(programs, method):
    options = ("arithmetic=integers", "rtt=0.03", "rate=6e6", "per_ack=2", f"method={method}", "above=0.7")
    lines = compare(programs, "estmred", "60p", options, text_of(traces.congested, 50_000))
    # Behind nine fields: time, share and flows times 2^14, doubt. 67 s over 20 sampling intervals of 10 ms.
    estimates = {tuple(line.split()[9:]) for line in lines} - {()}
    assert len(estimates) > 300
    assert sum("early" in line for line in lines) > 1000


@pytest.mark.parametrize("arguments", [["efd", "0p"], ["efd", "5"], ["none", "5p"], ["efd", "5p", "x=1"]])
def test_bad_arguments_are_refused_in_a_line(programs, arguments):
    done = subprocess.run([programs[0], *arguments], input="", capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("decisions: ") and done.stderr.count("\n") == 1
