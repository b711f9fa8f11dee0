"""Runs of Zhao 2004, Table III and chapter IV: mixes of long TCP, CBR and short TCP flows at one link."""

from typing import Any

from mayfly.simulate.run import RunResult
from mayfly_papers.declare.declaration import Experiment, Measures
from mayfly_papers.declare.rows import Quantity, quantity
from mayfly_papers.declare.unknowns import Setting

RED = "red(min_th=15,max_th=45,spacing=wait,mark_max=0.1)"
FLAT = "red(min_th=60,max_th=60,spacing=wait,mark_max=0.1)"
SEEDS = 4
ROUND_TRIP_S = 0.12
"""Propagation delay of chapter IV, both ways."""
TCP_HEADER_BYTES = 40

GUESS: Setting = {
    "wire": 1000,
    "start": 0,
    "timers": "1 s, 0.2 s",
    "recovery": "reno",
    "access": 0,
    "window": 64,
    "min-th": 0.25,
    "min-th-small": 0.25,
    "ltnrf-30": 40,
    "ltnrf-0": 63,
    "ltnrf-5": 4,
    "pause": 10,
    "counted": "wire",
}
"""What was taken until 2026-11: packets of 1000 bytes with their header, and Table VII scaled to every link."""

SETTING: Setting = {
    "wire": 1040,
    "start": 0,
    "timers": "1 s",
    "recovery": "reno",
    "access": 5,
    "window": 64,
    "min-th": 0.25,
    "min-th-small": 0.1,
    "ltnrf-30": 25,
    "ltnrf-0": 47,
    "ltnrf-5": 4,
    "pause": 10,
    "counted": "payload",
}
"""What the page runs: what ``mayfly reproduce calibrate zhao-2004`` chose by the used half of the printed numbers
(docs/papers/zhao-2004-settings.md); `unknowns.py` says what each name means."""

_SINCE_2004, _UNTIL_2004 = {"tcp.min_rto": "200ms"}, {"tcp.min_rto": "1s"}
TIMERS = {
    "1 s, 0.2 s": (_UNTIL_2004, _SINCE_2004),
    "0.2 s": (_SINCE_2004, _SINCE_2004),
    "1 s": (_UNTIL_2004, _UNTIL_2004),
}
"""Minimum timeout of TCP in Table III and in chapter IV: ns-2's default, 0.2 s since autumn 2004, was 1 s before."""


def shares(run: RunResult) -> Measures:
    """Shares, drop and mark rates by class; drop rate of all, per cent; queueing delay, ms and over the round trip.

    Every share is there twice: of bytes on the wire, and of payload (``_payload``), which a packet of a CBR flow is
    as a whole in ns-2. ``of_link`` is over what the link could carry.
    """
    payload = {
        row["group"]: row["sent_bytes"] - (0 if row["group"] == "ltnrf" else TCP_HEADER_BYTES * row["sent"])
        for row in run.classes
    }
    sent, sent_payload = sum(row["sent_bytes"] for row in run.classes), sum(payload.values())
    found: Measures = {"drops": 100 * run.counters["drops"] / run.counters["arrivals"]}
    found["utilisation"] = run.counters["utilisation"]
    found["utilisation_payload"] = found["utilisation"] * sent_payload / sent
    waits = run.counters["queueing_delay"]
    found["delay_ms"], found["deviation_ms"] = 1000 * waits["mean_s"], 1000 * waits["deviation_s"]
    found["delay"] = waits["mean_s"] / ROUND_TRIP_S
    for row in run.classes:
        name = row["group"]
        found[f"{name}_share"] = row["sent_bytes"] / sent
        found[f"{name}_share_payload"] = payload[name] / sent_payload
        found[f"{name}_of_link"] = found[f"{name}_share"] * found["utilisation"]
        found[f"{name}_of_link_payload"] = payload[name] / sent * found["utilisation"]
        found[f"{name}_drops"] = row["drops"] / row["arrivals"]
        found[f"{name}_marks"] = row["marks"] / row["arrivals"]
    if "ltnrf_share" in found:
        for ending in ("", "_payload"):
            tcp, other = (found[f"{name}_share{ending}"] for name in ("ltrf", "ltnrf"))
            found[f"normalised{ending}"] = tcp / (tcp + other)
    return found


