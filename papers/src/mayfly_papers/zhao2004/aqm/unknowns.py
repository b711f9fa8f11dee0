"""What Zhao 2004 does not tell of its simulations in ns-2, and what of Table VII its own results speak against."""

from collections.abc import Mapping, Sequence

from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.declare.unknowns import Calibration, Setting, Unknown
from mayfly_papers.zhao2004.aqm import rates
from mayfly_papers.zhao2004.aqm.scenarios import (
    GUESS,
    LINKS,
    LOADS,
    MULTIPLES,
    QUEUES,
    TABLE_3_QUEUES,
    chapter_4,
    counted,
    table_3,
)

UNKNOWNS = (
    Unknown("wire", "a TCP packet on the wire", (1000, 1040), "`packetSize_ 1000` of ns-2 adds 40 bytes", "bytes"),
    Unknown("start", "CBR sources begin within", (0, 2), "not told; 0: all in step", "s"),
    Unknown(
        "timers",
        "minimum timeout",
        ("1 s, 0.2 s", "0.2 s", "1 s"),
        "not told; ns-2's default was 1 s until autumn 2004, 0.2 s since; first value: 1 s in Table III, 0.2 s in "
        "chapter IV",
    ),
    Unknown("recovery", "TCP of Table III", ("reno", "sack"), "not told; chapter IV has SACK"),
    Unknown("access", "each access link of Table III", (0, 1, 2, 5, 10), "not told; chapter IV has 5 ms", "ms"),
    Unknown("window", "largest window", (20, 64), "not told; ns-2's default is 20", "packets"),
    Unknown(
        "min-th",
        "lower threshold of RED, buffers of 1 and 3 BWDP",
        (0.1, 0.125, 1 / 6, 0.25),
        "only the ratio to the upper one is told; 15 of 60 packets in Table III",
        "of the buffer",
    ),
    Unknown(
        "min-th-small",
        "that of 1/3 BWDP",
        (0.0625, 0.1, 1 / 6, 0.25),
        "as above; Figure 29 has RED at a third of DropTail there too",
        "of the buffer",
    ),
    Unknown(
        "ltnrf-30",
        "CBR flows at 100 Mb/s, 30 % STF",
        (25, 30, 40),
        "Table VII scaled: 40; its text says 30 % of the link; share and drop rate of Tables IX and X: 25",
    ),
    Unknown(
        "ltnrf-0",
        "CBR flows at 100 Mb/s, 0 and 5 % STF",
        (47, 55, 63),
        "Table VII scaled: 63; Table X has .46 of the link",
    ),
    Unknown("ltnrf-5", "CBR flows at 5 Mb/s, 30 % STF", (2, 3, 4), "Table VII scaled: 4 of 0.5 Mb/s"),
    Unknown(
        "pause",
        "mean time from one short connection of a source to the next",
        (10, 11),
        '"every 10 s on average": from start to start, or from the end, some 1 s later',
        "s",
    ),
    Unknown("counted", "shares and utilisation count", ("wire", "payload"), "not told"),
)


def experiments(setting: Setting) -> Sequence[Experiment]:
    """Runs of Tables III, VIII to X and Figure 29, under the ids of those in step, whatever the start is."""
    start_s = float(setting["start"])
    found = [
        table_3(queue, start_s, f"{setting['access']}ms", f"table-3-{queue}-in-step", setting)
        for queue in TABLE_3_QUEUES
    ]
    mixes = [(mbps, 1300, multiple) for mbps in LINKS for multiple in MULTIPLES]
    mixes += [(100, mice, "1") for mice in LOADS if mice != 1300]
    for mix in mixes:
        mbps, mice, multiple = mix
        found += [
            chapter_4(queue, mbps, mice, "in-step", multiple, setting=setting, spread_s=start_s) for queue in QUEUES
        ]
    return found


def measures(setting: Setting) -> Mapping[str, str]:
    """Measures as the setting counts them, for those of either count."""
    return counted(setting) or {payload: wire for wire, payload in counted({"counted": "payload"}).items()}


def together(experiment: str) -> str:
    """RED and RED-ECN on one link beside one mix: their numbers hardly differ."""
    return experiment.replace("ecn-", "red-", 1)


def _one_reading() -> list:
    """Claims with the printed numbers of Tables III and VIII to X and Figure 29, each in step alone."""
    found = [rates.table_3_shares("in-step", ""), rates.table_3_numbers("in-step", "")]
    found += [claim(mbps) for claim in (rates.table_8, rates.figure_29) for mbps in LINKS]
    found += [claim(mbps, "in-step") for claim in (rates.table_9_order, rates.table_9_red) for mbps in LINKS]
    return found + [claim(mice, "in-step") for claim in (rates.table_10, rates.table_10_red) for mice in LOADS]


CALIBRATION = Calibration(UNKNOWNS, experiments, tuple(_one_reading()), GUESS, measures, together)
