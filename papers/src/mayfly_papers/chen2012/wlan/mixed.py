"""Chen 2012, 6.5 and 7.4 (Chen 2013, V): what the text says of the mixed workload in a cell of 802.11a.

Runs are those of :mod:`mayfly_papers.chen2012.wlan.appendix`, at the printed load of both directions, and some more.
What words mean was written down before these runs, after trial runs with one seed: *negligible*, below 10 %;
*similar* and *insensitive*, within 25 %; *fair*, within 25 %.
"""

from mayfly_papers.chen2012.wlan import measures
from mayfly_papers.chen2012.wlan.appendix import ASYMMETRIC, DOWNLOADS, LARGE, OF_TABLE, SYMMETRIC, Mix
from mayfly_papers.chen2012.wlan.cell import NAMES
from mayfly_papers.chen2012.wlan.printed_tables import COLUMNS, LARS, TABLES
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Experiment, Printed
from mayfly_papers.declare.rows import (
    Quantity,
    at_least,
    at_most,
    below,
    greater_by,
    nearer_one,
    quantity,
    ratio,
    within,
)

DIFFERENCES = reasons(__package__)

LOADS = (10, 20)
SIZE_BASED = ("lasack", LARS, "pefd", "efdack", "run2cack")
WAYS = {"down": "downloads", "up": "uploads"}

VARIANTS = {
    unit: {
        f"{high}+{low}": f"{discipline}(high={high.lower()},low={low.lower()})"
        for high in ("FIFO", "LAS")
        for low in ("FIFO", "LAS")
    }
    for unit, discipline in (("bytes", "efdack"), ("packets", "pefd"))
}
"""EFD with other disciplines in its queues, named high and low, by what it counts (6.5.1)."""

GRANULARITY = ("fifo", "scfq", "efd", "pefd", "efdack", "lasack", LARS, "run2cack")
FAVOURED = ("fifo", "run2cack", "efd")
INSENSITIVE = ("scfq", "lasack", LARS, "pefd", "efdack")


def _experiment(name: str, load_mbps: float, disciplines: tuple[str, ...], duration: str, **more) -> Experiment:
    given = {
        "workload.load": round(load_mbps * 1e6),
        "workload.exact_load": True,
        "duration": duration,
        "sample_interval": 0,
    }
    return Experiment(name, given | more, disciplines, 4, measures.transfers, "wlan")


EXPERIMENTS = (
    *(
        _experiment(
            f"variants-{load}", load, ("fifo", *VARIANTS["bytes"].values(), *VARIANTS["packets"].values()), "1000s"
        )
        for load in LOADS
    ),
    *(
        _experiment(f"unit-{unit}", 10, GRANULARITY, "1000s", **{"network.buffer": buffer})
        for unit, buffer in (("packets", 30), ("bytes", "45000B"))
    ),
)


def _claim(name: str, source: str, says: str, rows: list, settings: str, note: str = "") -> Claim:
    return Claim(name, f"Chen 2012, {source}", says, settings, tuple(rows), DIFFERENCES.get(name), note)


def _apart(mix: Mix, load: float, discipline: str, size: str) -> Quantity:
    """Downloads over uploads."""
    experiment = mix.experiment(load)
    return ratio(*(quantity(experiment, discipline, f"{way}_{size}_s") for way in WAYS))


def _settings(*mixes: Mix) -> str:
    text = " and ".join(f"{mix.downs_per_up}:1 with {mix.buffer} packets" for mix in mixes)
    return f"`wlan`, 10 and 20 Mb/s both ways, downloads to uploads {text}, 2000 s"


def unfair() -> Claim:
    """TCP unfairness under FIFO."""
    rows = [
        at_least(
            f"{size} flows, downloads over uploads, {mix.downs_per_up}:1, {load} Mb/s",
            _apart(mix, load, "fifo", size),
            1,
        )
        for mix in (SYMMETRIC, ASYMMETRIC)
        for load in LOADS
        for size in ("short", "long")
    ]
    says = "under FIFO downloads are slower than uploads in all scenarios, at a moderate load too"
    return _claim("mixed-unfair", "6.5.2, Fig. 6.6, 6.7", says, rows, _settings(SYMMETRIC, ASYMMETRIC))


def mitigated() -> Claim:
    """Size-based disciplines against it."""
    rows = [
        nearer_one(
            f"{size} flows, downloads over uploads, {NAMES[d]}, {mix.downs_per_up}:1, {load} Mb/s",
            _apart(mix, load, d, size),
            _apart(mix, load, "fifo", size),
            "nearer to 1 than FIFO",
        )
        for mix in (SYMMETRIC, ASYMMETRIC)
        for load in LOADS
        for d in SIZE_BASED
        for size in ("short", "long")
    ]
    says = "all size-based disciplines mitigate the unfairness"
    return _claim("mixed-mitigated", "6.5.2, Fig. 6.6, 6.7", says, rows, _settings(SYMMETRIC, ASYMMETRIC))