def cbr(flows: int, spread_s: float, rate_bps: int = 1_000_000) -> list[dict]:
    """CBR flows from hosts of their own; in step where ``spread_s`` is 0."""
    row = {"rate": rate_bps, "packet": 1000, "flows": flows, "users": flows, "spread": spread_s, "group": "ltnrf"}
    return [row]


def mss(setting: Setting) -> int:
    """Payload of a TCP packet, bytes."""
    return int(setting["wire"]) - TCP_HEADER_BYTES


def table_3(queue: str, spread_s: float, access: str, identity: str, setting: Setting = SETTING) -> Experiment:
    """35 TCP and 22 CBR flows over 28 Mb/s."""
    overrides: dict[str, Any] = {
        "workload.cbr": cbr(22, spread_s),
        "network.access_delay": access,
        "network.exit_delay": access,
        "tcp.mss": mss(setting),
        "tcp.recovery": setting["recovery"],
        "tcp.receiver_window": setting["window"],
        **TIMERS[str(setting["timers"])][0],
    }
    overrides["network.buffer_counts_transmission"] = queue == "dt"
    discipline = {"dt": "fifo", "red": RED, "flat": FLAT}[queue]
    return Experiment(identity, overrides, (discipline,), SEEDS, shares, scenario="red-ns2")


BUFFERS = {
    5: {"1/3": 25, "1": 75, "3": 225},
    35: {"1/3": 200, "1": 500, "3": 1500},
    100: {"1/3": 500, "1": 1500, "3": 4500},
}
"""Table VI, packets, by link in Mb/s and multiple of the bandwidth-delay product."""


def discipline_of(queue: str, buffer: int, min_th: float) -> str:
    """The queue management of chapter IV; thresholds 1 to 3 as printed, the lower at ``min_th`` of the buffer."""
    thresholds = f"min_th={buffer * min_th:.4g},max_th={3 * buffer * min_th:.4g},spacing=wait,mark_max=0.1"
    return {"dt": "fifo", "red": f"red({thresholds})", "ecn": f"red({thresholds},ecn=on)"}[queue]


def ltnrf(mbps: int, mice: int, setting: Setting) -> int:
    """Number of CBR flows: that of Table VII at 35 Mb/s, where it is printed, and what the setting has elsewhere."""
    if mice == 1300:
        return int({5: setting["ltnrf-5"], 35: 14, 100: setting["ltnrf-30"]}[mbps])
    return int({5: 6, 35: 22, 100: setting["ltnrf-0"]}[mbps])


def chapter_4(
    queue: str,
    mbps: int,
    mice: int,
    phase: str,
    multiple: str = "1",
    on_off: bool = False,
    setting: Setting = SETTING,
    spread_s: float | None = None,
) -> Experiment:
    """Table VII scaled to the link; LTNRF of 1 Mb/s, of 0.5 Mb/s at 5 Mb/s, on and off for 20 s each in Figure 28.

    ``spread_s``: within which LTNRF begin, in place of what ``phase`` says.
    """
    scale, buffer, rate_bps = mbps / 35, BUFFERS[mbps][multiple], 500_000 if mbps == 5 else 1_000_000
    flows, sources = round(55 * scale), round(mice * scale)
    min_th = float(setting["min-th-small" if multiple == "1/3" else "min-th"])
    spread_s = PHASES[phase] if spread_s is None else spread_s
    overrides: dict[str, Any] = {
        "network.rate": mbps * 1_000_000,
        "network.access_delay": "5ms",
        "network.exit_delay": "5ms",
        "network.buffer": buffer,
        "network.buffer_counts_transmission": queue == "dt",
        "tcp.mss": mss(setting),
        "tcp.recovery": "sack",
        "tcp.receiver_window": setting["window"],
        **TIMERS[str(setting["timers"])][1],
        "tcp.ecn": queue == "ecn",
        "workload.permanent": [{"flows": flows, "spread": "2s", "users": flows, "group": "ltrf"}],
        "workload.cbr": cbr(ltnrf(mbps, mice, setting), spread_s, rate_bps),
    }
    if on_off:
        overrides["workload.on_off"] = [row | {"on": "20s", "off": "20s"} for row in overrides["workload.cbr"]]
        overrides["workload.cbr"] = []
    if mice:
        users = min(50, sources)
        row = {
            "sources": sources,
            "size": 10,
            "period": f"{setting['pause']}s",
            "spread": "10s",
            "users": users,
            "group": "stf",
        }
        overrides["workload.short_term"] = [row]
    identity = name_of(queue, mbps, mice, phase, multiple, on_off)
    return Experiment(identity, overrides, (discipline_of(queue, buffer, min_th),), SEEDS, shares, scenario="red-ns2")


