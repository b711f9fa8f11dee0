"""Chen 2012, 4.5 to 4.6.3: EFD beside FIFO, LAS, Run2C and LARS on the wired TCP workload.

Printed values and the declarations that hold ours beside them; 4.6.4 is in :mod:`mayfly_papers.chen2012.wired.cbr`.
"""

from dataclasses import dataclass

import numpy as np

from mayfly_papers.chen2012.wired import measures as wired_measures
from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Claim, Experiment, Printed, Row, Runs, Values
from mayfly_papers.declare.rows import (
    Quantity,
    alike,
    at_least,
    at_most,
    below,
    greater_by,
    not_above,
    printed_beside,
    quantity,
    ratio,
)
from mayfly_papers.declare.unknowns import Setting

DIFFERENCES = data.reasons(__package__)

PRINTED = data.printed(__package__)

GUESS: Setting = {"load": "5.8, 10.4", "sampling": 0.01, "half-life": "1s", "timer": "1s"}
"""What was taken until 2026-11: "say 1 %" for X-Protect, and a half-life of ours."""

SETTING: Setting = {"load": "5.8, 10.4", "sampling": 0.03, "half-life": "1s", "timer": "1s"}
"""What the page runs: of what ``mayfly reproduce calibrate chen-2012-wired`` chose what it tells from the others
(docs/papers/chen-2012-settings.md); `unknowns.py` says what each name means."""


def memory(setting: Setting) -> dict[str, str]:
    """Disciplines that a setting tells what to remember, by name."""
    return {
        "lars": f"lars(half_life={setting['half-life']})",
        "xprotect": f"xprotect(probability={setting['sampling']})",
    }


LABELS = memory(SETTING)

DISCIPLINES = ("fifo", "las", "run2c", "efd", "lars")
NAMES = {"fifo": "FIFO", "las": "LAS", "run2c": "Run2C", "efd": "EFD", "lars": "LARS", "scfq": "SCFQ"}


def label(name: str) -> str:
    """A discipline as the page runs it."""
    return LABELS.get(name, name)


def of(experiment: str, name: str, measure: str) -> Quantity:
    """A measure under a discipline, by its name."""
    return quantity(experiment, label(name), measure)


BUFFER_PACKETS = 300


@dataclass(frozen=True)
class Regime:
    """A load regime of the thesis at one reading of its load.

    Parameters
    ----------
    id : str
        Of its experiment.
    regime : str
        ``underload`` or ``overload``.
    load_bps : int
        Offered load, bit/s.
    reading : str
        ``nominal``: as printed; ``inferred``: the load that its other figures fit (shared errata).
    replications : int
        30 where ten leave a row undecided, but at 15 Mb/s: there EFD is FIFO, and no number of runs decides.
    """

    id: str
    regime: str
    load_bps: int
    reading: str
    replications: int = 30

    @property
    def settings(self) -> str:
        """What is run, in words."""
        return f"`wired`, {self.load_bps / 1e6:g} Mb/s offered ({self.regime}, {self.reading} load)"


U8 = Regime("wired-8", "underload", 8_000_000, "nominal")
U58 = Regime("wired-5.8", "underload", 5_800_000, "inferred")
O15 = Regime("wired-15", "overload", 15_000_000, "nominal", replications=10)
O104 = Regime("wired-10.4", "overload", 10_400_000, "inferred")
REGIMES = (U8, U58, O15, O104)
UNDERLOAD = (U8, U58)
OVERLOAD = (O15, O104)

EXPERIMENTS = tuple(
    Experiment(
        id=regime.id,
        overrides={"workload.load": regime.load_bps, "sample_interval": 0.1},
        disciplines=tuple(map(label, (*DISCIPLINES, "xprotect"))),
        replications=regime.replications,
        measure=wired_measures.transfers,
    )
    for regime in REGIMES
)

TABLE_4_1 = PRINTED["table_4_1"]

TABLE_4_2 = PRINTED["table_4_2"]

MEAN_SIZES = PRINTED["mean_sizes"]
"""Table 4.2, MSS, one figure for all disciplines."""