def short_flows() -> Claim:
    """They are faster for short flows."""
    rows = [
        below(
            f"short {WAYS[way]}, {NAMES[d]}, {mix.downs_per_up}:1, {load} Mb/s",
            quantity(mix.experiment(load), d, f"{way}_short_s"),
            quantity(mix.experiment(load), "fifo", f"{way}_short_s"),
            "s",
            "below FIFO",
        )
        for mix in (SYMMETRIC, ASYMMETRIC)
        for load in LOADS
        for d in SIZE_BASED
        for way in WAYS
    ]
    says = "short flows are significantly faster than under FIFO with all size-based disciplines"
    return _claim("mixed-short", "6.5.2, Fig. 6.6, 6.7", says, rows, _settings(SYMMETRIC, ASYMMETRIC))


def long_flows() -> Claim:
    """What long flows pay."""
    rows = [
        at_most(
            f"long {WAYS[way]}, {NAMES[d]} over FIFO, {mix.downs_per_up}:1, {load} Mb/s",
            ratio(*(quantity(mix.experiment(load), e, f"{way}_long_s") for e in (d, "fifo"))),
            1.1,
        )
        for mix in (SYMMETRIC, ASYMMETRIC)
        for load in LOADS
        for d in SIZE_BASED
        for way in WAYS
    ]
    says = "the response time of long flows increases negligibly"
    note = "The thesis's own tables have factors up to 5.3 (A.2, uploads under LASACK)."
    return _claim("mixed-long", "6.5.2, Fig. 6.6, 6.7", says, rows, _settings(SYMMETRIC, ASYMMETRIC), note)


def middling() -> Claim:
    """LASACK, PEFD and EFDACK for middling sizes."""
    rows = [
        below(
            f"21 to 300 MSS, LASACK against {NAMES[d]}, {mix.downs_per_up}:1, {load} Mb/s",
            quantity(mix.experiment(load), "lasack", "middling_s"),
            quantity(mix.experiment(load), d, "middling_s"),
            "s",
            f"below {NAMES[d]}",
        )
        for mix in (SYMMETRIC, ASYMMETRIC)
        for load in LOADS
        for d in ("pefd", "efdack")
    ]
    says = "LASACK is slightly better than PEFD and EFDACK, for sizes in the middle above all"
    return _claim("mixed-middling", "6.5.2, Fig. 6.6, 6.7", says, rows, _settings(SYMMETRIC, ASYMMETRIC))


def printed_apart(table: str, discipline: str, size: str) -> float:
    """Downloads over uploads as a table of appendix A has them."""
    cells = TABLES[table].cells[discipline]
    down, up = (cells[COLUMNS.index(f"{way}_{size}_s")].value for way in WAYS)
    return down / up


def difference() -> Claim:
    """EFD beside disciplines that remember every flow."""
    rows = [
        within(
            f"{size} flows, downloads over uploads, {NAMES[d]} over {NAMES[e]}, {mix.downs_per_up}:1, {load} Mb/s",
            ratio(_apart(mix, load, d, size), _apart(mix, load, e, size)),
            1.25,
            printed=Printed(printed_apart(table, d, size) / printed_apart(table, e, size)),
        )
        for table, (mix, load) in OF_TABLE.items()
        if mix is not LARGE
        for d in ("pefd", "efdack")
        for e in ("lasack", LARS)
        for size in ("short", "long")
    ]
    says = (
        "for a realistic workload the difference in fairness between PEFD or EFDACK and LASACK or LARS vanishes, even "
        "with relatively short buffers"
    )
    note = (
        "Vanishes: response times of downloads over uploads are within 25 %, as for *similar*. Printed: the same from "
        "the means of appendix A, which are those of the figures."
    )
    return _claim("mixed-difference", "6.6, Tables A.1 to A.4", says, rows, _settings(SYMMETRIC, ASYMMETRIC), note)


def transition() -> Claim:
    """The threshold shows more under Run2CACK."""

    def jump(mix: Mix, load: float, discipline: str) -> Quantity:
        return ratio(*(quantity(mix.experiment(load), discipline, f"{name}_th_s") for name in ("above", "below")))

    rows = [
        below(
            f"21 to 40 MSS over 11 to 20 MSS, {NAMES[d]}, {mix.downs_per_up}:1, {load} Mb/s",
            jump(mix, load, d),
            jump(mix, load, "run2cack"),
            "",
            "below Run2CACK",
        )
        for mix in (SYMMETRIC, ASYMMETRIC)
        for load in LOADS
        for d in ("pefd", "efdack")
    ]
    says = "Run2CACK has a more marked transition at the threshold than PEFD and EFDACK"
    return _claim("mixed-transition", "6.5.2, Fig. 6.6, 6.7", says, rows, _settings(SYMMETRIC, ASYMMETRIC))


