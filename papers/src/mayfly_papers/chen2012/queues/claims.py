"""Chen 2012, 5.2.2: the M/G/1 models of FIFO, SCFQ, LAS and Run2C beside the packet simulation (Fig. 5.3 to 5.10).

Figures come without their data: what the text says they show is the claim. What words mean was written down after a
first look at one seed at load 0.5 and before all other runs: *good agreement* and *fits well*, within 10 %; *nearly
perfect*, within 5 %; *slightly*, by less than 25 %; *fails*, by more than 25 %; *negligible* loss, below 0.1 % of the
packets. A model is compared with the mean of a class of sizes.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from mayfly_papers.chen2012.queues import measures
from mayfly_papers.chen2012.queues.measures import part_text
from mayfly_papers.chen2012.wlan.measures import MSS_BYTES
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Experiment, Row
from mayfly_papers.declare.rows import Quantity, at_least, at_most, below, nearer_one, quantity, within

DIFFERENCES = reasons(__package__)

REPLICATIONS = 5
LOADS = (0.5, 0.9)
NAMES = {"fifo": "FIFO", "scfq": "SCFQ", "las": "LAS", "run2c": "Run2C"}
SHORT = ("smallest", "few", "short")
MIDDLE = ("moderate", "medium")
LONG = ("long", "longest")

LARGEST_WHOLE = 1000
"""Largest initial window, MSS."""

SETTINGS: Mapping[str, Any] = {
    "duration": "5000s",
    "network.delay": "0s",
    "network.access_delay": "0s",
    "network.exit_delay": "0s",
    "workload.exact_load": True,
    "sample_interval": 0,
}
"""Chen 2012, 5.2.2."""

WHOLE = {
    "tcp.initial_window": LARGEST_WHOLE,
    "tcp.receiver_window": 20_000,
    "tcp.initial_rto": "60s",
    "tcp.min_rto": "60s",
    "tcp.fin": False,
    "network.buffer": 1_000_000,
    "network.access_rate": "10gbit",
}
"""A flow is at the queue as a whole when it arrives, as the models have it, and over with its last byte; no loss."""

NARROW = {"tcp.receiver_window": 2, "tcp.initial_window": 2}
"""A flow has two packets at the queue, whatever its size."""

ENDLESS = {"network.buffer": 1_000_000}
"""Nothing is lost."""

PATIENT = {**ENDLESS, "tcp.initial_rto": "60s", "tcp.min_rto": "60s"}
"""Nor is anything taken for lost that waits."""


def up_to_window(flows: pl.DataFrame, replication: int) -> pl.DataFrame:
    """Flows above 1000 MSS are left out."""
    return flows.filter(pl.col("size_bytes") <= LARGEST_WHOLE * MSS_BYTES)


def _experiment(
    kind: str, load: float, disciplines: tuple[str, ...], more: Mapping | None = None, **given
) -> Experiment:
    overrides = {**SETTINGS, "workload.load": round(load * measures.RATE_BPS), **(more or {})}
    given = {"measure": measures.beside_models} | given
    return Experiment(f"{kind}-{load}", overrides, disciplines, REPLICATIONS, **given)


EXPERIMENTS = (
    *(_experiment("queues", load, tuple(NAMES)) for load in LOADS),
    *(
        _experiment(
            "whole-flows",
            load,
            ("fifo", "scfq", "las"),
            WHOLE,
            measure=partial(measures.beside_models, control_packets=2),
            prepare=up_to_window,
        )
        for load in LOADS
    ),
    *(_experiment("two-packets", load, ("fifo", "run2c"), NARROW) for load in LOADS),
    _experiment("endless-buffer", 0.9, ("fifo", "scfq", "las"), ENDLESS),
    _experiment("patient", 0.9, ("las",), PATIENT),
)


def _claim(name: str, source: str, says: str, rows: list[Row], note: str = "", kind: str = "queues") -> Claim:
    settings = {
        "queues": "`wired` without propagation delay, 300 packets, 5000 s, first 100 s left out",
        "whole-flows": "the same, flows up to 1000 MSS and windows as large, no loss, no tear-down, hosts at 10 Gb/s",
        "two-packets": "the same with a receiver's window of 2 packets",
    }[kind]
    return Claim(name, f"Chen 2012, {source}", says, settings, tuple(rows), DIFFERENCES.get(name), note)


def _of(discipline: str, measure: str, load: float, kind: str = "queues") -> Quantity:
    return quantity(f"{kind}-{load}", discipline, measure)


def _over(policy: str, discipline: str, part: str, load: float, kind: str = "queues") -> tuple[str, Quantity]:
    """Name and value of a model over what is simulated."""
    title = {"fifo": "FIFO model", "ps": "PS model", "las": "LAS model", "run2c": "Run2C model"}[policy]
    return f"{title} over {NAMES[discipline]}, {part_text(part)}", _of(discipline, f"{policy}_{part}", load, kind)


def fifo(load: float, figure: str) -> Claim:
    """FIFO between two models."""
    rows = []
    for part in SHORT + MIDDLE:
        rows.append(at_most(*_over("ps", "fifo", part, load), 1))
        rows.append(at_least(*_over("fifo", "fifo", part, load), 1))
    rows += [within(*_over("ps", "fifo", part, load), 1.1) for part in LONG]
    rows.append(at_most(*_over("fifo", "fifo", "longest", load), 1 / 1.25))
    says = (
        "under FIFO short and moderate flows take longer than the PS model says and less than the FIFO model; above "
        "400 packets the PS model fits well and the FIFO model fails, too low"
    )
    return _claim(f"fifo-{load}", f"5.2.2, Fig. {figure}, Eq. 5.1, 5.2", says, rows)


def scfq(load: float, figure: str) -> Claim:
    """SCFQ as processor sharing."""
    rows = []
    for part in SHORT + MIDDLE:
        rows.append(at_most(*_over("ps", "scfq", part, load), 1))
        rows.append(at_least(*_over("ps", "scfq", part, load), 1 / 1.25))
    rows += [within(*_over("ps", "scfq", part, load), 1.1) for part in LONG]
    says = "the PS model agrees well with SCFQ; it only slightly underestimates small and medium flows"
    return _claim(f"scfq-{load}", f"5.2.2, Fig. {figure}, Eq. 5.2", says, rows)


def las(load: float, figure: str) -> Claim:
    """LAS."""
    rows = [
        row
        for part in SHORT
        for row in (
            at_most(*_over("las", "las", part, load), 1),
            at_least(*_over("las", "las", part, load), 1 / 1.25),
        )
    ]
    if load == 0.5:
        rows += [within(*_over("las", "las", part, load), 1.05) for part in MIDDLE + LONG]
        rows.append(at_most("drops over arrivals, LAS", _of("las", "loss", load), 0.001))
        says = "nearly perfect agreement of the LAS model; the model is slightly lower for short flows"
    else:
        rows += [within(*_over("las", "las", part, load), 1.1) for part in MIDDLE]
        rows.append(at_most(*_over("las", "las", "longest", load), 1))
        says = "the LAS model agrees well, slightly lower for short flows; long flows take longer than it says"
    return _claim(f"las-{load}", f"5.2.2, Fig. {figure}, Eq. 5.3, 5.4", says, rows)


def run2c(load: float, figure: str) -> Claim:
    """Run2C up to the threshold."""
    rows = [within(*_over("run2c", "run2c", part, load), 1.1) for part in SHORT]
    rows.append(
        nearer_one(
            f"Run2C model over Run2C, {part_text('short')}",
            _of("run2c", "run2c_short", load),
            _of("run2c", "run2c_smallest", load),
            f"nearer 1 than at {part_text('smallest')}",
        )
    )
    says = "up to the threshold the Run2C model agrees well; model and simulation converge as the size grows"
    return _claim(f"run2c-{load}", f"5.2.2, Fig. {figure}, Eq. 5.5", says, rows)


def run2c_beyond() -> Claim:
    """What the thesis leaves out."""
    rows = [
        within(f"{name}, load {load}", own, 1.1)
        for load in LOADS
        for part in MIDDLE + LONG
        for name, own in (_over("run2c", "run2c", part, load),)
    ]
    says = "the model of Run2C for flows beyond the threshold, which the thesis states and does not evaluate"
    note = "Not a figure of the thesis. Held to the same 10 %."
    return _claim("run2c-beyond", "Eq. 5.6", says, rows, note)


def losses() -> Claim:
    """Who loses at a high load."""
    rows = [at_most(f"drops over arrivals, {NAMES[d]}, load 0.5", _of(d, "loss", 0.5), 0.001) for d in NAMES]
    rows += [
        below(
            f"drops over arrivals, {NAMES[d]}, load 0.5",
            _of(d, "loss", LOADS[0]),
            _of(d, "loss", LOADS[1]),
            "",
            "below load 0.9",
            logarithms=False,
        )
        for d in NAMES
    ]
    rows.append(
        below(
            "LAS, load 0.9, drops of flows up to 20 MSS over their packets",
            _of("las", "lost_short", 0.9),
            _of("las", "lost_long", 0.9),
            "",
            "below those above 400 MSS",
            logarithms=False,
        )
    )
    says = "loss is negligible at load 0.5 and noticeable at 0.9, where under LAS it is that of long flows"
    return _claim("losses", "5.2.2", says, rows)


def set_up() -> Claim:
    """What the models leave out."""
    rows = [
        nearer_one(
            f"{policy.upper()} model with the path over {NAMES[d]}, {part_text('smallest')}, load 0.5",
            _of(d, f"{policy}_path_smallest", 0.5),
            _of(d, f"{policy}_smallest", 0.5),
            "nearer 1 than without",
        )
        for d, policy in (("fifo", "ps"), ("scfq", "ps"), ("las", "las"))
    ]
    says = "times of set-up and tear-down added to the model mitigate the discrepancy for short flows"
    note = "With the path: plus what the flow takes alone beyond the time of its bytes on the link."
    return _claim("set-up", "5.2.2", says, rows, note)


def las_loss() -> Claim:
    """Long flows of LAS."""

    def longest(kind: str) -> Quantity:
        return _of("las", "longest_s", 0.9, kind)

    name = f"LAS, {part_text('longest')}, load 0.9"
    rows = [
        below(f"{name}, nothing lost", longest("endless-buffer"), longest("queues"), "s", "below 300 packets"),
    ]
    says = "loss slows the long flows of LAS down at a high load, to more than the model says"
    note = "The same flows with a buffer of 300 packets and of a million."
    return _claim("las-loss", "5.2.2, Fig. 5.9", says, rows, note)


def las_timeouts() -> Claim:
    """What slows them in ours."""

    def longest(kind: str) -> Quantity:
        return _of("las", "longest_s", 0.9, kind)

    name = f"LAS, {part_text('longest')}, load 0.9"
    rows = [
        below(
            f"{name}, timeouts from 60 s", longest("patient"), longest("endless-buffer"), "s", "below timeouts from 1 s"
        )
    ]
    says = "packets of long flows that wait longer than the timeout are sent again: that slows long flows of LAS down"
    return _claim("las-timeouts", "5.2.2, Fig. 5.9", says, rows, "Not a figure: the control of las-0.9 and las-loss.")


def variability() -> Claim:
    """Scatter of the raw means."""
    rows = [
        below(
            f"{NAMES[d]}, load 0.5",
            _of(d, "scatter", LOADS[0]),
            _of(d, "scatter", LOADS[1]),
            "",
            "below load 0.9",
        )
        for d in ("fifo", "scfq", "las")
    ]
    says = "the response times of long flows vary more at load 0.9 than at 0.5 under FIFO, SCFQ and LAS"
    note = "Standard deviation of the logarithm of raw over median-filtered means by size, above 400 MSS."
    return _claim("variability", "5.2.2, Fig. 5.7 to 5.9", says, rows, note)


def whole_flows() -> Claim:
    """The models where their assumption holds."""
    rows = [
        within(
            f"jobs in the order of {policy.upper()} over {NAMES[discipline]}, {part_text(part)}, load {load}",
            _of(discipline, f"{policy}_jobs_{part}", load, "whole-flows"),
            1.1,
        )
        for load in LOADS
        for discipline, policy in (("fifo", "fifo"), ("scfq", "ps"), ("las", "las"))
        for part in ("short", *MIDDLE, "long")
    ]
    says = "the models take a flow to be at the queue as a whole when it arrives: then they hold, that of FIFO too"
    note = (
        "Not a figure: the control of the others. Beside the job-level simulation of the same flows, from which the "
        "models differ by chance only."
    )
    return _claim("whole-flows", "5.2.1", says, rows, note, "whole-flows")


def two_packets() -> Claim:
    """Packet interleaving."""
    compared = [("fifo", "ps", part) for part in SHORT + MIDDLE + LONG]
    compared += [("run2c", "run2c", part) for part in MIDDLE + LONG]
    rows = [
        within(f"{name}, load {load}", own, 1.25)
        for load in LOADS
        for discipline, policy, part in compared
        for name, own in (_over(policy, discipline, part, load, "two-packets"),)
    ]
    rows += [
        nearer_one(
            f"{_over(policy, discipline, part, load)[0]}, load {load}",
            _over(policy, discipline, part, load, "two-packets")[1],
            _over(policy, discipline, part, load)[1],
            "nearer 1 than with a window of 43",
        )
        for load in LOADS
        for discipline, policy, part in (*(("fifo", "ps", part) for part in SHORT), ("run2c", "run2c", "moderate"))
    ]
    says = (
        "FIFO serves flows in turns of what each has at the queue; the smaller these, the nearer it is to PS, and so "
        "with the low class of Run2C"
    )
    note = "Not a figure: the control of fifo-0.5, fifo-0.9 and run2c-beyond."
    return _claim("two-packets", "5.2.1.1", says, rows, note, "two-packets")


CLAIMS = (
    fifo(0.5, "5.3"),
    scfq(0.5, "5.4"),
    las(0.5, "5.5"),
    run2c(0.5, "5.6"),
    fifo(0.9, "5.7"),
    scfq(0.9, "5.8"),
    las(0.9, "5.9"),
    run2c(0.9, "5.10"),
    run2c_beyond(),
    losses(),
    set_up(),
    las_loss(),
    las_timeouts(),
    variability(),
    whole_flows(),
    two_packets(),
)
"""Claims of 5.2."""