def _claim(name: str, regime: Regime, source: str, says: str, rows: tuple[Row, ...], note: str = "") -> Claim:
    identity = f"{name}-at-{regime.id.removeprefix('wired-')}"
    return Claim(identity, f"Chen 2012, {source}", says, regime.settings, rows, DIFFERENCES.get(identity), note)


def table_4_1(regime: Regime) -> Claim:
    """Mean flow table of LAS, X-Protect and EFD."""
    printed = TABLE_4_1[regime.regime]
    las, xprotect, efd = (of(regime.id, discipline, "table_mean") for discipline in printed)
    factors = {name: Printed(printed["las"].value / printed[name].value) for name in ("xprotect", "efd")}
    return _claim(
        "table-4.1",
        regime,
        "4.6.1, Table 4.1",
        "the flow table of EFD is one order of magnitude below that of LAS; X-Protect roughly halves it",
        (
            printed_beside("LAS, mean", las, printed["las"], "entries"),
            below("X-Protect, mean", xprotect, las, "entries", "below LAS", printed=printed["xprotect"]),
            below("EFD, mean", efd, las, "entries", "below LAS", printed=printed["efd"]),
            at_most("LAS over X-Protect", ratio(las, xprotect), 10, direction="below 10", printed=factors["xprotect"]),
            at_least("LAS over EFD", ratio(las, efd), 10, direction="above 10", printed=factors["efd"]),
        ),
        "The inferred loads come from the LAS column, which fits them by construction; the rest does not.",
    )


def table_bounded(regime: Regime) -> Claim:
    """Flow table of EFD below the queue and small."""
    above, largest, mean = (of(regime.id, "efd", name) for name in ("table_above_queue", "table_max", "table_mean"))
    return _claim(
        "figure-4.2",
        regime,
        "4.3.1, 4.5.1, Fig. 4.2, 4.6.1, Fig. 4.7",
        "the flow table of EFD is bounded by the buffer, below the queue, and a few tens of entries at most",
        (
            at_most("largest table against the buffer", largest, BUFFER_PACKETS + 1, "entries"),
            at_most("samples with more entries than packets", above, 1, direction="none"),
            below("mean table", mean, of(regime.id, "efd", "queue_mean"), "entries", "below the mean queue"),
            at_most("largest table", largest, 100, "entries", "a few tens: below 100"),
        ),
        "Sampled every 0.1 s.",
    )


def table_grows(under: Regime, over: Regime) -> Claim:
    """Queue and table grow with the load."""
    rows = tuple(
        below(
            f"{what} of EFD in underload",
            of(under.id, "efd", name),
            of(over.id, "efd", name),
            unit,
            "below overload",
        )
        for what, name, unit in (("mean table", "table_mean", "entries"), ("mean queue", "queue_mean", "packets"))
    )
    note = f"Underload is {under.load_bps / 1e6:g} Mb/s."
    says = "table and queue grow with the traffic intensity"
    return _claim("figure-4.2-growth", over, "4.5.1, Fig. 4.2", says, rows, note)


def low_queue(regime: Regime) -> Claim:
    """The low priority queue holds most of what waits."""
    share = of(regime.id, "efd", "low_share_waiting")
    rows = (at_least("share of waiting packets that are low, EFD", share, 0.5),)
    return _claim(
        "figure-4.3", regime, "4.5.2, Fig. 4.3", "the low priority queue carries the bulk of the traffic", rows
    )


def fragmentation(regime: Regime) -> Claim:
    """Fragments per connection tend to a limit."""
    pieces, packets = (
        ratio(of(regime.id, "efd", f"thousands_{name}"), of(regime.id, "efd", f"hundreds_{name}"))
        for name in ("fragments", "packets")
    )

    def root_of_size(runs: Runs) -> Values:
        return np.sqrt(packets(runs))

    each = ratio(of(regime.id, "efd", "thousands_packets"), of(regime.id, "efd", "thousands_fragments"))
    return _claim(
        "figure-4.4",
        regime,
        "4.5.3, Fig. 4.4",
        "fragments per connection tend to a limit; in the longest few fragments hold many packets",
        (
            below(
                "fragments above 1000 MSS over those of 101 to 300",
                pieces,
                root_of_size,
                direction="below the root of the ratio of sizes",
            ),
            at_least(
                "packets per fragment above 1000 MSS", each, wired_measures.THRESHOLD_PACKETS, direction="above th = 20"
            ),
        ),
        "A limit is read as growth slower than the square root of the size.",
    )