def large_buffer() -> Claim:
    """FIFO with 300 packets."""
    rows = [
        within(f"{size} flows, downloads over uploads, FIFO, {load} Mb/s", _apart(LARGE, load, "fifo", size), 1.25)
        for load in LOADS
        for size in ("short", "long")
    ]
    rows += [
        at_least(
            f"short {WAYS[way]}, FIFO over {NAMES[d]}, {load} Mb/s",
            ratio(*(quantity(LARGE.experiment(load), e, f"{way}_short_s") for e in ("fifo", d))),
            2,
        )
        for load in LOADS
        for way in WAYS
        for d in ("lasack", "pefd", "efdack")
    ]
    says = "with 300 packets FIFO is fair whatever the load, at the cost of very long times in the queue"
    note = "Very long: short flows take at least twice as long as under LASACK, PEFD and EFDACK."
    return _claim("mixed-large-buffer", "6.5.3, Fig. 6.8", says, rows, _settings(LARGE), note)


def insensitive_to_buffer() -> Claim:
    """30 or 300 packets."""
    rows = []
    for load in LOADS:
        for d in ("lasack", "pefd", "efdack"):
            for size in ("short", "long"):
                own, fifo = (
                    ratio(*(quantity(mix.experiment(load), e, f"down_{size}_s") for mix in (ASYMMETRIC, LARGE)))
                    for e in (d, "fifo")
                )
                name = f"{size} downloads, 30 over 300 packets, {NAMES[d]}, {load} Mb/s"
                rows.append(within(name, own, 1.25))
                rows.append(nearer_one(name, own, fifo, "nearer to 1 than FIFO"))
    says = "PEFD, EFDACK and LASACK neither gain nor lose with the larger buffer, unlike FIFO"
    note = "The thesis's own tables do not have it so: LASACK takes 0.188 and 0.065 s for short downloads (A.4, A.6)."
    settings = _settings(ASYMMETRIC, LARGE)
    return _claim("mixed-insensitive", "6.5.3, Fig. 6.7, 6.8", says, rows, settings, note)


def downloads_only() -> Claim:
    """A hundred downloads for each upload."""
    rows = [
        below(
            f"loss at the access point, {load} Mb/s",
            quantity(DOWNLOADS.experiment(load), "fifo", "data_loss"),
            quantity(SYMMETRIC.experiment(load), "fifo", "data_loss"),
            "",
            "below that of 1:1",
        )
        for load in LOADS
    ]
    rows += [
        nearer_one(
            f"short flows, downloads over uploads, FIFO, {load} Mb/s",
            _apart(DOWNLOADS, load, "fifo", "short"),
            _apart(SYMMETRIC, load, "fifo", "short"),
            "nearer to 1 than with 1:1",
        )
        for load in LOADS
    ]
    says = "with a hundred downloads for an upload the unfairness typically vanishes"
    return _claim("mixed-downloads", "6.3.2", says, rows, _settings(DOWNLOADS, SYMMETRIC))


def variants_moderate() -> Claim:
    """Disciplines of the queues of EFD at a moderate load."""
    rows = []
    for unit, variants in VARIANTS.items():
        base = variants["FIFO+FIFO"]
        for name, discipline in variants.items():
            own = {size: quantity("variants-10", discipline, f"{size}_s") for size in ("small", "middling", "large")}
            fifo = quantity("variants-10", "fifo", "small_s")
            rows.append(below(f"up to 20 MSS, {name}, {unit}", own["small"], fifo, "s", "below FIFO"))
            if discipline != base:
                rows += [
                    within(
                        f"{size} flows, {name} over FIFO+FIFO, {unit}",
                        ratio(own[size], quantity("variants-10", base, f"{size}_s")),
                        1.25,
                    )
                    for size in own
                ]
    says = "at 10 Mb/s the four schemes of queues of EFD perform alike, and all serve short flows faster than FIFO"
    return _claim("variants-moderate", "6.5.1, Fig. 6.4, 6.5", says, rows, _VARIANTS.format(10))


_VARIANTS = "`wlan`, {} Mb/s both ways, 1:1, 30 packets, 1000 s; queues of EFDACK (bytes) and PEFD (packets), high+low"


