"""What Chen 2012 does not tell of its wired runs, and its load, which Table 4.1 speaks against."""

from collections.abc import Sequence
from dataclasses import replace

from mayfly_papers.chen2012.wired.transfers import EXPERIMENTS, GUESS, O104, U58, memory, table_4_1, table_4_2_means
from mayfly_papers.declare.declaration import Claim, Experiment
from mayfly_papers.declare.unknowns import Calibration, Setting, Unknown

UNKNOWNS = (
    Unknown(
        "load",
        "load in underload and in overload",
        ("8, 15", "7, 12.5", "5.8, 10.4"),
        "8 and 15 are printed; the table of LAS tells 5.8 and 10.4; the second is between",
        "Mb/s",
    ),
    Unknown(
        "sampling",
        "chance of a packet to make its flow long, X-Protect",
        (0.01, 0.02, 0.03, 0.04),
        '"a low probability, say 1 %"',
    ),
    Unknown(
        "half-life",
        "half-life of the memory of LARS",
        ("0.1s", "0.2s", "0.5s", "1s"),
        "not told; LARS is only cited",
    ),
    Unknown("timer", "minimum timeout of TCP", ("1s", "200ms"), "not told; RFC 2988 has 1 s"),
)


def experiments(setting: Setting) -> Sequence[Experiment]:
    """Runs of Tables 4.1 and 4.2, under the ids of those at the inferred load, whatever the load is."""
    loads = [round(float(load) * 1e6) for load in str(setting["load"]).split(", ")]
    own = {one.id: one for one in EXPERIMENTS}
    found = []
    for regime, load in zip((U58, O104), loads, strict=True):
        one = own[regime.id]
        given = {**one.overrides, "workload.load": load, "tcp.min_rto": setting["timer"]}
        found.append(replace(one, overrides=given, disciplines=(*one.disciplines[:-2], *memory(setting).values())))
    return found


def _one_reading() -> list[Claim]:
    """Means of Table 4.1, without the ratios that follow from them, and of Table 4.2."""
    tables = [replace(table, rows=table.rows[:3]) for table in map(table_4_1, (U58, O104))]
    return tables + [table_4_2_means(regime, size) for regime in (U58, O104) for size in ("short", "long")]


CALIBRATION = Calibration(UNKNOWNS, experiments, tuple(_one_reading()), GUESS)