def high_queue_load(regime: Regime) -> Claim:
    """EFD loads its high queue more than Run2C, and large flows are in the low one."""
    high = of(regime.id, "efd", "high_share")
    high_volume, low_volume = (of(regime.id, "efd", f"{name}_volume") for name in ("high", "low"))
    return _claim(
        "figure-4.5",
        regime,
        "4.5.3, Fig. 4.5",
        "EFD puts a higher load on its high priority queue than Run2C; volumes in the low priority queue are larger",
        (
            greater_by(
                "share of packets sent high, EFD",
                high,
                of(regime.id, "run2c", "high_share"),
                direction="above Run2C",
            ),
            below(
                "packets of a transfer in the high queue, EFD",
                high_volume,
                low_volume,
                "packets",
                "below those in the low queue",
            ),
        ),
        "Share of the packets that enter the queue, counted by the simulator for both disciplines.",
    )


def aggregate(regime: Regime) -> Claim:
    """Connections and utilisation are alike."""
    rows = tuple(
        alike(what, tuple(of(regime.id, discipline, name) for discipline in DISCIPLINES), unit)
        for what, name, unit in (
            ("complete connections", "completed", "flows"),
            ("incomplete connections", "unfinished", "flows"),
            ("utilisation", "utilisation", ""),
        )
    )
    says = "no significant difference in complete and incomplete connections; similar utilisation"
    return _claim("aggregate", regime, "4.6.2", says, rows, "Significant is what exceeds the spread of single runs.")


def incomplete(regime: Regime) -> Claim:
    """FIFO leaves small transfers incomplete, the others long ones."""
    small = {discipline: of(regime.id, discipline, "unfinished_small") for discipline in DISCIPLINES}
    rows = tuple(
        greater_by(
            f"incomplete transfers up to 20 MSS, FIFO against {NAMES[other]}",
            small["fifo"],
            small[other],
            "flows",
            f"above {NAMES[other]}",
        )
        for other in DISCIPLINES[1:]
    )
    says = "FIFO leaves many small transfers incomplete, the others discriminate against long ones"
    return _claim(
        "figure-4.8", regime, "4.6.2, Fig. 4.8", says, rows, "Sizes are what was delivered by the end of the run."
    )


def short_flows(regime: Regime) -> Claim:
    """Size-based disciplines improve short flows."""
    fifo = of(regime.id, "fifo", "small_s")
    rows = tuple(
        below(f"transfers up to 20 MSS, {NAMES[d]}", of(regime.id, d, "small_s"), fifo, "s", "below FIFO")
        for d in ("las", "efd", "run2c")
    )
    return _claim(
        "figure-4.9-short",
        regime,
        "4.6.2, Fig. 4.9",
        "LAS, EFD and Run2C improve short flows significantly over FIFO",
        rows,
    )


def transition(regime: Regime) -> Claim:
    """EFD changes more smoothly at th than Run2C."""

    def jump(discipline: str):
        return ratio(of(regime.id, discipline, "above_th_s"), of(regime.id, discipline, "below_th_s"))

    rows = (below("21 to 40 MSS over 11 to 20 MSS, EFD", jump("efd"), jump("run2c"), direction="below Run2C"),)
    return _claim(
        "figure-4.9-transition",
        regime,
        "4.6.2, Fig. 4.9",
        "the transition of EFD at th is smoother than that of Run2C",
        rows,
    )