def variants_high() -> Claim:
    """The same at a high load."""
    rows = []
    for unit, variants in VARIANTS.items():
        best = variants["FIFO+LAS"]
        rows += [
            below(
                f"{size} flows, FIFO+LAS against {name}, {unit}",
                quantity("variants-20", best, f"{size}_s"),
                quantity("variants-20", discipline, f"{size}_s"),
                "s",
                f"below {name}",
            )
            for name, discipline in variants.items()
            if discipline != best
            for size in ("small", "middling")
        ]
    base = VARIANTS["bytes"]["FIFO+FIFO"]
    rows += [
        within(
            f"{size} flows, FIFO+FIFO over FIFO+LAS, bytes",
            ratio(*(quantity("variants-20", d, f"{size}_s") for d in (base, VARIANTS["bytes"]["FIFO+LAS"]))),
            1.25,
        )
        for size in ("small", "middling")
    ]
    says = "at 20 Mb/s FIFO+LAS offers the best response times, and FIFO+FIFO by bytes is close to it"
    return _claim("variants-high", "6.5.1, Fig. 6.4, 6.5", says, rows, _VARIANTS.format(20))


def las_in_high() -> Claim:
    """LAS in the high queue."""
    rows = [
        greater_by(
            f"{size} flows, LAS+{low} against FIFO+{low}, {unit}",
            quantity("variants-20", variants[f"LAS+{low}"], f"{size}_s"),
            quantity("variants-20", variants[f"FIFO+{low}"], f"{size}_s"),
            "s",
            f"above FIFO+{low}",
        )
        for unit, variants in VARIANTS.items()
        for low in ("FIFO", "LAS")
        for size in ("small", "middling")
    ]
    return _claim(
        "variants-las-high", "6.5.1", "LAS in the high priority queue is detrimental", rows, _VARIANTS.format(20)
    )


_UNITS = "`wlan`, 10 Mb/s both ways, 1:1, 30 packets against 45 000 bytes, 1000 s"


def bytes_help() -> Claim:
    """Buffers in bytes under a mix."""
    rows = [
        below(
            f"{name}, {WAYS[way]}, {NAMES[d]}, bytes",
            quantity("unit-bytes", d, f"{way}_{size}_s"),
            quantity("unit-packets", d, f"{way}_{size}_s"),
            "s",
            "below packets",
        )
        for d in FAVOURED
        for way in WAYS
        for size, name in (("small", "up to 20 MSS"), ("middling", "21 to 300 MSS"))
    ]
    says = "bytes give FIFO, Run2CACK and BEFD lower response times for small and middling flows both ways"
    return _claim("mixed-bytes-help", "7.4, Fig. 7.4", says, rows, _UNITS)


def bytes_indifferent() -> Claim:
    """Whom the unit does not matter to."""
    rows = [
        within(
            f"{name}, {WAYS[way]}, {NAMES[d]}, bytes over packets",
            ratio(*(quantity(f"unit-{unit}", d, f"{way}_{size}_s") for unit in ("bytes", "packets"))),
            1.25,
        )
        for d in INSENSITIVE
        for way in WAYS
        for size, name in (("small", "up to 20 MSS"), ("middling", "21 to 300 MSS"))
    ]
    says = "SCFQ, LASACK, LARS, PEFD and EFDACK are insensitive to the unit of the buffer"
    return _claim("mixed-bytes-insensitive", "7.4, Fig. 7.4, 7.5", says, rows, _UNITS)


def bytes_fairness() -> Claim:
    """Fairness in both units."""

    def apart(discipline: str, unit: str, size: str) -> Quantity:
        return ratio(*(quantity(f"unit-{unit}", discipline, f"{way}_{size}_s") for way in WAYS))

    rows = [
        at_least(f"up to 20 MSS, downloads over uploads, SCFQ, {unit}", apart("scfq", unit, "small"), 1.25)
        for unit in ("packets", "bytes")
    ]
    rows += [
        within(f"up to 20 MSS, downloads over uploads, {NAMES[d]}, {unit}", apart(d, unit, "small"), 1.25)
        for d in INSENSITIVE[1:]
        for unit in ("packets", "bytes")
    ]
    says = "SCFQ is unfair to downloads in either unit; LASACK, LARS, PEFD and EFDACK are fair for most sizes"
    return _claim("mixed-bytes-fairness", "7.4, Fig. 7.5", says, rows, _UNITS)


CLAIMS = (
    unfair(),
    mitigated(),
    short_flows(),
    long_flows(),
    middling(),
    difference(),
    transition(),
    large_buffer(),
    insensitive_to_buffer(),
    downloads_only(),
    variants_moderate(),
    variants_high(),
    las_in_high(),
    bytes_help(),
    bytes_indifferent(),
    bytes_fairness(),
)
"""Claims of 6.5 and 7.4."""