GROUPS = ("ltrf", "ltnrf", "stf")
QUEUES = ("red", "ecn", "dt")
TABLE_3_QUEUES = ("dt", "red", "flat")
NAMES = {"red": "RED", "ecn": "RED-ECN", "dt": "DropTail", "flat": "RED (60/60)"}
PHASES = {"in-step": 0.0, "staggered": 2.0}
PHASE = "in-step"
"""That of Tables VIII and figure 29, which are declared once."""
ACCESS = {"": f"{SETTING['access']}ms", "-1ms": "1ms"}
"""Delay of each access link in Table III by the ending of an id: the page's, and the second likeliest."""
LINKS = (5, 35, 100)
"""Mb/s."""
MULTIPLES = ("1/3", "1", "3")
"""Of the bandwidth-delay product."""
LOADS = {0: "0 %", 250: "5 %", 1300: "30 %"}
"""Load of short-term flows by their number at 35 Mb/s."""


def name_of(queue: str, mbps: int, mice: int, phase: str, multiple: str = "1", on_off: bool = False) -> str:
    """Id of a run of chapter IV."""
    ending = {"1": "", "1/3": "-third", "3": "-triple"}[multiple]
    return f"{queue}-{mbps}-{mice}-{phase}{ending}" + ("-on-off" if on_off else "")


def _chapter_4() -> list[Experiment]:
    """Each queue at every load with a buffer of 1, with every buffer at 30 %, and there on and off too."""
    cells = [(mbps, mice, phase, "1", False) for mbps in LINKS for mice in LOADS for phase in PHASES]
    cells += [(mbps, 1300, phase, multiple, False) for mbps in LINKS for phase in PHASES for multiple in ("1/3", "3")]
    cells += [(mbps, 1300, "staggered", multiple, True) for mbps in LINKS for multiple in MULTIPLES]
    return [chapter_4(queue, *cell) for cell in cells for queue in QUEUES]


TABLE_3 = tuple(
    table_3(queue, spread_s, access, f"table-3-{queue}-{phase}{suffix}")
    for queue in TABLE_3_QUEUES
    for phase, spread_s in PHASES.items()
    for suffix, access in ACCESS.items()
)
CHAPTER_4 = tuple(_chapter_4())
EXPERIMENTS = TABLE_3 + CHAPTER_4
_LABEL = {experiment.id: experiment.disciplines[0] for experiment in EXPERIMENTS}


def counted(setting: Setting) -> dict[str, str]:
    """Measures of payload in place of those of bytes on the wire, where the setting counts so."""
    if setting["counted"] == "wire":
        return {}
    shared = ("utilisation", "normalised", *(f"{name}_{of}" for name in GROUPS for of in ("share", "of_link")))
    return {name: f"{name}_payload" for name in shared}


_COUNTED = counted(SETTING)


def of(experiment: str, measure: str) -> Quantity:
    """A measure of an experiment, counted as the setting of the page has it.

    Parameters
    ----------
    experiment : str
        Id, as `name_of` makes them in chapter IV.
    measure : str
        Of `shares`.

    Returns
    -------
    callable
        Runs to values.
    """
    return quantity(experiment, _LABEL[experiment], _COUNTED.get(measure, measure))