def las_best(regime: Regime) -> Claim:
    """LAS is best for small and intermediate sizes."""
    rows = tuple(
        below(
            f"{what}, LAS against {NAMES[d]}",
            of(regime.id, "las", name),
            of(regime.id, d, name),
            "s",
            f"below {NAMES[d]}",
        )
        for what, name in (("up to 20 MSS", "small_s"), ("21 to 300 MSS", "middling_s"))
        for d in ("run2c", "efd")
    )
    says = "LAS has the best response times for small and intermediate sizes"
    return _claim("figure-4.9-las", regime, "4.6.2, Fig. 4.9", says, rows)


def efd_and_run2c(regime: Regime) -> Claim:
    """EFD is similar to or slightly better than Run2C."""
    rows = tuple(
        not_above(f"{what}, EFD against Run2C", of(regime.id, "efd", name), of(regime.id, "run2c", name), "s")
        for what, name in (("short flows", "short_s"), ("21 to 300 MSS", "middling_s"), ("long flows", "long_s"))
    )
    return _claim("figure-4.9-efd", regime, "4.6.2, Fig. 4.9", "EFD performs as Run2C or slightly better", rows)


def las_large(regime: Regime) -> Claim:
    """Large flows under LAS: as the others in underload, better in overload."""
    long = {discipline: of(regime.id, discipline, "long_s") for discipline in DISCIPLINES}
    rows: tuple[Row, ...]
    if regime.regime == "underload":
        rows = (alike("long flows", tuple(long.values()), "s"),)
    else:
        rows = tuple(
            below(f"long flows, LAS against {NAMES[d]}", long["las"], long[d], "s", f"below {NAMES[d]}")
            for d in long
            if d != "las"
        )
    says = "for large flows LAS is equivalent to the others in underload and significantly better in overload"
    return _claim("figure-4.9-large", regime, "4.6.2, Fig. 4.9", says, rows, "Over completed flows, as in the thesis.")


def lars(regime: Regime) -> Claim:
    """LARS is near LAS in underload, near FIFO in overload."""
    printed = TABLE_4_2[regime.regime]["short"]
    own, las, fifo = (of(regime.id, discipline, "short_s") for discipline in ("lars", "las", "fifo"))
    beside = ("las", las, fifo) if regime.regime == "underload" else ("fifo", fifo, las)
    sought, near, far = beside

    def margin(runs: Runs) -> Values:
        return np.abs(np.log(own(runs) / far(runs))) - np.abs(np.log(own(runs) / near(runs)))

    value = Printed(printed["lars"].value / printed[sought].value)
    name = f"short flows, LARS over {NAMES[sought]}"
    rows = (Row(name, ratio(own, near), "", value, margin, f"nearer to {NAMES[sought]}, in logarithms"),)
    says = "LARS behaves as LAS in underload and degrades towards FIFO in overload"
    return _claim("figure-4.9-lars", regime, "4.6.2, Fig. 4.9, Table 4.2", says, rows)


def table_4_2_means(regime: Regime, size: str) -> Claim:
    """Mean response times, with the printed intervals."""

    def lead(lesser: Quantity, greater: Quantity) -> Quantity:
        return lambda runs: np.log(greater(runs) / lesser(runs))

    printed = TABLE_4_2[regime.regime][size]
    fifo = of(regime.id, "fifo", f"{size}_s")
    rows = [printed_beside("FIFO", fifo, printed["fifo"], "s")]
    for discipline in DISCIPLINES[1:]:
        own = of(regime.id, discipline, f"{size}_s")
        faster = printed[discipline].value < printed["fifo"].value
        lesser, greater = (own, fifo) if faster else (fifo, own)
        rows.append(
            Row(
                NAMES[discipline],
                own,
                "s",
                printed[discipline],
                lead(lesser, greater),
                "below FIFO" if faster else "above FIFO",
            )
        )
    return _claim(f"table-4.2-{size}", regime, "4.6.2, Table 4.2", f"mean response times of {size} flows", tuple(rows))


def table_4_2_sizes(regime: Regime) -> Claim:
    """Mean sizes of the two classes."""
    rows = tuple(
        printed_beside(f"{size} flows, FIFO", of(regime.id, "fifo", f"{size}_packets"), Printed(value), "MSS")
        for size, value in MEAN_SIZES[regime.regime].items()
    )
    return _claim("table-4.2-sizes", regime, "4.6.2, Table 4.2", "mean sizes of short and long flows", rows)


def short_ratios(regime: Regime) -> Claim:
    """By what factor short flows are faster than under FIFO."""
    printed = TABLE_4_2[regime.regime]["short"]
    fifo = of(regime.id, "fifo", "short_s")
    rows = tuple(
        at_least(
            f"FIFO over {NAMES[d]}",
            ratio(fifo, of(regime.id, d, "short_s")),
            1,
            printed=Printed(printed["fifo"].value / printed[d].value),
        )
        for d in DISCIPLINES[1:]
    )
    return _claim(
        "factor-short", regime, "4.6.2, Table 4.2", "short flows are faster than under FIFO by the factor printed", rows
    )


def long_penalty(regime: Regime) -> Claim:
    """What long flows pay in underload."""
    printed = TABLE_4_2[regime.regime]["long"]
    fifo = of(regime.id, "fifo", "long_s")
    rows = []
    for discipline in DISCIPLINES[1:]:
        value = printed[discipline].value / printed["fifo"].value
        own = ratio(of(regime.id, discipline, "long_s"), fifo)
        rows.append(
            at_most(
                f"{NAMES[discipline]} over FIFO", own, value, direction="no more than printed", printed=Printed(value)
            )
        )
    says = "the penalty of long flows is negligible in underload"
    return _claim("penalty-long", regime, "4.6.2, Table 4.2", says, tuple(rows))


def _still(regime: Regime, than: str, disciplines: tuple[str, ...]) -> list[Row]:
    """Rows that hold when others stand still for less time at once; it can be 0."""
    longest = {d: of(regime.id, d, "longest_stall_s") for d in (than, *disciplines)}
    name, direction = "longest time without progress", f"below {NAMES[than]}"
    return [
        below(f"{name}, {NAMES[d]}", longest[d], longest[than], "s", direction, logarithms=False) for d in disciplines
    ]


def lockouts(regime: Regime) -> Claim:
    """LAS locks out, the others do not."""
    others = ("lars", "efd", "run2c")
    share = {d: of(regime.id, d, "stalled_share") for d in DISCIPLINES}
    name = "share of life in stalls above 1 s, LAS against"
    rows = _still(regime, "las", others)
    rows += [greater_by(f"{name} {NAMES[d]}", share["las"], share[d], "", f"above {NAMES[d]}") for d in others]
    says = "the largest transfers show plateaus under LAS and progress smoothly under LARS, EFD and Run2C"
    note = "The three largest transfers of the workload, progress sampled every 0.1 s."
    return _claim("figure-4.11", regime, "4.6.3, Fig. 4.11", says, tuple(rows), note)


def run2c_lesser(regime: Regime) -> Claim:
    """Run2C is smooth to a lesser extent than LARS and EFD."""
    says = "Run2C is smooth to a lesser extent than LARS and EFD"
    rows = tuple(_still(regime, "run2c", ("lars", "efd")))
    return _claim("figure-4.11-run2c", regime, "4.6.3, Fig. 4.11", says, rows)


CLAIMS = (
    *map(table_4_1, REGIMES),
    *map(table_bounded, REGIMES),
    table_grows(U8, O15),
    table_grows(U58, O104),
    *map(low_queue, REGIMES),
    *map(fragmentation, UNDERLOAD),
    *map(high_queue_load, UNDERLOAD),
    *map(aggregate, REGIMES),
    *map(incomplete, REGIMES),
    *map(short_flows, REGIMES),
    *map(transition, REGIMES),
    *map(las_best, REGIMES),
    *map(efd_and_run2c, REGIMES),
    *map(las_large, REGIMES),
    *map(lars, REGIMES),
    *(table_4_2_means(regime, size) for size in ("short", "long") for regime in REGIMES),
    *map(table_4_2_sizes, REGIMES),
    *map(short_ratios, REGIMES),
    *map(long_penalty, UNDERLOAD),
    *map(lockouts, UNDERLOAD),
    *map(run2c_lesser, UNDERLOAD),
)
"""Claims of 4.5 to 4.6.3, each at the loads it is made for."""
